package snapshot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func withImages(name string, size int64, images ...string) *model.Node {
	return &model.Node{Name: name, Images: []model.NodeImage{{Names: images, Size: size}}}
}

func image(v *View, node, name string) extpoints.ImageState {
	return v.Nodes().Get(node).Images[name]
}

func TestImagesAreAsOldAsTheNode(t *testing.T) {
	v := New()
	v.PutNode(withImages("a", 10, "x"))
	v.PutNode(withImages("b", 20, "x", "y"))
	// Both came before anybody looked: both know of each other, and the first
	// size counts.
	require.Equal(t, extpoints.ImageState{Size: 10, NumNodes: 2}, image(v, "a", "x"))
	require.Equal(t, extpoints.ImageState{Size: 10, NumNodes: 2}, image(v, "b", "x"))

	v.PutNode(withImages("c", 30, "x"))
	require.Equal(t, extpoints.ImageState{Size: 10, NumNodes: 2}, image(v, "a", "x"), "stale")
	require.Equal(t, extpoints.ImageState{Size: 10, NumNodes: 3}, image(v, "c", "x"))

	v.Place(workload("w"), "a")
	require.Equal(t, 3, image(v, "a", "x").NumNodes, "touched")
	require.Equal(t, 2, image(v, "b", "x").NumNodes, "stale")

	v.PutNode(withImages("c", 31, "x"))
	require.Equal(t, extpoints.ImageState{Size: 10, NumNodes: 3}, image(v, "c", "x"), "no count changed")

	v.RemoveNode("a")
	v.RemoveNode("c")
	v.PutNode(withImages("b", 20, "x", "y"))
	require.Equal(t, extpoints.ImageState{Size: 20, NumNodes: 1}, image(v, "b", "x"), "nobody else has it")
}

func TestImagesOfBranches(t *testing.T) {
	v := New()
	v.PutNode(withImages("a", 10, "x"))
	b := v.Branch()
	v.PutNode(withImages("b", 10, "x"))
	v.Place(workload("w"), "a")
	b.Place(workload("w"), "a")
	require.Equal(t, 2, image(v, "a", "x").NumNodes)
	require.Equal(t, 1, image(b, "a", "x").NumNodes)
	b.PutNode(&model.Node{Name: "a"})
	require.Empty(t, b.Nodes().Get("a").Images)
	require.Equal(t, 2, image(v, "a", "x").NumNodes)
}

func TestImagesOfTrials(t *testing.T) {
	v := New()
	v.PutNode(withImages("a", 10, "x"))
	require.Equal(t, 1, image(v, "a", "x").NumNodes)
	v.PutNode(withImages("b", 10, "x"))
	trial := v.Trial().Branch() // a branch of a trial is one, too
	trial.Place(workload("w"), "a")
	require.Len(t, trial.Nodes().Get("a").Workloads, 1)
	require.Equal(t, 1, image(trial, "a", "x").NumNodes, "stale")
	v.Place(workload("w"), "a")
	require.Equal(t, 2, image(v, "a", "x").NumNodes, "touched")
}

// A report of a node is part of its version, as what is on it is. Else the node stays as it is.
func TestReportsAreOfTheVersion(t *testing.T) {
	v := New()
	v.PutNode(withImages("a", 10, "x"))
	v.PutNode(&model.Node{Name: "b"})
	v.Nodes()
	v.PutNode(withImages("c", 10, "x"))
	for _, report := range []model.Object{&model.NodeLoad{Node: "a"}, &model.NodeTopology{Node: "a"}} {
		for i, patch := range []func(model.Object){v.PutObject, v.PutObject, v.RemoveObject} {
			frozen := v.Branch()
			before, b, block := frozen.Nodes().Get("a"), frozen.Nodes().Get("b"), frozen.Block(0)
			patch(report)
			after := v.Branch()
			require.NotSame(t, before, after.Nodes().Get("a"), "%T, %d", report, i)
			require.NotSame(t, block, after.Block(0), "%T, %d", report, i)
			require.Same(t, b, after.Nodes().Get("b"), "%T, %d", report, i)
			require.Same(t, before, frozen.Nodes().Get("a"), "%T, %d", report, i)
		}
	}
	require.Equal(t, 1, image(v, "a", "x").NumNodes, "stale: a report is no change of the node")
	v.PutObject(&model.NodeLoad{Node: "nowhere"})
	require.Nil(t, v.Nodes().Get("nowhere"))
}

func TestGhosts(t *testing.T) {
	v := New()
	v.Place(workload("w1"), "a")
	v.Place(workload("w2"), "a")
	v.Place(workload("w3"), "a")
	require.Nil(t, v.Nodes().Get("a"))
	require.Zero(t, v.Nodes().Len())

	b := v.Branch()
	v.Unplace("w1", "a")
	v.PutNode(&model.Node{Name: "a"})
	b.PutNode(&model.Node{Name: "a"})
	require.Equal(t, []string{"w3", "w2"}, ids(v.Nodes().Get("a").Workloads), "the last one moves into the gap")
	require.Equal(t, []string{"w1", "w2", "w3"}, ids(b.Nodes().Get("a").Workloads))

	v.RemoveNode("a")
	require.Nil(t, v.Nodes().Get("a"))
	v.RemoveNode("a")
	v.Unplace("w2", "a")
	v.Replace(workload("w4"), "a")
	v.PutNode(&model.Node{Name: "a"})
	require.Equal(t, []string{"w3", "w4"}, ids(v.Nodes().Get("a").Workloads))

	v.RemoveNode("a")
	v.Unplace("w3", "a")
	v.Unplace("w4", "a")
	_, ok := v.placeholders.get("a")
	require.False(t, ok, "nothing is left of it")
}

func TestUnplaceMovesTheLast(t *testing.T) {
	v := New()
	v.PutNode(&model.Node{Name: "a"})
	for i := range 5 {
		v.Place(workload(fmt.Sprint(i)), "a")
	}
	steps := []struct {
		do   func()
		want []string
	}{
		{func() { v.Unplace("1", "a") }, []string{"0", "4", "2", "3"}},
		{func() { v.Unplace("3", "a") }, []string{"0", "4", "2"}},
		{func() { v.Unplace("3", "a") }, []string{"0", "4", "2"}},
		{func() { v.Replace(workload("0"), "a") }, []string{"2", "4", "0"}},
		{func() { v.Replace(workload("0"), "a") }, []string{"2", "4", "0"}},
		{func() { v.Branch(); v.Replace(workload("9"), "a") }, []string{"2", "4", "0", "9"}},
	}
	for _, s := range steps {
		s.do()
		require.Equal(t, s.want, ids(v.Nodes().Get("a").Workloads))
	}
}

func TestNominationOrder(t *testing.T) {
	v := New()
	v.Nominate(workload("1"), "a")
	v.Nominate(workload("2"), "a")
	b := v.Branch()
	v.Nominate(workload("1"), "a")
	b.Unnominate("1", "a")
	b.Unnominate("nobody", "a")
	require.Equal(t, []string{"2", "1"}, ids(v.Nominated("a")))
	require.Equal(t, []string{"2"}, ids(b.Nominated("a")))
	b.Unnominate("2", "a")
	require.Empty(t, b.Nominated("a"))
	require.Nil(t, b.nominated.trie.root)
}

// TestInPlace pins down when a node is copied: once after each Branch.
func TestInPlace(t *testing.T) {
	v := New()
	v.PutNode(&model.Node{Name: "a"})
	v.PutNode(&model.Node{Name: "b"})
	a := v.Nodes().Get("a")
	v.Place(workload("1"), "a")
	require.Same(t, a, v.Nodes().Get("a"))
	frozen := v.Branch()
	v.Place(workload("2"), "a")
	mine := v.Nodes().Get("a")
	require.NotSame(t, a, mine)
	v.Unplace("1", "a")
	require.Same(t, mine, v.Nodes().Get("a"))
	require.Same(t, a, frozen.Nodes().Get("a"))
	require.Equal(t, []string{"1"}, ids(a.Workloads))
	require.Same(t, frozen.Nodes().Get("b"), v.Nodes().Get("b"))

	// Nodes keep their marks when others come and the order is made anew.
	v.PutNode(&model.Node{Name: "c"})
	v.Nodes()
	v.Place(workload("3"), "a")
	require.Same(t, mine, v.Nodes().Get("a"))
	v.Place(workload("3"), "b")
	require.Empty(t, frozen.Nodes().Get("b").Workloads)
}

// TestMarksDoNotOutliveABranch: making the order anew must not take the marks of
// an earlier owner along.
func TestMarksDoNotOutliveABranch(t *testing.T) {
	v := New()
	for i := range 100 {
		v.PutNode(&model.Node{Name: fmt.Sprint(i)})
	}
	frozen := v.Branch() // every node is marked, every chunk carries the old token
	v.PutNode(&model.Node{Name: "new"})
	v.Settle()
	for i := range 100 {
		v.Place(workload("w"), fmt.Sprint(i))
	}
	for i := range 100 {
		require.Empty(t, frozen.Nodes().At(i).Workloads)
	}
}

// TestListsAreShared: what one View has listed, those that share it need not
// list again.
func TestListsAreShared(t *testing.T) {
	v := New()
	for i := range 100 {
		v.PutNode(&model.Node{Name: fmt.Sprint(i)})
	}
	affine := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Affinity: &model.WorkloadAffinity{}}}
	v.Place(affine, "70")
	v.Place(affine, "7")
	b := v.Branch()
	list := b.Nodes().WithAffinity()
	require.Len(t, list, 2)
	require.Same(t, b.Nodes().Get("7"), list[0])
	v.Place(workload("x"), "50")
	require.Same(t, &list[0], &v.Nodes().WithAffinity()[0], "nothing flipped")
	v.Place(workload("x"), "7")
	require.Same(t, v.Nodes().Get("7"), v.Nodes().WithAffinity()[0])
	v.Unplace("w", "7")
	require.Len(t, v.Nodes().WithAffinity(), 1)
	require.Len(t, b.Nodes().WithAffinity(), 2)
	require.Nil(t, v.Nodes().WithRequiredAntiAffinity())
}

func TestReadingAllocatesNothing(t *testing.T) {
	v := benchView(1000, 2)
	v.Place(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Affinity: &model.WorkloadAffinity{}}}, "node-7")
	v.Nodes().WithAffinity()
	require.Zero(t, testing.AllocsPerRun(10, func() {
		ns := v.Nodes()
		for i := range ns.Len() {
			if ns.At(i) == nil {
				panic("no node")
			}
		}
		_ = ns.Get("node-17")
		_, _ = ns.WithAffinity(), ns.WithRequiredAntiAffinity()
		_, _ = v.Budgets(), v.Nominated("node-1")
	}))
}
