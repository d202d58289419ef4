package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// shortBytes is an amount for people, of three digits or four.
func shortBytes(b job.Bytes) string {
	if b < 1024 {
		return strconv.FormatInt(int64(b), 10)
	}
	n, units := float64(b), "KMGTPE"
	i := -1
	for n >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	digits := 1
	if n >= 100 {
		digits = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', digits, 64), ".0") + units[i:i+1] + "i"
}

// clock is a duration as batch systems print it: "1-02:03:04", "02:03:04", "03:04".
func clock(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	days, hours, minutes, seconds := s/86400, s/3600%24, s/60%60, s%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, hours, minutes, seconds)
	case hours > 0:
		return fmt.Sprintf("%02d:%02d:%02d", hours, minutes, seconds)
	}
	return fmt.Sprintf("%02d:%02d", minutes, seconds)
}

// elapsed is the time from start to end, or to now where it has not ended.
func (a *app) elapsed(start, end time.Time) string {
	if start.IsZero() {
		return "-"
	}
	if end.IsZero() {
		end = a.now()
	}
	return clock(end.Sub(start))
}

// stamp is a time for people, in their zone.
func (a *app) stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(a.now().Location()).Format("2006-01-02 15:04:05")
}

// serverTime is a time in what servers say.
var serverTime = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// localTimes has the times in what servers say as people have them, see stamp.
func (a *app) localTimes(text string) string {
	return serverTime.ReplaceAllStringFunc(text, func(s string) string {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return s
		}
		return a.stamp(t)
	})
}

// seconds is a number of seconds as a clock.
func seconds(s float64) string { return clock(time.Duration(min(s, 9e9) * float64(time.Second))) }
