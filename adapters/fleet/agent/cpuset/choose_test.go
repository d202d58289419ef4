package cpuset

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

// grid is a machine of so many nodes (a socket each), cores in each and threads in each
// core, numbered as kernels do: first a thread of each core, then the siblings.
func grid(nodes, cores, threads int) []Processor {
	var all []Processor
	for range threads {
		for node := range nodes {
			for core := range cores {
				all = append(all, Processor{ID: len(all), Socket: node, Core: core, Node: node})
			}
		}
	}
	return all
}

// TestChoose is which processors a task gets, of machines with some taken.
func TestChoose(t *testing.T) {
	laptop := grid(1, 4, 1)                // 0 to 3
	desktop := grid(1, 4, 2)               // siblings: 0 4, 1 5, 2 6, 3 7
	server := grid(2, 4, 2)                // node 0: 0 8, 1 9, 2 10, 3 11; node 1: 4 12, 5 13, 6 14, 7 15
	four := grid(4, 4, 1)                  // node 0: 0 to 3, node 1: 4 to 7, ...
	dies := shape{2, 2, 2, 2}.processors() // node 0: 0 to 3, node 1: 4 to 7, in the next socket node 2: 8 to 11, ...
	hybrid := []Processor{{ID: 0}, {ID: 1}, {ID: 2, Core: 1}, {ID: 3, Core: 2}, {ID: 4, Core: 3}}
	for _, c := range []struct {
		name    string
		machine []Processor
		taken   string
		n       int
		want    string // empty: none
	}{
		{"one", laptop, "", 1, "0"},
		{"the next one", laptop, "0", 1, "1"},
		{"one that came back", laptop, "0,2", 1, "1"},
		{"all but one", laptop, "", 3, "0-2"},
		{"all: none would be left to share", laptop, "", 4, ""},
		{"the last", laptop, "0-2", 1, ""},
		{"more than there are", laptop, "", 9, ""},
		{"nothing", laptop, "", 0, ""},
		{"nothing free", laptop, "0-3", 1, ""},
		{"no machine", nil, "", 1, ""},
		{"what is taken may be gone", laptop, "0,99", 1, "1"},

		{"a core is taken as a whole", desktop, "", 2, "0,4"},
		{"the next core", desktop, "0,4", 2, "1,5"},
		{"a thread breaks a core", desktop, "", 1, "0"},
		{"and the next one fills it up", desktop, "0", 1, "4"},
		{"a broken core is left aside for a whole one", desktop, "0", 2, "1,5"},
		{"a whole core and the rest of a broken one", desktop, "0", 3, "1,4-5"},
		{"broken ones where no whole one is left", desktop, "0,1,2,3", 2, "4-5"},
		{"the smallest core that is enough", hybrid, "", 1, "2"},
		{"a large one", hybrid, "", 2, "0-1"},

		{"all in one node", server, "", 8, "0-3,8-11"},
		{"the fullest node that holds it", server, "4,12", 2, "5,13"},
		{"and the other where it does not", server, "4-6,12-14", 4, "0-1,8-9"},
		{"more than a node has", server, "", 10, "0-4,8-12"},
		{"the emptier node first, where both are needed", server, "0,8", 10, "1,4-7,9,12-15"},
		{"as few nodes as can be", four, "0-2,4-5", 6, "6-11"},
		{"the fullest socket of equal nodes", dies, "4,6", 4, "0-3"},
		{"also where it is the second", dies, "12,14", 4, "8-11"},
		{"as few sockets as can be", dies, "4", 8, "8-15"},
		{"the second node in the same socket", dies, "0-3,8-9", 6, "10-15"},
		{"broken cores of the fullest node come before another node", server, "0-3", 4, "8-11"},
	} {
		t.Run(c.name, func(t *testing.T) {
			taken, err := ParseList(c.taken)
			require.NoError(t, err)
			require.Equal(t, c.want, FormatList(Choose(c.machine, taken, c.n)))
			backwards := slices.Clone(c.machine)
			slices.Reverse(backwards)
			require.Equal(t, c.want, FormatList(Choose(backwards, taken, c.n)), "whatever the order")
		})
	}
}

// TestChooseAtRandom: what holds for any machine, whatever is taken of it.
func TestChooseAtRandom(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		all := grid(1+r.IntN(4), 1+r.IntN(6), 1+r.IntN(3))
		all = slices.DeleteFunc(all, func(Processor) bool { return r.IntN(10) == 0 }) // not on line
		var taken []int
		freeIn, free := map[int]int{}, 0
		likely := r.IntN(10)
		for _, p := range all {
			if r.IntN(10) < likely {
				taken = append(taken, p.ID)
			} else {
				freeIn[p.Node]++
				free++
			}
		}
		n := 1 + r.IntN(len(all)+1)
		got := Choose(all, taken, n)
		if n >= free {
			require.Nil(t, got, "one is left to share")
			continue
		}
		require.Len(t, got, n)
		require.True(t, slices.IsSorted(got))
		nodes := map[int]bool{}
		for i, id := range got {
			require.True(t, i == 0 || got[i-1] != id, "%v: one twice", got)
			require.NotContains(t, taken, id)
			at := slices.IndexFunc(all, func(p Processor) bool { return p.ID == id })
			require.GreaterOrEqual(t, at, 0, "there is no processor %d", id)
			nodes[all[at].Node] = true
		}
		require.Len(t, nodes, fewest(freeIn, n), "%v of %v without %v", got, all, taken)
	}
}

// fewest is how few nodes together have n processors free.
func fewest(freeIn map[int]int, n int) int {
	var free []int
	for _, f := range freeIn {
		free = append(free, f)
	}
	slices.Sort(free)
	count := 0
	for i := len(free) - 1; n > 0; i-- {
		n -= free[i]
		count++
	}
	return count
}
