package meter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proc writes a proc file system with the files.
func proc(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestReadCPU(t *testing.T) {
	t.Parallel()
	const stat = `cpu  999 999 999 999 999 999 999 999 999 999
cpu0 100 10 20 800 50 5 5 10 40 4
cpu1 200 0 0 700 0 0 0 0 0 0
cpu2 1 1 1 1 1
intr 1 2 3
`
	for _, c := range []struct {
		text       string
		processors []int
		want       CPU
		problem    string
	}{
		{stat, []int{0}, CPU{Busy: 150, Total: 1000, Processors: 1}, ""}, // guests are in user already
		{stat, []int{0, 1}, CPU{Busy: 350, Total: 1900, Processors: 2}, ""},
		{stat, []int{1, 7}, CPU{Busy: 200, Total: 900, Processors: 1}, ""},
		{stat, []int{2}, CPU{Busy: 3, Total: 5, Processors: 1}, ""}, // an old kernel
		{stat + "cpu1 9 9 9 9 9\n", []int{1}, CPU{Busy: 200, Total: 900, Processors: 1}, ""},
		{stat, []int{7}, CPU{}, "has none of the processors [7]"},
		{"", []int{0}, CPU{}, "has none of the processors"},
		{"cpu0 1 2 3\n", []int{0}, CPU{}, "cpu0: these are not the times of a processor"},
		{"cpu0 1 2 x 4 5\n", []int{0}, CPU{}, "cpu0: these are not the times of a processor"},
		{"cpu0 1 2 -3 4 5\n", []int{0}, CPU{}, "cpu0: these are not the times of a processor"},
		{"cpu0 18446744073709551615 2 3 4 5\n", []int{0}, CPU{}, "cpu0: these are not the times of a processor"},
	} {
		got, err := ReadCPU(proc(t, map[string]string{"stat": c.text}), c.processors)
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, c.want, got)
	}
	_, err := ReadCPU(t.TempDir(), []int{0})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSince(t *testing.T) {
	t.Parallel()
	at := func(busy, total uint64) CPU { return CPU{Busy: busy, Total: total, Processors: 4} }
	for _, c := range []struct {
		now, before CPU
		want        float64
		ok          bool
	}{
		{at(150, 1000), at(50, 600), 1, true},
		{at(50, 1000), at(50, 600), 0, true},
		{at(450, 1000), at(50, 600), 4, true},
		{at(451, 1000), at(50, 600), 4, true}, // idle time went back
		{at(50, 600), at(50, 600), 0, false},
		{at(50, 500), at(50, 600), 0, false},
		{at(49, 700), at(50, 600), 0, false},
		{CPU{Busy: 150, Total: 1000, Processors: 3}, at(50, 600), 0, false},
	} {
		got, ok := c.now.Since(c.before)
		require.Equal(t, c.ok, ok, "%+v", c)
		require.InDelta(t, c.want, got, 1e-12, "%+v", c)
	}
}

func TestReadMemory(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"MemTotal:  1000 kB\nMemFree:  1 kB\nMemAvailable:  400 kB\n": 600 * 1024,
		"MemTotal:  1000 kB\nMemAvailable:  1001 kB\n":                0,
		"MemTotal:  1000 kB\n":                                        -1, // older than Linux 3.14
		"MemTotal:  1000 kB\nMemAvailable: -4 kB\n":                   -1,
		"MemTotal:  1000 MB\nMemAvailable: 4 kB\n":                    -1,
		"": -1,
	} {
		got, err := ReadMemory(proc(t, map[string]string{"meminfo": text}))
		if want < 0 {
			require.ErrorContains(t, err, "it does not say", text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	_, err := ReadMemory(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The twin keeps all there ever was, and does what the comments say in the plainest way.
type twin struct{ all []sample }

func (w *twin) over(every, window time.Duration) (Stats, bool) {
	if len(w.all) == 0 {
		return Stats{}, false
	}
	last := w.all[len(w.all)-1].at
	var in []float64
	for _, s := range w.all {
		if s.at.After(last.Add(-window)) {
			in = append(in, s.value)
		}
	}
	if float64(len(in)) < 0.9*float64(window/every) || window < every {
		return Stats{}, false
	}
	mean := 0.0
	for _, v := range in {
		mean += v / float64(len(in))
	}
	variance := 0.0
	for _, v := range in {
		variance += (v - mean) * (v - mean) / float64(len(in))
	}
	// The least of them that so many do not exceed.
	least := func(percent float64) float64 {
		best := math.Inf(1)
		for _, v := range in {
			count := 0
			for _, o := range in {
				if o <= v {
					count++
				}
			}
			if float64(count)*100 >= percent*float64(len(in)) {
				best = min(best, v)
			}
		}
		return best
	}
	return Stats{mean, math.Sqrt(variance), least(50), least(90), least(95), least(99)}, true
}

// In random histories, with pauses, measurements that come too early, and values that are no
// numbers, a series says what its twin says, and keeps no more than it needs.
func TestSeriesLikeTwin(t *testing.T) {
	t.Parallel()
	windows := []time.Duration{time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute}
	covered := map[bool]int{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		const every = 5 * time.Second
		s, w := &Series{Every: every, Keep: 15 * time.Minute}, &twin{}
		now := time.Unix(1e9, 0)
		for step := range 400 {
			switch r.IntN(60) {
			case 0:
				now = now.Add(time.Duration(r.Int64N(int64(10 * time.Minute)))) // it was suspended
			case 1:
				now = now.Add(time.Second) // too early
			default:
				now = now.Add(every)
			}
			v := r.Float64() * 100
			switch r.IntN(20) {
			case 0:
				v = math.Trunc(v / 25) // equal ones
			case 1:
				v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1}[r.IntN(4)]
			}
			s.Add(now, v)
			if v >= 0 && !math.IsInf(v, 0) {
				w.all = append(w.all, sample{now, v})
			}
			if step%9 != 0 {
				continue
			}
			require.LessOrEqual(t, len(s.samples), 2*15*12+1)
			for _, window := range windows {
				got, ok := s.Over(window)
				want, should := w.over(every, window)
				what := fmt.Sprintf("seed %d, step %d, window %v", seed, step, window)
				require.Equal(t, should, ok, what)
				covered[ok]++
				require.InDelta(t, want.Average, got.Average, 1e-9, what)
				require.InDelta(t, want.StdDev, got.StdDev, 1e-9, what)
				want.Average, want.StdDev, got.Average, got.StdDev = 0, 0, 0, 0
				require.Equal(t, want, got, what)
			}
		}
	}
	require.Greater(t, covered[true], 500)
	require.Greater(t, covered[false], 500)
}

// A clock that was set back, and measurements that come much too fast, do no harm.
func TestSeriesOddTimes(t *testing.T) {
	t.Parallel()
	s := &Series{Every: 5 * time.Second, Keep: time.Minute}
	now := time.Unix(1e9, 0)
	for i := range 12 {
		s.Add(now.Add(time.Duration(i)*5*time.Second), 50)
	}
	_, ok := s.Over(time.Minute)
	require.True(t, ok)
	s.Add(now.Add(-time.Hour), 10)
	require.Len(t, s.samples, 1)
	require.Equal(t, now.Add(-time.Hour), s.Last())
	_, ok = s.Over(time.Minute)
	require.False(t, ok)
	for i := range 10_000 {
		s.Add(now.Add(time.Duration(i)), 20)
	}
	require.LessOrEqual(t, len(s.samples), 2*12+1)
}
