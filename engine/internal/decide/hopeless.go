package decide

import (
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Hopeless reports whether no node could take the workload, whatever left the nodes: PreFilter, or the
// filters on each of them, reject it with UnschedulableAndUnresolvable. It leaves the decider as it is,
// and ends with the first node that there is hope for. Where there is no node nothing is known.
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
	hopeless := func(st *extpoints.Status) bool { return st.Code() == extpoints.UnschedulableAndUnresolvable }
	if c.pre = c.Framework.PreFilter(c.State, c.Info); c.pre.Status != nil {
		return hopeless(c.pre.Status)
	}
	if c.pre.Nodes != nil {
		for _, node := range c.named(nodes) {
			if !hopeless(c.Framework.FilterWithNominated(c.State, c.Info, node).Status) {
				return false
			}
		}
		return true
	}
	for i := range nodes.Len() {
		if !hopeless(c.Framework.FilterWithNominated(c.State, c.Info, nodes.At(i)).Status) {
			return false
		}
	}
	return true
}
