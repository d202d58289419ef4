package volumebinding

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// What is tied to other nodes is not looked at.
func TestPlaces(t *testing.T) {
	in := func(key string, values ...string) model.Requirement {
		return model.Requirement{Key: key, Operator: model.In, Values: values}
	}
	labels := func(q ...model.Requirement) model.NodeTerm { return model.NodeTerm{Labels: q} }
	fields := func(q ...model.Requirement) model.NodeTerm { return model.NodeTerm{Fields: q} }
	list := [][]model.NodeTerm{
		0: {labels(in(host, "b"))},
		1: nil,                                           // everywhere
		2: {labels(in("zone", "1", "2"), in(host, "a"))}, // by the label with fewer values
		3: {labels(in(host, "a")), labels(in(host, "b", "c"))},
		4: {labels(in(host, "a")), labels(in("zone", "2"))}, // no label in common
		5: {fields(in(model.FieldName, "a"))},
		6: {fields(in(model.FieldName, "b")), labels(in(host, "a"))},
		7: {labels(in("zone", "1"))},
		8: {labels(model.Requirement{Key: host, Operator: model.NotIn, Values: []string{"a"}})},
		9: {labels(in(host, "a"))},
	}
	p := placesOf(len(list), func(i int) []model.NodeTerm { return list[i] })
	looksAt := func(n *model.Node) []int32 {
		var all []int32
		p.first(n, func(i int32) bool {
			all = append(all, i)
			return false
		})
		slices.Sort(all)
		return all
	}
	for _, c := range []struct {
		node *modeltest.NodeBuilder
		want []int32
	}{
		{modeltest.Node("a").Label(host, "a").Label("zone", "1"), []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{modeltest.Node("b").Label(host, "b").Label("zone", "2"), []int32{0, 1, 3, 4, 6, 8}},
		{modeltest.Node("c").Label(host, "c"), []int32{1, 3, 4, 6, 8}},
		{modeltest.Node("d"), []int32{1, 4, 6, 8}},
	} {
		n := c.node.Build()
		if got := looksAt(n); !slices.Equal(got, c.want) {
			t.Errorf("node %s: looks at %v, want %v", n.Name, got, c.want)
		}
		for _, i := range c.want {
			if got := p.first(n, func(j int32) bool { return j >= i }); got != i {
				t.Errorf("node %s: the first from %d on is %d", n.Name, i, got)
			}
		}
	}
}
