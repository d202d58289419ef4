package snapshot

import (
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// moved is a member that is on a node, while the sets of groups still have it among those that
// wait, and the members that were moved before it. A try of a gang moves one member after the
// other, with a frozen View in between, and hardly ever asks who the members are: to change two
// sets each time would be a fifth of its cost.
type moved struct {
	member extpoints.PlacedMember
	before *moved
	// run is how many of its group were moved in a row, itself the last; other is what was moved
	// before these.
	run   int
	other *moved
}

// push returns the list with one more member.
func (m *moved) push(member extpoints.PlacedMember) *moved {
	if m == nil || m.member.Group != member.Group {
		return &moved{member: member, before: m, run: 1, other: m}
	}
	return &moved{member: member, before: m, run: m.run + 1, other: m.other}
}

// count is how many of the group were moved.
func (m *moved) count(group string) (n int) {
	for ; m != nil; m = m.other {
		if m.member.Group == group {
			n += m.run
		}
	}
	return n
}

// of lists those of the group by ID.
func (m *moved) of(group string) (list []extpoints.PlacedMember) {
	for ; m != nil; m = m.before {
		if m.member.Group == group {
			list = append(list, m.member)
		}
	}
	slices.SortFunc(list, byMember)
	return list
}

func byMember(a, b extpoints.PlacedMember) int { return strings.Compare(a.ID, b.ID) }
