package decide

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Hopeless reports whether no node could take the workload, whatever left the nodes: of each node a filter
// that goes by the node alone says UnschedulableAndUnresolvable. No other plugin is asked, as those may change their
// mind when something leaves another node, or comes to one: the answer stays until a node is changed,
// comes or goes. It leaves the decider as it is, and ends with the first node that there is hope for.
// Where there is no node nothing is known.
func (d *Decider) Hopeless(now time.Time, info *extpoints.WorkloadInfo) bool {
	if info.MinLimit > 0 {
		return false // there may be hope with a shorter limit
	}
	asked := *d
	asked.scratch, asked.Meter, asked.trial = scratch{}, nil, true
	c := asked.newCycle(now, info, nil, extpoints.CycleOptions{})
	nodes := c.nodes()
	if nodes.Len() == 0 {
		return false
	}
	c.pre = c.Framework.PreFilterLocal(c.State, c.Info)
	n, at := c.candidates(nodes)
	for i := range n {
		if !c.Framework.RejectsForGood(c.State, c.Info, at(i)) {
			return false
		}
	}
	return true
}
