package forecast

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

const hour = time.Hour

// note notes that workloads of the kind ran for these percents of their limits.
func note(h *History, k Kind, percents ...int) {
	for _, p := range percents {
		h.Note(k, hour*time.Duration(p)/100, hour)
	}
}

// drawn are the draws of many dice, each once, for a limit of an hour, in percent of it.
func drawn(h *History, k Kind, ran time.Duration) map[int]bool {
	list := map[int]bool{}
	for dice := range uint64(1000) {
		list[int(h.Draw(k, ran, hour, dice)*100/hour)] = true
	}
	return list
}

func TestDrawsAreOfSimilarWorkloads(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	ann, bob := Kind{"q", "ann"}, Kind{"q", "bob"}
	require.Equal(t, map[int]bool{100: true}, drawn(h, ann, 0), "nothing is known: the limit")
	note(h, ann, 10, 11, 12, 13, 14, 15, 16)
	note(h, bob, 50)
	require.Equal(t, map[int]bool{10: true, 11: true, 12: true, 13: true, 14: true, 15: true, 16: true, 50: true}, drawn(h, ann, 0),
		"seven are too few, eight in the queue are not")
	note(h, ann, 17)
	require.NotContains(t, drawn(h, ann, 0), 50)
	require.Contains(t, drawn(h, bob, 0), 17)
	require.Contains(t, drawn(h, Kind{"other", "cid"}, 0), 17, "of all where nobody is known")
	require.Equal(t, map[int]bool{16: true, 17: true}, drawn(h, ann, hour*15/100), "those that ran longer")
	require.Equal(t, map[int]bool{50: true}, drawn(h, ann, hour*17/100), "of the queue where no such one of hers did")
	require.Equal(t, map[int]bool{100: true}, drawn(h, ann, hour*50/100))
}

func TestRunTimesAreWithinLimits(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	k := Kind{}
	h.Note(k, 2*hour, hour)
	require.Equal(t, map[int]bool{100: true}, drawn(h, k, 0))
	const longest = time.Duration(1<<63 - 1)
	require.Equal(t, longest, h.Draw(k, 0, longest, 0), "nothing overflows")
	h = NewHistory()
	h.Note(k, -hour, hour)
	require.Equal(t, hour, h.Draw(k, 0, hour, 0), "what has run for no time says nothing")
}

// What is remembered is bounded, the oldest goes, and a state that was written down draws the same.
func TestHistoriesAreBounded(t *testing.T) {
	t.Parallel()
	seed := modeltest.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	h := NewHistory()
	kind := func() Kind { return Kind{fmt.Sprint(rng.IntN(20)), fmt.Sprint(rng.IntN(200))} }
	for range 4000 {
		h.Note(kind(), time.Duration(rng.Int64N(int64(hour))), hour)
		require.LessOrEqual(t, len(h.of), classes)
	}
	before, was := h.Clone(), h.State()
	note(h, kind(), 50)
	require.Equal(t, was, before.State(), "a copy stays as it is")
	for _, e := range h.of {
		require.LessOrEqual(t, len(e.ratios), kept)
	}
	require.Len(t, h.of[Kind{}.at(all)].ratios, kept)
	text, err := json.Marshal(h.State())
	require.NoError(t, err)
	var s State
	require.NoError(t, json.Unmarshal(text, &s))
	again := NewHistory()
	again.Resume(&s)
	require.Equal(t, h, again)
	for range 1000 {
		k, ran, dice := kind(), time.Duration(rng.Int64N(int64(hour))), rng.Uint64()
		d := h.Draw(k, ran, hour, dice)
		require.Equal(t, d, again.Draw(k, ran, hour, dice))
		require.True(t, d > ran && d <= hour, "%v after %v", d, ran)
		h.Note(k, ran, hour)
		again.Note(k, ran, hour)
	}
	require.Equal(t, h, again)
}

func TestChecksCountTheFirstForecast(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	c := NewChecks()
	c.Expect([]string{"a", "b"}, at(10), at(20))
	c.Expect([]string{"b", "c"}, at(100), at(200)) // b has one
	c.Expect([]string{"d"}, at(10), at(20))
	c.Started("c", at(5))
	require.Zero(t, c.Calibration)
	c.Gone("a")
	c.Started("b", at(15))
	require.Equal(t, Calibration{Starts: 1, ByP90: 1}, c.Calibration)
	c.Started("b", at(15))
	c.Gone("d")
	require.Equal(t, Calibration{Starts: 1, ByP90: 1}, c.Calibration)
	require.Zero(t, c.forecasts)
	for i := range 2 * remembered {
		c.Expect([]string{fmt.Sprint(i)}, at(10), at(20))
	}
	require.Len(t, c.of, remembered)
	require.Equal(t, remembered, c.forecasts)
}
