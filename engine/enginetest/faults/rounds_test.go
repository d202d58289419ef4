package faults

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
)

// Each case is a wrong order of Reserve and Unreserve of the two counters.
func TestRoundsFindWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, calls, want string }{
		{"as it should be", "R0 R1 U1 U0", ""},
		{"the last was not reached", "R0 U1 U0", ""},
		{"bound", "R0 R1 C", ""},
		{"reserved twice", "R0 R0", "twice in one cycle"},
		{"the last without the first", "R1", "without the first"},
		{"unreserved twice", "R0 R1 U1 U1", "called twice"},
		{"unreserved once more", "R0 R1 U1 U0 U1", "once too often"},
		{"in the wrong order", "R0 R1 U0", "reverse order"},
		{"unreserved though bound", "R0 R1 C U1", "once too often"},
		{"bound without a reservation", "C", "nothing is reserved"},
		{"bound with half a reservation", "R0 C", "not every plugin"},
	} {
		r, s := NewRounds(), extpoints.NewCycle(extpoints.CycleOptions{Context: t.Context()}).State()
		for call := range strings.FieldsSeq(c.calls) {
			which := int(call[len(call)-1] - '0')
			switch call[0] {
			case 'R':
				r.reserve(which, s, "w", "n")
			case 'U':
				r.unreserve(which, s, "w", "n")
			default:
				r.Commit("w", "n")
			}
		}
		switch {
		case c.want == "" && (r.Problem != nil || len(r.open) > 0 || len(r.byID) > 0):
			t.Errorf("%s: %v, open %v", c.name, r.Problem, r.byID)
		case c.want != "" && (r.Problem == nil || !strings.Contains(r.Problem.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, r.Problem, c.want)
		}
	}
}
