package fast

import "time"

// interval is the time between two times. Where one is zero, it has no such end.
type interval struct{ after, before time.Time }

func (i *interval) has(t time.Time) bool {
	return (i.after.IsZero() || t.After(i.after)) && (i.before.IsZero() || t.Before(i.before))
}

// narrow leaves what the interval has in common with another.
func (i *interval) narrow(after, before time.Time) {
	if i.after.IsZero() || after.After(i.after) {
		i.after = after
	}
	if i.before.IsZero() || !before.IsZero() && before.Before(i.before) {
		i.before = before
	}
}
