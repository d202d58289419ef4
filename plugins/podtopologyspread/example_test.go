package podtopologyspread_test

import (
	"fmt"

	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/podtopologyspread"
)

// Two replicas run in zone a and one in zone b. With a skew of at most 1 the
// next one goes to zone b.
func Example() {
	replica := func(id string) *model.Workload {
		labels := map[string]string{"app": "web"}
		return &model.Workload{ID: id, Labels: labels, Spread: []model.SpreadConstraint{
			{TopologyKey: "zone", MaxSkew: 1, Mode: model.SpreadRequired, Selector: model.SelectLabels(labels)},
		}}
	}
	node := func(name, zone string) *model.Node {
		return &model.Node{Name: name, Labels: map[string]string{"zone": zone}}
	}
	s := extpointstest.NewSituation(replica("w4"),
		extpointstest.NodeWith(node("n1", "a"), replica("w1"), replica("w2")),
		extpointstest.NodeWith(node("n2", "a")),
		extpointstest.NodeWith(node("n3", "b"), replica("w3")),
		extpointstest.NodeWith(&model.Node{Name: "n4"}),
	)
	p, err := podtopologyspread.New(podtopologyspread.Args{}, extpointstest.NewHandle())
	if err != nil {
		fmt.Println(err)
		return
	}
	state := s.State()
	p.PreFilter(state, s.Workload)
	for _, n := range s.View.NodeInfos {
		fmt.Println(n.Node.Name, p.Filter(state, s.Workload, n))
	}
	// Output:
	// n1 Unschedulable: node(s) didn't match workload topology spread constraints
	// n2 Unschedulable: node(s) didn't match workload topology spread constraints
	// n3 Success
	// n4 UnschedulableAndUnresolvable: node(s) didn't match workload topology spread constraints (missing required label)
}
