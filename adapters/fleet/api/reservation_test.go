package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
)

func moment(t *testing.T, text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

// What repeats is on at the same time of the clock, whatever the zone does to it.
func TestReservationsRepeat(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		repeat         api.Repeat
		zone           string
		at             string
		want           []string // from and to of the next ones, in turn
	}{
		{"once, before", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", "", "", "2026-01-01T00:00:00Z", []string{"2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z"}},
		{"once, at its end", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", "", "", "2026-03-01T12:00:00Z", nil},
		{
			"daily in UTC: the one that is on, and the next", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", api.RepeatDaily, "", "2026-03-05T11:59:59Z",
			[]string{"2026-03-05T10:00:00Z", "2026-03-05T12:00:00Z", "2026-03-06T10:00:00Z", "2026-03-06T12:00:00Z"},
		},
		{"daily, before the first", "2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z", api.RepeatDaily, "", "2020-01-01T00:00:00Z", []string{"2026-03-01T10:00:00Z", "2026-03-01T12:00:00Z"}},
		{
			"ten o'clock in Zurich stays ten o'clock in summer", "2026-03-27T10:00:00+01:00", "2026-03-27T12:00:00+01:00", api.RepeatDaily, "Europe/Zurich", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T08:00:00Z", "2026-03-29T10:00:00Z"},
		},
		{
			"weekly across the end of summer", "2026-10-18T10:00:00+02:00", "2026-10-18T11:00:00+02:00", api.RepeatWeekly, "Europe/Zurich", "2026-10-19T00:00:00Z",
			[]string{"2026-10-25T09:00:00Z", "2026-10-25T10:00:00Z", "2026-11-01T09:00:00Z", "2026-11-01T10:00:00Z"},
		},
		{
			"a whole day ends when the next begins, if that day has 23 hours", "2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00", api.RepeatDaily, "Europe/Zurich", "2026-03-29T00:00:00Z",
			[]string{"2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := api.Reservation{From: moment(t, test.from), To: moment(t, test.to), Repeat: test.repeat, Zone: test.zone}
			at := moment(t, test.at)
			if test.want == nil {
				_, ok := r.Next(at)
				require.False(t, ok)
				return
			}
			for len(test.want) > 0 {
				i, ok := r.Next(at)
				require.True(t, ok)
				require.Equal(t, test.want[:2], []string{i.From.UTC().Format(time.RFC3339), i.To.UTC().Format(time.RFC3339)})
				at, test.want = i.To, test.want[2:]
			}
		})
	}
}

// For ten years of days and hours, Next is the first interval that is not over.
func TestNextReservationIsTheFirst(t *testing.T) {
	for _, zone := range []string{"", "Europe/Zurich", "America/New_York", "Australia/Lord_Howe"} {
		r := api.Reservation{From: moment(t, "2025-12-31T01:30:00Z"), To: moment(t, "2025-12-31T04:00:00Z"), Repeat: api.RepeatDaily, Zone: zone}
		last := api.Interval{}
		for at := r.From.Add(-48 * time.Hour); at.Year() < 2030; at = at.Add(17 * time.Hour) {
			i, ok := r.Next(at)
			require.True(t, ok)
			require.True(t, at.Before(i.To), "%s in %q: %v is over", at, zone, i)
			if !last.To.IsZero() && i != last {
				require.False(t, at.Before(last.To), "%s in %q: %v was left out", at, zone, last)
				require.Equal(t, i, r.Between(last.To, i.To)[0], "%s in %q: one was left out", at, zone)
			}
			last = i
		}
	}
	r := api.Reservation{From: moment(t, "2026-01-01T00:00:00Z"), To: moment(t, "2026-01-01T01:00:00Z"), Repeat: api.RepeatWeekly}
	require.Len(t, r.Between(r.From, r.From.Add(28*24*time.Hour)), 4)
	require.Len(t, r.Between(r.To, r.From.Add(28*24*time.Hour)), 3)
}
