package record

import (
	"fmt"
	"strings"
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
