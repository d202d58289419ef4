package decide

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// NotThere is who rejects the nodes that could not start a workload. Like [Backfill] it is not a
// plugin of any profile: the search leaves these nodes out, and the engine itself wakes what
// waits because of it.
const NotThere = "NotThere"

// avoided are the nodes that could not start the workload. Whoever has any depends on the time.
func (c *Cycle) avoided(failed snapshot.FailedStarts) []snapshot.AvoidedNode {
	if !failed.Any(c.Info.ID) {
		return nil
	}
	return failed.Avoided(c.Info.ID, c.State.Now())
}

// avoids reports whether the node could not start the workload lately.
func (c *Cycle) avoids(node string) bool {
	for _, n := range c.avoided(c.View.FailedStarts()) {
		if n.Node == node {
			return true
		}
	}
	return false
}

// leave leaves the nodes out of the part that is looked at.
func (c *Cycle) leave(all *within, own, doubted []snapshot.AvoidedNode) {
	c.out = map[string]*extpoints.Status{}
	for _, n := range doubted {
		c.out[n.Node] = leftOut(extpoints.Unschedulable, "node(s) could not start others and are avoided where there is a choice until", n.Until)
	}
	for _, n := range own {
		c.out[n.Node] = leftOut(extpoints.UnschedulableAndUnresolvable, "node(s) could not start it and are avoided until", n.Until)
	}
	c.part = except(c.View, all, c.out)
}

func leftOut(code extpoints.Code, why string, until time.Time) *extpoints.Status {
	return extpoints.NewStatus(code, fmt.Sprintf("%s %s", why, until.UTC().Format(time.RFC3339))).WithPlugin(NotThere)
}

// leftOut lists the nodes that were left out, in their order.
func (c *Cycle) leftOut() (list []framework.NodeRejection) {
	nodes := c.nodes()
	for i := range nodes.Len() {
		if node := nodes.At(i); c.out[node.Node.Name] != nil {
			list = append(list, framework.NodeRejection{Node: node, Status: c.out[node.Node.Name]})
		}
	}
	return list
}
