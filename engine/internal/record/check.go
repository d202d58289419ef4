package record

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/berth-project/berth/model"
)

// another returns the workload, or a copy where it is the very object that is
// recorded: an update is told from other changes by its object, and in a replay
// it is always another.
func (in *Intake) another(w *model.Workload) *model.Workload {
	if row := in.Workload(w.ID); row != nil && row.Info.Workload == w {
		same := *w
		return &same
	}
	return w
}

// CheckText returns what is wrong with a text of a report that is no object: that it would
// not survive being written down and read again, or has the NUL that separates names. The
// identity is of what the report is about.
func CheckText(report, identity, field, text string) error {
	problem := model.Problem{Field: field}
	switch {
	case !utf8.ValidString(text):
		problem.Message = fmt.Sprintf("%q is not valid UTF-8", text)
	case strings.IndexByte(text, 0) >= 0:
		problem.Message = fmt.Sprintf("%q contains a NUL byte", text)
	default:
		return nil
	}
	return &model.ValidationError{Object: fmt.Sprintf("%s %q", report, identity), Problems: []model.Problem{problem}}
}

// CheckTime returns what of a time would not survive being written down and read again
// (RFC 3339, which has four digits for the year, and whole minutes for the offset of the zone).
func CheckTime(t time.Time) error {
	if year := t.Year(); year < 0 || year > 9999 {
		return fmt.Errorf("the year %d is not between 0 and 9999", year)
	}
	if _, offset := t.Zone(); offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600 {
		return fmt.Errorf("the offset of its zone, %v, is not one of whole minutes within a day", time.Duration(offset)*time.Second)
	}
	return nil
}
