package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/berth-project/berth/model"
)

func (u Usage) id() (string, bool) { return u.Queue, u.Queue != "" }

// chargeUsage checks what was used. It is charged when this is recorded: see Usages.
func (in *Intake) chargeUsage(u Usage) error {
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("usage of queue %q: "+format, append([]any{u.Queue}, args...)...))
	}
	for name := u.Queue; name != ""; {
		q, there := objectIn[*model.Queue](in.Txn, model.QueueKind, name)
		if !there {
			problem("there is no queue %q", name)
			break
		}
		name = q.Parent
	}
	for name := u.Principal; name != ""; {
		p, there := objectIn[*model.Principal](in.Txn, model.PrincipalKind, name)
		if !there {
			problem("there is no principal %q", name)
			break
		}
		name = p.Parent
	}
	for _, resource := range slices.Sorted(maps.Keys(u.Used)) {
		switch n := u.Used[resource]; {
		case resource == "":
			problem("a resource has an empty name")
		case !utf8.ValidString(resource):
			problem("%q is not valid UTF-8", resource)
		case n < 0:
			problem("%d of %q is negative", n, resource)
		}
	}
	if err := CheckTime(u.Until); err != nil {
		problem("until: %w", err)
	}
	if u.Until.After(in.Now) {
		problem("%v is yet to come", u.Until)
	}
	in.Usages = append(in.Usages, u)
	return errors.Join(problems...)
}
