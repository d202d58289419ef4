package flags

import (
	"fmt"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

func setBegin(r *reading, value string) (err error) {
	r.spec.Begin, err = Moment(value, r.Now)
	return err
}

func setDeadline(r *reading, value string) (err error) {
	r.spec.Deadline, err = Moment(value, r.Now)
	return err
}

// layouts of times that have a date.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}

// Moment reads a time: with a date, with or without a zone; "16:00" or "16:00:30"
// for the next time that a clock shows it; "now", "today", "tomorrow", "midnight",
// "noon"; "2h" or "now+2h" for two hours from now, and Slurm's "now+2hours" and
// "now+60" (seconds). A number alone is none: it may be minutes, seconds or an hour.
func Moment(value string, now time.Time) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, value, now.Location()); err == nil {
			return t, nil
		}
	}
	if after, ok := strings.CutPrefix(value, "now+"); ok {
		d, err := job.ParseDuration(plainUnits(after))
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(time.Duration(d)), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, value); err == nil {
			return nextClock(now, t.Hour(), t.Minute(), t.Second()), nil
		}
	}
	switch value {
	case "now", "today":
		return now, nil
	case "tomorrow":
		return time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, now.Location()), nil
	case "midnight":
		return nextClock(now, 0, 0, 0), nil
	case "noon":
		return nextClock(now, 12, 0, 0), nil
	}
	if d, ok := units(value); ok {
		return now.Add(d), nil
	}
	return time.Time{}, fmt.Errorf(`%q is no time, %s, or "2h" for two hours from now`, value, timeHint)
}

// PastMoment reads a time as Moment does, but "2h" is two hours ago.
func PastMoment(value string, now time.Time) (time.Time, error) {
	if d, ok := units(value); ok {
		return now.Add(-d), nil
	}
	t, err := Moment(value, now)
	if err != nil {
		return t, fmt.Errorf(`%q is no time, %s, or "2h" for two hours ago`, value, timeHint)
	}
	return t, nil
}

const timeHint = `write "16:00", "2026-01-31T18:00" or "2026-01-31T18:00:00Z"`

// units reads a duration that has units, so that it cannot be meant as a time of day.
func units(value string) (time.Duration, bool) {
	d, err := job.ParseDuration(value)
	return time.Duration(d), err == nil && d > 0 && !strings.ContainsAny(value, ":-")
}

// nextClock is the next time after now that a clock shows the time.
func nextClock(now time.Time, hour, minute, second int) time.Time {
	t := time.Date(now.Year(), now.Month(), now.Day(), hour, minute, second, 0, now.Location())
	if !t.After(now) {
		t = time.Date(now.Year(), now.Month(), now.Day()+1, hour, minute, second, 0, now.Location())
	}
	return t
}

// slurmUnits are the words that Slurm has for units.
var slurmUnits = map[string]string{
	"": "s", "second": "s", "seconds": "s", "minute": "m", "minutes": "m", "hour": "h", "hours": "h", "day": "d", "days": "d",
}

// plainUnits writes Slurm's "2hours" and "60" as job.ParseDuration reads them.
func plainUnits(s string) string {
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	if unit, ok := slurmUnits[s[len(number):]]; ok && isNumber(number) {
		return number + unit
	}
	return s
}

// setTimeLimit sets the time limit. Slurm's words for none are known, too, and its 0,
// however that is written: in a spec it would be the queue's default.
func setTimeLimit(r *reading, value string) error {
	if strings.EqualFold(value, "UNLIMITED") || strings.EqualFold(value, "INFINITE") {
		value = "0"
	}
	err := setDuration(func(s *job.Spec) *job.Duration { return &s.TimeLimit })(r, value)
	if err == nil && r.spec.TimeLimit == 0 {
		r.spec.TimeLimit = job.NoTimeLimit
	}
	return err
}

// setDuration sets a duration. For Slurm a number alone is minutes.
func setDuration(field func(*job.Spec) *job.Duration) func(*reading, string) error {
	return func(r *reading, value string) error {
		if r.slurm && isNumber(value) {
			value += "m"
		}
		d, err := job.ParseDuration(value)
		if err == nil {
			*field(r.spec) = d
		}
		return err
	}
}
