package model_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/berth-project/berth/model"
)

// phaseTable is the life of a workload: which phase may follow which, and in
// which it takes room on its node.
const phaseTable = `
phase        room  Pending  Assumed  Bound  Confirmed  Terminating  Finished
Pending      -     -        yes      -      yes        yes          yes
Assumed      yes   yes      -        yes    yes        yes          yes
Bound        yes   yes      -        -      yes        yes          yes
Confirmed    yes   yes      -        -      -          yes          yes
Terminating  yes   yes      -        -      -          -            yes
Finished     -     -        -        -      -          -            -
`

func TestPhaseMoves(t *testing.T) {
	all := []Phase{Pending, Assumed, Bound, Confirmed, Terminating, Finished}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "-"
	}
	var b strings.Builder
	row := func(cells []string) {
		line := fmt.Sprintf("%-13s%-6s%-9s%-9s%-7s%-11s%-13s%s", cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7])
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	head := []string{"phase", "room"}
	for _, p := range all {
		head = append(head, p.String())
	}
	row(head)
	for _, p := range all {
		cells := []string{p.String(), yes(p.TakesRoom())}
		for _, next := range all {
			cells = append(cells, yes(p.CanMoveTo(next)))
		}
		row(cells)
	}
	if got := "\n" + b.String(); got != phaseTable {
		t.Errorf("got%s\nwant%s", got, phaseTable)
	}
}

// TestPhaseInvalid: what is no phase has a name for the log, and no moves.
func TestPhaseInvalid(t *testing.T) {
	p := Phase(200)
	if p.String() != "Phase(invalid)" || p.CanMoveTo(Pending) || p.TakesRoom() || Pending.CanMoveTo(p) {
		t.Errorf("%v", p)
	}
}
