package engine_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// The queues of a history: two at the top, and two below the first; and who has workloads in them.
var (
	historyQueues     = []string{"lab", "shop", "lab-a", "lab-b"}
	historyPrincipals = []string{"", "ann", "bob"}
	historyPolicies   = []model.OrderPolicy{"", model.OrderFIFO, model.OrderPriority, model.OrderUsage}
)

// putQueues defines them, where the order is by queues.
func (h *plannedHistory) putQueues() {
	if h.how.by != engine.OrderByQueues {
		return
	}
	for _, name := range historyQueues {
		h.apply(engine.PutObject(h.queue(name)))
	}
	for _, name := range historyPrincipals[1:] {
		h.apply(engine.PutObject(&model.Principal{Name: name, Shares: h.rng.Int64N(3)}))
	}
	h.apply(engine.PutObject(h.limit()))
}

func (h *plannedHistory) queue(name string) *model.Queue {
	q := &model.Queue{Name: name, Weight: h.rng.Int64N(4), Policy: historyPolicies[h.rng.IntN(len(historyPolicies))]}
	if q.Policy == model.OrderUsage {
		q.HalfLife = time.Minute
	}
	if len(name) > 4 {
		q.Parent = "lab"
	}
	if h.chance(30) {
		q.Max = map[string]int64{model.CPU: 1000 * int64(4+h.rng.IntN(20))}
	}
	if h.chance(20) {
		q.Guaranteed = map[string]int64{model.CPU: 1000 * int64(h.rng.IntN(4))}
		q.Lend = map[string]int64{model.CPU: 1000 * int64(h.rng.IntN(2))}
	}
	return q
}

func (h *plannedHistory) limit() *model.Limit {
	l := &model.Limit{Name: "l", Queue: historyQueues[h.rng.IntN(len(historyQueues))], Scope: model.LimitSubtree, Measure: model.LimitRunning, Amount: 1 + h.rng.Int64N(6)}
	if h.chance(50) {
		l.Scope = model.LimitEachPrincipal
	}
	return l
}

// enqueue gives the workload a queue and a principal.
func (h *plannedHistory) enqueue(w *model.Workload) {
	if h.how.by == engine.OrderByQueues {
		w.Queue, w.Principal = historyQueues[h.rng.IntN(len(historyQueues))], historyPrincipals[h.rng.IntN(len(historyPrincipals))]
	}
}

// inputQueues changes a definition.
func (h *plannedHistory) inputQueues() {
	if h.how.by != engine.OrderByQueues {
		return
	}
	h.happens.cluster = true
	if h.chance(30) {
		h.apply(engine.PutObject(h.limit()))
		return
	}
	h.apply(engine.PutObject(h.queue(historyQueues[h.rng.IntN(len(historyQueues))])))
}

// turns has for each that waits, and is not held back, those before it.
func (h *plannedHistory) turns() map[string]map[string]bool {
	before, order := map[string]map[string]bool{}, map[string]bool{}
	for _, it := range h.r.InTurn() {
		before[it.ID()] = map[string]bool{}
		for id := range order {
			before[it.ID()][id] = true
		}
		order[it.ID()] = true
	}
	return before
}

// passed reports whether something is before the one now that was not.
func passed(id string, was, is map[string]map[string]bool) bool {
	for other := range is[id] {
		if !was[id][other] {
			return true
		}
	}
	return false
}

// heldBack reports whether a quota or a limit keeps the workload, or would keep one before it.
func (h *plannedHistory) heldBack(id string) bool {
	if h.how.by != engine.OrderByQueues {
		return false
	}
	p, _ := h.r.Promise(id)
	e, err := h.r.Explain(h.now, id, engine.ExplainOptions{})
	require.NoError(h, err)
	return p.Held != nil || e.Last != nil && strings.Contains(e.Last.Message, ": with both, ")
}

// String says which way it is.
func (w plannedWay) String() string {
	return fmt.Sprintf("%+v %v, holds %v", w.Backfill, w.by, w.holds)
}
