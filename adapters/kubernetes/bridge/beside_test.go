package bridge

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/engine"
)

// Branches that are used side by side, and beside the engine, come to what each comes to alone, and
// in each call the lister that the plugin has kept shows the cluster of the cycle that the call is
// for.
func TestBranchesSideBySide(t *testing.T) {
	const nodes, pods, branches = 40, 60, 6
	w := newWorld(t)
	lister := w.handle.SnapshotSharedLister()
	w.filter = func(_ *cycle, p *v1.Pod, n fwk.NodeInfo) *fwk.Status {
		listed, err := lister.NodeInfos().Get(n.Node().Name)
		if err != nil {
			return fwk.AsStatus(err)
		}
		if got, want := fmt.Sprint(names(listed)), fmt.Sprint(names(n)); got != want {
			return fwk.AsStatus(fmt.Errorf("for pod %s the lister has %s on node %s, and the node has %s", p.Name, got, n.Node().Name, want))
		}
		return nil
	}
	for i := range nodes {
		w.putNode(node(fmt.Sprintf("n%02d", i), "2", nil))
	}
	var ids []string
	for i := range pods {
		ids = append(ids, fmt.Sprintf("p%02d", i))
		w.submit(pod(ids[i], "1", 0))
	}
	// Each branch places the pods in an order of its own.
	plan := func(b *engine.Branch, shift int) string {
		var lines []string
		for i := range ids {
			d, err := b.Schedule(w.now, ids[(i+shift*7)%pods])
			lines = append(lines, fmt.Sprint(d.Binding.Node, d.Evaluated, d.Message, err))
			if err != nil {
				break
			}
		}
		return strings.Join(lines, "\n")
	}
	var together [branches]*engine.Branch
	var alone, beside [branches]string
	for i := range branches {
		alone[i], together[i] = plan(w.Branch(), i), w.Branch()
	}
	var all sync.WaitGroup
	for i := range branches {
		all.Go(func() { beside[i] = plan(together[i], i) })
	}
	placed := 0
	for w.schedule() {
		placed++
	}
	all.Wait()
	for i := range branches {
		if alone[i] != beside[i] || strings.Contains(alone[i], "the lister has") {
			t.Errorf("branch %d came alone to\n%s\nand beside others to\n%s", i, alone[i], beside[i])
		}
	}
	if placed < pods || len(w.bound) != pods {
		t.Errorf("%d tried and %d bound of %d: %s", placed, len(w.bound), pods, w.message)
	}
}

func names(n fwk.NodeInfo) (list []string) {
	for _, p := range n.GetPods() {
		list = append(list, p.GetPod().Name)
	}
	return list
}
