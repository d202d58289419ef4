package replica

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	for _, commands := range [][][]byte{
		nil, {{}}, {[]byte("a"), {}, bytes.Repeat([]byte{7}, MaxCommand)}, make([][]byte, maxEntryCommands),
	} {
		got, err := decodeEntry(encodeEntry(1, commands), 1)
		require.NoError(t, err)
		require.Len(t, got, len(commands))
		for i := range got {
			require.True(t, bytes.Equal(commands[i], got[i]))
		}
	}
}

func TestEntriesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for want, entry := range map[string][]byte{
		"empty":                    {},
		"version 0":                {0},
		"version 2":                {2},
		"command 0":                {1, 5, 'a'},
		"command 1":                {1, 1, 'a', 0x80},
		"more than 1024":           append([]byte{1}, make([]byte, maxEntryCommands+1)...),
		"command 0 has a wrong":    append(binary.AppendUvarint([]byte{1}, MaxCommand+1), make([]byte, MaxCommand+1)...),
		"log entry: command 0 has": {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	} {
		_, err := decodeEntry(entry, 1)
		require.ErrorContains(t, err, want)
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(encodeEntry(1, [][]byte{[]byte("a"), nil, []byte("bcd")}))
	f.Add([]byte{2, 1})
	f.Fuzz(func(t *testing.T, entry []byte) {
		commands, err := decodeEntry(entry, 1)
		if err != nil {
			return
		}
		again, err := decodeEntry(encodeEntry(1, commands), 1)
		require.NoError(t, err)
		require.Equal(t, commands, again)
	})
}

// makeBackup is a backup of a picture.
func makeBackup(picture []byte) []byte {
	var b bytes.Buffer
	head := backupHeader{Magic: backupMagic, Index: 7, Term: 2, Size: uint64(len(picture))}
	_ = binary.Write(&b, binary.BigEndian, head) // a buffer takes everything
	b.Write(picture)
	sum := sha256.Sum256(b.Bytes())
	return append(b.Bytes(), sum[:]...)
}
