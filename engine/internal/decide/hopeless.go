package decide

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Hopeless reports whether no node could take the workload, whatever left the nodes: of each node a filter
// that goes by the node alone says UnschedulableAndUnresolvable. Other filters may change their mind when
// something leaves another node, or comes to one. It leaves the decider as it is, and ends with the first
// node that there is hope for. Where there is no node, and where PreFilter rejects, nothing is known.
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
	if c.pre = c.Framework.PreFilter(c.State, c.Info); c.pre.Status != nil {
		return false
	}
	if !c.Framework.NarrowedLocally(&c.pre, c.State, c.Info) {
		return false
	}
	n, at := c.candidates(nodes)
	for i := range n {
		if !c.Framework.FilterWithNominated(c.State, c.Info, at(i)).Lasts(c.State, c.Info) {
			return false
		}
	}
	return true
}
