package job

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestParseMilliCPU(t *testing.T) {
	for _, c := range []struct {
		text string
		want MilliCPU
		err  string // part of the error, "" where there is none
	}{
		{text: "2", want: 2000},
		{text: "0.5", want: 500},
		{text: "500m", want: 500},
		{text: "1.25", want: 1250},
		{text: "0", want: 0},
		{text: "9223372036854775.807", want: math.MaxInt64},
		{text: "9223372036854775.808", err: "larger than"},
		{text: "0.0005", err: "no whole number"},
		{text: "0.5m", err: "no whole number"},
		{text: "-1", err: `write cores, "2" or "0.5", or thousandths, "500m"`},
		{text: "", err: "does not begin with a number"},
		{text: "m", err: "does not begin with a number"},
		{text: ".5", err: "does not begin with a number"},
		{text: "5.", err: "does not begin with a number"},
		{text: "1.2.3", err: "does not begin with a number"},
		{text: "1e3", err: "is no amount of CPU"},
		{text: " 1", err: "is no amount of CPU"},
		{text: strings.Repeat("1", 1000), err: "longer than 64 characters"},
	} {
		got, err := ParseMilliCPU(c.text)
		checkParsed(t, c.text, got, c.want, err, c.err)
	}
}

func TestParseBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		want Bytes
		err  string
	}{
		{text: "0", want: 0},
		{text: "1048576", want: 1 << 20},
		{text: "512Mi", want: 512 << 20},
		{text: "4Gi", want: 4 << 30},
		{text: "4GiB", want: 4 << 30},
		{text: "4gib", want: 4 << 30},
		{text: "4G", want: 4e9},
		{text: "4GB", want: 4e9},
		{text: "4g", want: 4e9},
		{text: "1.5G", want: 15e8},
		{text: "1.5Ki", want: 1536},
		{text: "100B", want: 100},
		{text: "7Ei", want: 7 << 60},
		{text: "8Ei", err: "larger than"},
		{text: "9223372036854775807", want: math.MaxInt64},
		{text: "9223372036854775808", err: "larger than"},
		{text: "0.1Ki", err: "no whole number"},
		{text: "-1", err: `"4G" is 4000000000 bytes, "4Gi" is 4294967296`},
		{text: "4 G", err: "is no amount of bytes"},
		{text: "4Gb/s", err: "is no amount of bytes"},
		{text: "8Gb", err: "is no amount of bytes: write a number and its unit"},
		{text: "8Gib", err: "the units: B, K, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei"},
		{text: "8gb", want: 8e9},
		{text: "4i", err: "is no amount of bytes"},
		{text: "4BB", err: "is no amount of bytes"},
		{text: "G", err: "does not begin with a number"},
		{text: "", err: "does not begin with a number"},
	} {
		got, err := ParseBytes(c.text)
		checkParsed(t, c.text, got, c.want, err, c.err)
	}
}

func TestParseDuration(t *testing.T) {
	for _, c := range []struct {
		text string
		want time.Duration
		err  string
	}{
		{text: "0", want: 0},
		{text: "0s", want: 0},
		{text: "90s", want: 90 * time.Second},
		{text: "1h30m", want: 90 * time.Minute},
		{text: "1.5h", want: 90 * time.Minute},
		{text: "2d", want: 48 * time.Hour},
		{text: "1d12h", want: 36 * time.Hour},
		{text: "250ms", want: 250 * time.Millisecond},
		{text: "1s500ms", want: 1500 * time.Millisecond},
		{text: "30:00", want: 30 * time.Minute},
		{text: "90:30", want: 90*time.Minute + 30*time.Second},
		{text: "01:30:00", want: 90 * time.Minute},
		{text: "48:00:00", want: 48 * time.Hour},
		{text: "1-12", want: 36 * time.Hour},
		{text: "1-12:30", want: 36*time.Hour + 30*time.Minute},
		{text: "1-12:30:15", want: 36*time.Hour + 30*time.Minute + 15*time.Second},
		{text: "0-0", want: 0},
		{text: "10", err: `"10m" would be minutes and "10s" seconds`},
		{text: "1h30", err: `"30m" would be minutes`},
		{text: "1m1h", err: `"h" is no unit, or not smaller`},
		{text: "1m1m", err: `"m" is no unit, or not smaller`},
		{text: "5y", err: `"y" is no unit`},
		{text: "", err: "is no duration"},
		{text: "-5s", err: "is no duration"},
		{text: "1:60", err: "60 in it is more than 59"},
		{text: "1-24", err: "24 in it is more than 23"},
		{text: "1:2:3:4", err: "more than hours, minutes and seconds"},
		{text: "1-2:3:4:5", err: "more than hours, minutes and seconds"},
		{text: "1-", err: `"" in it is no number`},
		{text: ":30", err: `"" in it is no number`},
		{text: "1:-3", err: "is no duration"},
		{text: "1-2-3", err: "is no duration"},
		{text: "106751d", want: 106751 * day},
		{text: "106752d", err: "larger than"},
		{text: "106751d23h59m", err: "too long"},
		{text: "106751-23:59", err: "too long"},
		{text: "999999999999-0", err: "more than 106751"},
	} {
		got, err := ParseDuration(c.text)
		checkParsed(t, c.text, got, Duration(c.want), err, c.err)
	}
}

// checkParsed compares what a parser gave for a text with what it should.
func checkParsed[T any](t *testing.T, text string, got, want T, err error, wantErr string) {
	t.Helper()
	if wantErr != "" {
		assert.ErrorContains(t, err, wantErr, text)
		return
	}
	if assert.NoError(t, err, text) {
		assert.Equal(t, want, got, text)
	}
}

func TestAmountsAsText(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{MilliCPU(2000).String(), "2"},
		{MilliCPU(1500).String(), "1.5"},
		{MilliCPU(5).String(), "0.005"},
		{MilliCPU(-500).String(), "-0.5"},
		{Bytes(0).String(), "0"},
		{Bytes(4 << 30).String(), "4Gi"},
		{Bytes(4e9).String(), "4G"},
		{Bytes(15e8).String(), "1500M"},
		{Bytes(1536).String(), "1536"},
		{Bytes(1023 << 20).String(), "1023Mi"},
		{Bytes(-1024).String(), "-1Ki"},
		{Duration(0).String(), "0s"},
		{Duration(90 * time.Second).String(), "1m30s"},
		{Duration(36 * time.Hour).String(), "1d12h"},
		{Duration(250 * time.Millisecond).String(), "0.25s"},
		{Duration(time.Minute + 1).String(), "1m0.000000001s"},
	} {
		assert.Equal(t, c.want, c.got)
	}
}

func TestAmountsInJSON(t *testing.T) {
	var r struct {
		CPU    MilliCPU
		Memory Bytes
		Time   Duration
	}
	require.NoError(t, json.Unmarshal([]byte(`{"CPU":"500m","Memory":"4Gi","Time":"1h"}`), &r))
	data, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, `{"CPU":"0.5","Memory":"4Gi","Time":"1h"}`, string(data))

	require.NoError(t, json.Unmarshal([]byte(`{"CPU":0.25,"Memory":1000,"Time":1.5}`), &r), "numbers: cores, bytes, seconds")
	data, err = json.Marshal(r)
	require.NoError(t, err)
	assert.Equal(t, `{"CPU":"0.25","Memory":"1K","Time":"1.5s"}`, string(data))

	require.NoError(t, json.Unmarshal([]byte(`{"CPU":null}`), &r))
	assert.Equal(t, MilliCPU(250), r.CPU, "null changes nothing")

	for _, bad := range []string{`{"CPU":-1}`, `{"Memory":true}`, `{"Time":[]}`, `{"Memory":1e3}`, `{"Time":"10"}`, `{"Time":-1}`} {
		assert.Error(t, json.Unmarshal([]byte(bad), &r), bad)
	}
	for _, negative := range []any{MilliCPU(-1), Bytes(-1), Duration(-1)} {
		_, err := json.Marshal(negative)
		assert.ErrorContains(t, err, "negative")
	}
}

// Every amount that is not negative survives being written and read.
func TestAmountsComeBack(t *testing.T) {
	seed := modeltest.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		n := random.Int64() >> random.IntN(63)
		if random.IntN(2) == 0 {
			unit := byteUnits[random.IntN(len(byteUnits))].size
			n -= n % unit
		}
		c, err := ParseMilliCPU(MilliCPU(n).String())
		require.NoError(t, err)
		require.Equal(t, MilliCPU(n), c)
		b, err := ParseBytes(Bytes(n).String())
		require.NoError(t, err)
		require.Equal(t, Bytes(n), b)
		d, err := ParseDuration(Duration(n).String())
		require.NoError(t, err)
		require.Equal(t, Duration(n), d)
	}
}

func FuzzAmounts(f *testing.F) {
	for _, s := range []string{"2", "0.5", "500m", "4Gi", "1.5G", "1h30m", "1-12:30:15", "90:00", "0", "-1", "9e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := ParseMilliCPU(s); err == nil {
			back, err := ParseMilliCPU(c.String())
			require.NoError(t, err)
			require.Equal(t, c, back)
			require.GreaterOrEqual(t, c, MilliCPU(0))
		}
		if b, err := ParseBytes(s); err == nil {
			back, err := ParseBytes(b.String())
			require.NoError(t, err)
			require.Equal(t, b, back)
			require.GreaterOrEqual(t, b, Bytes(0))
		}
		if d, err := ParseDuration(s); err == nil {
			back, err := ParseDuration(d.String())
			require.NoError(t, err)
			require.Equal(t, d, back)
			require.GreaterOrEqual(t, d, Duration(0))
		}
	})
}
