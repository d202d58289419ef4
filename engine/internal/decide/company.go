package decide

import (
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// company implements [framework.Company] for the workload of a cycle, on a copy of the cluster.
type company struct{ c *Cycle }

var _ framework.Company = company{}

// Fit implements [framework.Company]. What may have to leave is taken off all nodes at once,
// so that what does not fit then never will; what fits may still not all at once.
func (m company) Fit(w *extpoints.WorkloadInfo, others []string, need int) bool {
	d := m.c.d.forkView()
	d.scratch = scratch{}
	defer func() { m.c.d.decisions = d.decisions }()
	d.clear(w)
	members := []*extpoints.WorkloadInfo{w}
	for _, id := range others {
		if row := d.Record.Workload(id); row != nil && id != w.ID {
			members = append(members, row.Info)
		}
	}
	for i, member := range members {
		if len(members)-i < need {
			return false
		}
		if d.place(m.c, member) {
			need--
		}
		if need == 0 {
			return true
		}
	}
	return false
}

// clear takes off what the workload may displace: those of lower priority, by themselves or as
// members of their groups, and where queues say who may be displaced all others.
func (d *Decider) clear(w *extpoints.WorkloadInfo) {
	nodes, groups := d.Record.View.Nodes(), d.Record.View.Groups()
	lower := func(victim *extpoints.WorkloadInfo) bool {
		root := groups.Root(victim.Group)
		return d.Queues != nil || victim.Priority < w.Priority || root != nil && root.Priority < w.Priority
	}
	for i := range nodes.Len() {
		for _, victim := range nodes.At(i).Workloads {
			if (w.Group == "" || victim.Group != w.Group) && lower(victim) {
				d.Record.View.Unplace(victim.ID, nodes.At(i).Node.Name)
				if victim.Group != "" {
					d.Record.View.UnplaceMember(victim)
				}
			}
		}
	}
}

// place tries a workload by itself and, where it gets a node, puts it there.
func (d *Decider) place(of *Cycle, w *extpoints.WorkloadInfo) bool {
	c := d.newCycle(of.Now, w, nil, extpoints.CycleOptions{MakingRoom: true})
	if c.Decide() != nil {
		return false
	}
	if c.Framework.ReserveOnCopy(c.State.Clone, c.Info, &c.Binding) != nil {
		return false
	}
	d.Record.Occupy(c.Info, &c.Binding, of.Now)
	return true
}
