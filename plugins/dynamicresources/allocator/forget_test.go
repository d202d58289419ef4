package allocator

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// nodesOf are the nodes of a view that only has names.
type nodesOf map[string]*extpoints.NodeInfo

func (n nodesOf) Len() int                                        { return len(n) }
func (n nodesOf) At(int) *extpoints.NodeInfo                      { panic("not asked for") }
func (n nodesOf) Get(name string) *extpoints.NodeInfo             { return n[name] }
func (n nodesOf) WithAffinity() []*extpoints.NodeInfo             { panic("not asked for") }
func (n nodesOf) WithRequiredAntiAffinity() []*extpoints.NodeInfo { panic("not asked for") }

// However many nodes come and go, and however differently they see a pool, about as much is
// remembered as there are nodes; and nothing where there is none.
func TestNodesAreForgotten(t *testing.T) {
	many := 50_000
	if testing.Short() {
		many = 5_000
	}
	view := extpointstest.NewView()
	view.Put(modeltest.DeviceClass("gpu"), modeltest.DeviceSlice("d", "all").AllNodes().Devices(2).Build())
	const parts = 16
	for i := range parts {
		view.Put(modeltest.DeviceSlice("d", "some").Part(fmt.Sprint("part", i), 1, parts).Device(fmt.Sprint("x", i)).
			Nodes(model.Requirement{Key: fmt.Sprint("bit", i), Operator: model.Exists}).Build())
	}
	a, claims := New(Options{}), []*model.DeviceClaim{modeltest.DeviceClaim("c").Request("r", "gpu", 1).Build()}
	for _, there := range []int{1, 7, 100} {
		nodes, most, ways := nodesOf{}, 0, 0
		for i := range many {
			n := modeltest.Node(fmt.Sprint("n", there, "-", i)).Build()
			n.Labels = map[string]string{}
			for bit := range parts {
				if i>>bit&1 == 1 {
					n.Labels[fmt.Sprint("bit", bit)] = ""
				}
			}
			nodes[n.Name] = extpoints.NewNodeInfo(n)
			delete(nodes, fmt.Sprint("n", there, "-", i-there))
			a.Forget(nodes)
			if fits, err := a.Prepare(view.Devices(), claims).Fits(n); !fits || err != nil {
				t.Fatal(fits, err)
			}
			c := a.catalogue.Load()
			most, ways = max(most, len(c.nodes)), max(ways, len(c.pools[model.PoolID{Driver: "d", Pool: "some"}].seen))
		}
		if most > 2*there+2 || ways > 2*there+2 {
			t.Errorf("of %d nodes %d are remembered, and %d ways to see a pool", there, most, ways)
		}
		a.Forget(nodesOf{})
		c := a.catalogue.Load()
		for id, p := range c.pools {
			if len(p.seen) > 0 {
				t.Errorf("without nodes: %d ways to see %v", len(p.seen), id)
			}
		}
		if len(c.nodes) > 0 {
			t.Errorf("%d nodes are remembered where there are none", len(c.nodes))
		}
	}
}

// What the nodes that there are need is not forgotten.
func TestWhatIsThereIsNotForgotten(t *testing.T) {
	view := extpointstest.NewView()
	view.Put(modeltest.DeviceClass("gpu"), modeltest.DeviceSlice("d", "all").AllNodes().Devices(2).Build())
	a, claims, nodes := New(Options{}), []*model.DeviceClaim{modeltest.DeviceClaim("c").Request("r", "gpu", 1).Build()}, nodesOf{}
	for i := range 50 {
		n := modeltest.Node(fmt.Sprint("n", i)).Build()
		nodes[n.Name] = extpoints.NewNodeInfo(n)
	}
	for range 3 {
		a.Forget(nodes)
		for _, n := range nodes {
			if _, err := a.Prepare(view.Devices(), claims).Fits(n.Node); err != nil {
				t.Fatal(err)
			}
		}
	}
	if c := a.catalogue.Load(); c.gathered != 50 || len(c.nodes) != 50 {
		t.Errorf("%d nodes, found out about %d times", len(c.nodes), c.gathered)
	}
}
