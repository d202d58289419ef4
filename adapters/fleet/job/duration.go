package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// day is what "d" stands for: 24 hours, whatever the calendar says.
const day = 24 * time.Hour

// durationUnits are the units of ParseDuration, from the largest.
var durationUnits = []struct {
	name string
	size time.Duration
}{
	{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second},
	{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
}

// durationHint ends the errors of ParseDuration.
const durationHint = `write "90s", "30m", "1h30m", "2d", or "HH:MM:SS", "MM:SS", "D-HH:MM:SS"`

// ParseDuration reads two kinds of text:
//
//   - numbers with units, the larger before the smaller: "90s", "1h30m", "1d12h",
//     "1.5h". The units are d (24 hours), h, m, s, ms, us and ns.
//   - the clock of batch systems: "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM" and
//     "D-HH:MM:SS". Its first number may be larger than a clock's, as in "90:00".
//
// A number alone is refused, unless it is 0: batch systems take it for minutes,
// others for seconds. Negative ones and those above 292 years are refused too.
func ParseDuration(s string) (Duration, error) {
	var (
		d   time.Duration
		err error
	)
	switch {
	case len(s) > maxUnitText:
		err = fmt.Errorf("it is longer than %d characters", maxUnitText)
	case s == "0":
	case strings.ContainsAny(s, ":-"):
		d, err = parseClock(s)
	default:
		d, err = parseUnits(s)
	}
	if err != nil {
		return 0, fmt.Errorf("%s is no duration: %w; %s", quote(s), err, durationHint)
	}
	return Duration(d), nil
}

// parseUnits reads numbers with units.
func parseUnits(s string) (time.Duration, error) {
	var sum time.Duration
	units := durationUnits
	for rest := s; rest != "" || s == ""; {
		number, tail := splitNumber(rest)
		end := strings.IndexAny(tail, "0123456789.")
		if end < 0 {
			end = len(tail)
		}
		name := tail[:end]
		rest = tail[end:]
		if number != "" && name == "" {
			return 0, fmt.Errorf(`the number %s has no unit, "%sm" would be minutes and "%ss" seconds`, number, number, number)
		}
		i := 0
		for i < len(units) && units[i].name != name {
			i++
		}
		if i == len(units) {
			return 0, fmt.Errorf("%q is no unit, or not smaller than the one before", name)
		}
		n, err := scaled(number, int64(units[i].size))
		if err != nil {
			return 0, err
		}
		if sum += time.Duration(n); sum < 0 {
			return 0, fmt.Errorf("it is too long")
		}
		units = units[i+1:]
	}
	return sum, nil
}

// parseClock reads "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM" and "D-HH:MM:SS".
func parseClock(s string) (time.Duration, error) {
	days, clock, hasDays := strings.Cut(s, "-")
	if !hasDays {
		days, clock = "", s
	}
	parts := strings.Split(clock, ":")
	var sizes []time.Duration
	switch {
	case len(parts) > 3:
		return 0, fmt.Errorf("it has more than hours, minutes and seconds")
	case hasDays:
		parts = append([]string{days}, parts...)
		sizes = []time.Duration{day, time.Hour, time.Minute, time.Second}
	default:
		sizes = []time.Duration{time.Hour, time.Minute, time.Second}[3-len(parts):]
	}
	var sum time.Duration
	for i, p := range parts {
		n, err := clockNumber(p, sizes[i], i == 0)
		if err != nil {
			return 0, err
		}
		if sum += n; sum < 0 {
			return 0, fmt.Errorf("it is too long")
		}
	}
	return sum, nil
}

// clockNumber is a number of a clock: size times p, which is below 60, or 24
// where it is hours, unless it is the first.
func clockNumber(p string, size time.Duration, first bool) (time.Duration, error) {
	n, err := strconv.ParseUint(p, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%q in it is no number", p)
	}
	most := uint64(59)
	if size == time.Hour {
		most = 23
	}
	if first {
		most = uint64(math.MaxInt64 / size)
	}
	if n > most {
		return 0, fmt.Errorf("%d in it is more than %d", n, most)
	}
	return time.Duration(n) * size, nil
}

// String is the exact duration, in days, hours, minutes and seconds without those
// that are 0: "1d12h", "90s" as "1m30s", "0.25s". ParseDuration reads it.
func (d Duration) String() string {
	if d < 0 {
		return time.Duration(d).String()
	}
	var b strings.Builder
	rest := time.Duration(d)
	for _, u := range durationUnits[:3] {
		if n := rest / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
		}
		rest %= u.size
	}
	if seconds, part := rest/time.Second, rest%time.Second; part > 0 {
		fmt.Fprintf(&b, "%d.%ss", seconds, strings.TrimRight(fmt.Sprintf("%09d", part), "0"))
	} else if seconds > 0 || b.Len() == 0 {
		fmt.Fprintf(&b, "%ds", seconds)
	}
	return b.String()
}

// MarshalJSON writes a string.
func (d Duration) MarshalJSON() ([]byte, error) { return marshalText(int64(d), d.String()) }

// UnmarshalJSON reads a string, or a number of seconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	return unmarshalText(data, func(s string, number bool) (err error) {
		if number {
			s += "s"
		}
		*d, err = ParseDuration(s)
		return err
	})
}
