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

// text is a field of a report, and what is in it.
type text struct{ field, value string }

// checkTexts returns all that is wrong with texts of a report that is no object: what would
// not survive being written down and read again, and the NUL that separates names. The
// identity is of what the report is about.
func checkTexts(report, identity string, texts ...text) error {
	var problems []model.Problem
	for _, t := range texts {
		switch {
		case !utf8.ValidString(t.value):
			problems = append(problems, model.Problem{Field: t.field, Message: fmt.Sprintf("%q is not valid UTF-8", t.value)})
		case strings.IndexByte(t.value, 0) >= 0:
			problems = append(problems, model.Problem{Field: t.field, Message: fmt.Sprintf("%q contains a NUL byte", t.value)})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return &model.ValidationError{Object: fmt.Sprintf("%s %q", report, identity), Problems: problems}
}
