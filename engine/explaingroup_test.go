package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// What keeps the group of a member that would fit by itself is what keeps the member.
func TestExplainAMemberSaysWhatKeepsItsGroup(t *testing.T) {
	member := func(id string, cpu int64) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Group: "g", Requests: model.Resources{CPU: cpu}})
	}
	gang := func(g model.Group) engine.Change {
		g.ID, g.Policy, g.MinCount = "g", model.Gang, 3
		return engine.PutGroup(&g)
	}
	top := engine.PutGroup(&model.Group{ID: "top", Composite: true})
	for name, c := range map[string]struct {
		changes       []engine.Change
		node, message string
	}{
		"room for all":     {[]engine.Change{gang(model.Group{}), member("a", 400), member("b", 400), member("c", 400)}, "n1", ""},
		"room for two":     {[]engine.Change{gang(model.Group{}), member("a", 600), member("b", 600), member("c", 700)}, "", `group is unschedulable, 0/1 placements are available, first placement status: minCount (3) cannot be satisfied: 2 scheduled, 0 remaining; workload "c": 0/2 nodes are available: 2 Insufficient cpu.`},
		"too few":          {[]engine.Change{gang(model.Group{}), member("a", 400), member("b", 400)}, "", "waiting for minCount workloads from a gang to appear in scheduling queue"},
		"no group":         {[]engine.Change{member("a", 400)}, "", `group "g" is not there`},
		"no parent":        {[]engine.Change{gang(model.Group{Parent: "top"}), member("a", 400)}, "", `group "top" is not there`},
		"parent no parent": {[]engine.Change{gang(model.Group{Parent: "top"}), member("a", 400), engine.PutGroup(&model.Group{ID: "top"})}, "", `group "top" is not composite, and group "g" names it as its parent`},
		"no workloads":     {[]engine.Change{member("a", 400), engine.PutGroup(&model.Group{ID: "g", Composite: true})}, "", `group "g" is composite: it has groups, and no workloads`},
		"in a tree":        {[]engine.Change{top, gang(model.Group{Parent: "top"}), member("a", 400), member("b", 400), member("c", 400)}, "n1", ""},
		"other priorities": {[]engine.Change{gang(model.Group{Priority: 10}), member("a", 400), member("b", 400), member("c", 400)}, "", `group "g": all workloads in a single group should have the same priority as the group's priority, got 0 and 10`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			require.NoError(t, r.Apply(epoch, append(c.changes, node("n1", 1000), node("n2", 1000))...))
			e, err := r.Explain(epoch, "a", engine.ExplainOptions{})
			require.NoError(t, err)
			require.Equal(t, c.message, e.Message)
			require.Equal(t, c.node, e.Node)
			require.Equal(t, c.message == "", len(e.Reasons) == 0)
		})
	}
}
