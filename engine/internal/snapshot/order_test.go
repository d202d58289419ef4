package snapshot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// TestOrder plays scripts: "a/1" puts node a into zone 1, "-a" removes it,
// "a:w" places workload w on it, "=" settles. What a script says after "?" is
// the order then.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"zones take turns", "a/1 b/1 c/2 d/2 e/3 ? a c e b d"},
		{"zones that have no more drop out", "a/1 b/1 c/1 d/2 e/3 f/3 ? a d e b f c"},
		{"one zone without a name", "b/ a/ c/ ? b a c"},
		{"a new node goes to the end of its zone", "a/1 b/2 ? a b c/1 ? a b c d/2 ? a b c d"},
		{"an update stays where it is", "a/1 b/1 ? a b a/1 ? a b"},

		{"removed and back is last of its zone", "a/1 b/1 c/1 ? a b c -a ? b c a/1 ? b c a"},
		{"but keeps its place if nobody looked in between", "a/1 b/1 c/1 ? a b c -a a/1 ? a b c"},
		{"until another node comes", "a/1 b/1 c/1 = -a a/1 ? a b c d/1 ? b c a d"},
		{"or goes", "a/1 b/1 c/1 = -a a/1 = -b ? c a"},
		{"also with workloads", "a/1 b/1 a:w = -a a/1 ? a b"},

		{"an emptied zone comes last when it is back", "a/1 b/2 c/1 ? a b c -b ? a c b/2 ? a b c -a -c ? b a/1 ? b a"},
		{"a zone emptied and filled at once", "a/1 b/2 c/2 = -a d/1 ? b d c"},

		{"a changed zone shows later", "a/1 b/1 c/1 = c/2 ? a b c"},
		{"when a node comes", "a/1 b/1 c/1 = c/2 d/1 ? a c b d"},
		{"or goes (2)", "a/1 b/1 c/1 d/1 = c/2 -d ? a c b"},
		{"there and back moves it to the end", "a/1 b/1 c/1 = a/2 a/1 = d/1 ? b c a d"},
		{"there and back moves the zone to the end", "a/1 b/2 = a/3 a/1 = c/1 ? b a c"},

		{"nobody sees a node that comes and goes", "a/1 b/1 c/1 = c/2 d/1 -d ? a b c"},
		{"nor does its place stay", "a/1 = d/1 -d = b/1 ? a b"},
		{"but a swap is seen", "a/1 b/1 c/1 = c/2 -b d/1 ? a c d"},
		{"all gone", "a/1 b/2 ? a b -a -b ? a/2 b/1 ? a b"},
	} {
		t.Run(c.name, func(t *testing.T) { play(t, New(), c.script) })
	}
}

func play(t *testing.T, v *View, script string) {
	t.Helper()
	asked := false
	var want []string
	check := func() {
		if asked {
			require.Equal(t, want, order(v), script)
		}
		asked, want = false, []string{}
	}
	for _, word := range strings.Fields(script) {
		node, zone, isNode := strings.Cut(word, "/")
		on, id, isWorkload := strings.Cut(word, ":")
		if isNode || isWorkload || word[0] == '-' || word == "=" || word == "?" {
			check()
		}
		switch {
		case isNode:
			v.PutNode(&model.Node{Name: node, Zone: zone})
		case isWorkload:
			v.Place(workload(id), on)
		case word[0] == '-':
			v.RemoveNode(word[1:])
		case word == "=":
			v.Settle()
		case word == "?":
			asked = true
		default:
			want = append(want, word)
		}
	}
	check()
}

func order(v *View) []string {
	names := []string{}
	ns := v.Nodes()
	for i := range ns.Len() {
		names = append(names, ns.At(i).Node.Name)
	}
	return names
}

func workload(id string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}}
}

// TestManyNodes sees to it that what comes in a row is sorted once.
func TestManyNodes(t *testing.T) {
	const n = 20000
	start := time.Now()
	v := New()
	for i := range n {
		v.PutNode(&model.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint(i % 3)})
	}
	require.Equal(t, n, v.Nodes().Len())
	for i := range n {
		v.RemoveNode(fmt.Sprint("node-", i))
	}
	require.Equal(t, 0, v.Nodes().Len())
	t.Logf("%d nodes came and went in %v", n, time.Since(start))

	// Uneven zones: going round all of them for every node would take for ever.
	start = time.Now()
	for i := range n {
		v.PutNode(&model.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint(max(0, i-n/2))})
	}
	require.Equal(t, n, v.Nodes().Len())
	t.Logf("%d nodes in %d zones came in %v", n, n/2, time.Since(start))
}

// The order that is kept up as nodes come and go is the one that is made anew from all
// of them, with many zones and few, even ones and uneven ones.
func TestOrderAgainstFlat(t *testing.T) {
	for i, zones := range []int{1, 3, 40, 1000} {
		t.Run(fmt.Sprint(zones), func(t *testing.T) {
			r := rand.New(rand.NewPCG(modeltest.Seed(t), uint64(i)))
			h, aim := handle{New(), newFlat()}, 0
			for step := range 600 {
				if step%100 == 0 {
					aim = r.IntN(500)
				}
				for range 1 + r.IntN(3) {
					name := fmt.Sprint("node-", r.IntN(600))
					if r.IntN(4) == 0 || len(h.flat.nodes) > aim {
						h.view.RemoveNode(name)
						h.flat.removeNode(name)
						continue
					}
					n := &model.Node{Name: name, Zone: fmt.Sprint(r.IntN(1 + r.IntN(zones)))}
					h.view.PutNode(n)
					h.flat.putNode(n)
				}
				if r.IntN(3) == 0 {
					h = h.branch()
				}
				h.flat.settle()
				require.True(t, slices.Equal(h.flat.order, order(h.view)), "step %d", step)
			}
		})
	}
}

// A node that comes to zones of one size leaves all blocks before its round as they are.
func TestBlocksBeforeANewNodeStay(t *testing.T) {
	const nodes = 100 * BlockSize
	for _, zones := range []int{1, 4, nodes} {
		v := New()
		for i := range nodes {
			v.PutNode(&model.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint(i % zones)})
		}
		before := v.Branch()
		node := &model.Node{Name: "new", Zone: "0"}
		if zones == nodes {
			node.Zone = "a zone of its own"
		}
		v.PutNode(node)
		after := v.Branch()
		require.Equal(t, nodes+1, after.Nodes().Len())
		for i := range Blocks(nodes) {
			require.Same(t, before.Block(i), after.Block(i), "block %d with %d zones", i, zones)
		}
	}
}
