package defaultpreemption

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
)

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		name string
		args any
		want string // the error; empty: none
	}{
		{"none", nil, ""},
		{"empty", Args{}, ""},
		{"a pointer", &Args{TieBreak: RandomNode, Synchronous: true}, ""},
		{"no percentage", Args{MinCandidateNodesPercentage: p32(0)}, ""},
		{"no number", Args{MinCandidateNodesAbsolute: p32(0)}, ""},
		{"all nodes", Args{MinCandidateNodesPercentage: p32(100), MinCandidateNodesAbsolute: p32(1 << 30)}, ""},
		{"neither", Args{MinCandidateNodesPercentage: p32(0), MinCandidateNodesAbsolute: p32(0)},
			`arguments of plugin "DefaultPreemption": minCandidateNodesPercentage: is 0, and so is minCandidateNodesAbsolute: one must be above; ` +
				`minCandidateNodesAbsolute: is 0, and so is minCandidateNodesPercentage: one must be above`},
		{"all wrong", Args{MinCandidateNodesPercentage: p32(101), MinCandidateNodesAbsolute: p32(-1), TieBreak: "Best"},
			`arguments of plugin "DefaultPreemption": minCandidateNodesPercentage: 101 is not in [0, 100]; ` +
				`minCandidateNodesAbsolute: -1 is negative; tieBreak: "Best" is none of First, Random`},
		{"a negative percentage", Args{MinCandidateNodesPercentage: p32(-1)},
			`arguments of plugin "DefaultPreemption": minCandidateNodesPercentage: -1 is not in [0, 100]`},
	} {
		_, err := extpoints.FactoryOf(New)(c.args, extpointstest.NewHandle())
		if got := text(err); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDefaultsAreACopy(t *testing.T) {
	var a Args
	b := a.WithDefaults()
	if a.MinCandidateNodesAbsolute != nil || *b.MinCandidateNodesAbsolute != 100 || *b.MinCandidateNodesPercentage != 10 || b.TieBreak != FirstNode || b.Synchronous {
		t.Errorf("%+v, %+v", a, b)
	}
}

// How many candidates are looked for out of how many nodes.
func TestWanted(t *testing.T) {
	for _, c := range []struct {
		percentage, absolute int32
		nodes, want          int
	}{
		{10, 100, 5, 5},
		{10, 100, 100, 100},
		{10, 100, 999, 100},
		{10, 100, 1010, 101},
		{10, 100, 5000, 500},
		{0, 1, 5000, 1},
		{100, 0, 7, 7},
		{1, 0, 99, 0},
	} {
		a := Args{MinCandidateNodesPercentage: p32(c.percentage), MinCandidateNodesAbsolute: p32(c.absolute)}
		if got := a.wanted(c.nodes); got != c.want {
			t.Errorf("%d%%, %d of %d nodes: %d, want %d", c.percentage, c.absolute, c.nodes, got, c.want)
		}
	}
}
