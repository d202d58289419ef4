package decide

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Memory keeps the most recent decisions: not what the nodes scored, but all that is
// needed to decide again. The view of a decision is persistent, so keeping it costs
// only the few chunks that changed until the next.
type Memory struct {
	// Limit is how many decisions are kept; none where it is not positive.
	Limit int

	byID map[string]*Remembered
	ring []*Remembered // oldest first from next on
	next int
}

// Remembered is a decision that can be made again.
type Remembered struct {
	At        time.Time
	Info      *extpoints.WorkloadInfo
	Framework *framework.Framework
	// Node is the one that was chosen; empty for a decision that is yet to come.
	Node string
	// Created is the CreateIndex of the workload's row: it tells the workload from
	// another of the same ID.
	Created uint64

	options Options
	view    *snapshot.View
	queues  framework.Queues // as they were defined then; nil where the order is another
	delays  []delay
	part    *within
	start   int
	number  uint64
}

// Remember keeps the cycle's decision in place of the oldest.
func (m *Memory) Remember(c *Cycle, created uint64) {
	if m.Limit <= 0 {
		return
	}
	r := Recall(c, created)
	if m.byID == nil {
		m.byID = make(map[string]*Remembered, m.Limit)
	}
	if len(m.ring) < m.Limit {
		m.ring = append(m.ring, r)
	} else {
		oldest := m.ring[m.next]
		if m.byID[oldest.Info.ID] == oldest {
			delete(m.byID, oldest.Info.ID)
		}
		m.ring[m.next] = r
		m.next = (m.next + 1) % m.Limit
	}
	m.byID[r.Info.ID] = r
}

// Recall is the decision of the cycle, as it is remembered.
func Recall(c *Cycle, created uint64) *Remembered {
	return &Remembered{
		At: c.Now, Info: c.Info, Framework: c.Framework, Node: c.Binding.Node, Created: created,
		options: c.d.Options, view: c.View, queues: c.d.queuesOf(c.View), delays: c.delays, part: c.part, start: c.start, number: c.number,
	}
}

// Led reports whether it is the decision that led to the node of the row with the CreateIndex. A nil one is not.
func (r *Remembered) Led(node string, created uint64) bool {
	return r != nil && r.Node == node && r.Created == created
}

// queuesOf are the queues as they are defined now, for those who look at the view later.
func (d *Decider) queuesOf(view *snapshot.View) framework.Queues {
	if d.QueuesOf == nil {
		return nil
	}
	return d.QueuesOf(&record.Record{Store: d.Record.Store.Snapshot(), View: view})
}

// Of returns the last remembered decision about a workload, nil for none.
func (m *Memory) Of(id string) *Remembered { return m.byID[id] }

// Upcoming is the decision that would be made about the workload now if nothing were planned ahead.
func (d *Decider) Upcoming(now time.Time, info *extpoints.WorkloadInfo) *Remembered {
	view := d.Record.View.Fork()
	return &Remembered{
		At: now, Info: info, Framework: d.Profiles.Of(info.Workload),
		options: d.Options, view: view, queues: d.queuesOf(view), start: d.start, number: d.decisions + 1,
	}
}

// Only is the decision if there were no node but the one with the name.
func (r *Remembered) Only(node string) *Remembered {
	one := *r
	one.part = only(r.view, nil, node)
	return &one
}

// Again starts the cycle of the decision once more, on the view that it was made on.
// Raw scores are kept. all: look at every node, and score even a single one.
func (r *Remembered) Again(all bool) *Cycle {
	d := &Decider{
		Options: r.options, Record: &record.Record{View: r.view}, Queues: r.queues,
		start: r.start, decisions: r.number - 1, trial: true,
	}
	run := d.newRun(extpoints.CycleOptions{View: r.view, Now: r.At})
	delayed := make(map[*extpoints.NodeInfo]*extpoints.Status, len(r.delays))
	for _, d := range r.delays {
		delayed[d.on] = d.why
	}
	return &Cycle{
		d: d, run: run, tell: Silence{}, Now: r.At, Info: r.Info, Framework: r.Framework, View: r.view, part: r.part,
		keepRaw: true, all: all, delayed: delayed,
		State:   run.State(),
		Binding: model.Binding{Workload: r.Info.ID, Limit: r.Info.GrantedLimit},
	}
}
