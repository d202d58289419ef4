package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
)

// decisionMemory remembers the most recent decisions: not what the nodes
// scored, but all that is needed to decide again. The view of a decision is
// persistent, so that remembering it costs only the few chunks that changed
// until the next.
type decisionMemory struct {
	limit int
	byID  map[string]*decision
	ring  []*decision // oldest first from next on
	next  int
}

// decision is one of them.
type decision struct {
	info   *extpoints.WorkloadInfo
	fw     *framework.Framework
	view   *snapshot.View
	part   *within
	start  int
	number uint64
	at     time.Time
	node   string
	// created tells the workload from another of the same ID.
	created uint64
}

// remember keeps the cycle's decision in place of the oldest.
func (m *decisionMemory) remember(c *cycle) {
	if m.limit <= 0 {
		return
	}
	d := &decision{
		info: c.info, fw: c.fw, view: c.view, start: c.start,
		part: c.part, number: c.number, at: c.now, node: c.binding.Node,
		created: c.created,
	}
	if m.byID == nil {
		m.byID = make(map[string]*decision, m.limit)
	}
	if len(m.ring) < m.limit {
		m.ring = append(m.ring, d)
	} else {
		oldest := m.ring[m.next]
		if m.byID[oldest.info.ID] == oldest {
			delete(m.byID, oldest.info.ID)
		}
		m.ring[m.next] = d
		m.next = (m.next + 1) % m.limit
	}
	m.byID[d.info.ID] = d
}

// of returns the last remembered decision about a workload, nil for none.
func (m *decisionMemory) of(id string) *decision { return m.byID[id] }
