package extpoints

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// plainNode is what a NodeInfo lists, without an index.
type plainNode struct{ all, affine, anti []*WorkloadInfo }

func (p *plainNode) add(w *WorkloadInfo) {
	p.all = append(p.all, w)
	if w.Affinity != nil || w.AntiAffinity != nil {
		p.affine = append(p.affine, w)
	}
	if w.hasRequiredAntiAffinity() {
		p.anti = append(p.anti, w)
	}
}

func (p *plainNode) get(id string) *WorkloadInfo {
	for _, w := range p.all {
		if w.ID == id {
			return w
		}
	}
	return nil
}

func (p *plainNode) remove(id string) bool {
	w := p.get(id)
	for _, list := range []*[]*WorkloadInfo{&p.all, &p.affine, &p.anti} {
		if i := slices.Index(*list, w); w != nil && i >= 0 {
			last := len(*list) - 1
			(*list)[i] = (*list)[last]
			*list = (*list)[:last]
		}
	}
	return w != nil
}

func (p *plainNode) clone() *plainNode {
	return &plainNode{slices.Clone(p.all), slices.Clone(p.affine), slices.Clone(p.anti)}
}

// A node with an index has the same lists in the same order as one without, through all
// sizes, and so have its clones. IDs come twice now and then: nobody should do that,
// and it changes nothing.
func TestIndexedNodeAgainstPlainOne(t *testing.T) {
	r := rand.New(rand.NewPCG(modeltest.Seed(t), 1))
	node, plain := NewNodeInfo(&model.Node{}), &plainNode{}
	kept, keptPlain, scratch := node.Clone(), plain.clone(), &NodeInfo{}
	most, grows, aim := 0, true, 0
	for step := range 30_000 {
		switch size := len(plain.all); {
		case size == 0:
			grows, aim = true, 3*fewWorkloads+r.IntN(1000)
		case size >= aim:
			grows = false
		}
		id := fmt.Sprint("w", r.IntN(4000))
		if (r.IntN(3) > 0) == grows {
			if plain.get(id) == nil || r.IntN(20) == 0 {
				w := &WorkloadInfo{Workload: randomRequests(r, id)}
				if r.IntN(3) == 0 {
					w.AntiAffinity = &model.WorkloadAffinity{Required: make([]model.AffinityTerm, r.IntN(2))}
				}
				node.AddWorkload(w)
				plain.add(w)
			}
		} else {
			if len(plain.all) > 0 && r.IntN(10) > 0 {
				id = plain.all[r.IntN(len(plain.all))].ID
			}
			if node.RemoveWorkload(id) != plain.remove(id) {
				t.Fatalf("step %d: removed %s on one side", step, id)
			}
		}
		if node.Workload(id) != plain.get(id) {
			t.Fatalf("step %d: %s", step, id)
		}
		switch r.IntN(200) {
		case 0: // go on with a clone
			sameNode(t, kept, keptPlain)
			kept, keptPlain = node, plain
			node, plain = node.Clone(), plain.clone()
		case 1: // go on with the original
			sameNode(t, kept, keptPlain)
			kept, keptPlain = node.Clone(), plain.clone()
		case 2: // in memory that has been used
			sameNode(t, kept, keptPlain)
			kept, keptPlain = node, plain
			node.CopyTo(scratch)
			node, scratch, plain = scratch, &NodeInfo{}, plain.clone()
			kept.Clone().CopyTo(scratch)
		}
		sameLists(t, node, plain)
		if step%10 == 0 {
			sameTotals(t, node, plain)
		}
		most = max(most, len(plain.all))
	}
	sameNode(t, node, plain)
	if most < 3*fewWorkloads {
		t.Errorf("no more than %d workloads", most)
	}
}

// randomRequests makes a workload of one of some priorities, at times more than there are totals
// for, and now and then with an absurd amount.
func randomRequests(r *rand.Rand, id string) *model.Workload {
	w := &model.Workload{ID: id, Priority: int32(r.IntN(5)), Requests: model.Resources{CPU: r.Int64N(3)}}
	switch r.IntN(200) {
	case 0:
		w.Requests.Memory = 1 << 62
	case 1, 2:
		w.Priority = int32(r.IntN(200))
	case 3, 4, 5:
		w.Requests.Scalars = []model.Scalar{{Name: "s", Amount: 1 + r.Int64N(3)}}
	}
	return w
}

// sameTotals compares what is requested from some priorities on.
func sameTotals(t *testing.T, n *NodeInfo, p *plainNode) {
	t.Helper()
	for _, priority := range []int32{-1, 0, 3, 4, 100} {
		var want model.Resources
		count := 0
		for _, w := range p.all {
			if w.Priority >= priority {
				want.Add(&w.Requests)
				count++
			}
		}
		got, workloads := n.RequestedFrom(priority)
		if workloads != count || got.CPU != want.CPU || got.Memory != want.Memory || got.Scalar("s") != want.Scalar("s") {
			t.Fatalf("from priority %d %d request %v, not %d %v", priority, workloads, got, count, want)
		}
	}
}

func sameNode(t *testing.T, n *NodeInfo, p *plainNode) {
	t.Helper()
	sameLists(t, n, p)
	sameTotals(t, n, p)
	first := map[string]*WorkloadInfo{}
	for _, w := range slices.Backward(p.all) {
		first[w.ID] = w
	}
	for i := range 4000 {
		id := fmt.Sprint("w", i)
		if n.Workload(id) != first[id] {
			t.Fatalf("%s among %d", id, len(p.all))
		}
	}
}

func sameLists(t *testing.T, n *NodeInfo, p *plainNode) {
	t.Helper()
	if !slices.Equal(n.Workloads, p.all) || !slices.Equal(n.WithAffinity, p.affine) || !slices.Equal(n.WithRequiredAntiAffinity, p.anti) {
		t.Fatalf("%v %v %v, want %v", n.Workloads, n.WithAffinity, n.WithRequiredAntiAffinity, p)
	}
	if indexed := len(p.all) > fewWorkloads; indexed && n.index == nil {
		t.Fatalf("no index of %d workloads", len(p.all))
	}
	if n.index != nil && len(p.all) <= fewWorkloads/2 {
		t.Fatalf("an index of %d workloads", len(p.all))
	}
}

// A frozen node may be cloned by many at once; each changes its own clone.
func TestIndexedNodeIsClonedByMany(t *testing.T) {
	node, plain := NewNodeInfo(&model.Node{}), &plainNode{}
	for i := range 2 * fewWorkloads {
		w := &WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint("w", i)}}
		node.AddWorkload(w)
		plain.add(w)
	}
	var clones sync.WaitGroup
	for range 4 {
		clones.Go(func() {
			own, ownPlain := node.Clone(), plain.clone()
			for i := range fewWorkloads {
				id := fmt.Sprint("w", i)
				if own.RemoveWorkload(id) != ownPlain.remove(id) || node.Workload(id) == nil {
					t.Errorf("%s", id)
				}
			}
			sameNode(t, own, ownPlain)
		})
	}
	clones.Wait()
	sameNode(t, node, plain)
}
