package pki

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A serial number is read in whatever way tools print it.
func TestSerial(t *testing.T) {
	c, err := newFleet(t).Issue(grant(User, "eve"))
	require.NoError(t, err)
	serial := Serial(c.Cert)
	for text, want := range map[string]string{
		serial: serial, "0" + serial: serial, "AB:cd:0F": "abcd0f", "00:01": "1",
	} {
		got, err := ParseSerial(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got)
	}
	for _, bad := range []string{"", "0", "-1", "+1", "x", "0x1", "1_0", "user/eve", "1 "} {
		_, err := ParseSerial(bad)
		require.Error(t, err, bad)
	}
	require.WithinDuration(t, time.Now(), Made(c.Cert), time.Minute)
}

func FuzzParseSerial(f *testing.F) {
	f.Add("00:AB")
	f.Add("-1")
	f.Fuzz(func(t *testing.T, text string) {
		serial, err := ParseSerial(text)
		if err != nil {
			return
		}
		again, err := ParseSerial(serial)
		require.NoError(t, err)
		require.Equal(t, serial, again)
	})
}
