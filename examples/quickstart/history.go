package main

import (
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// history is what happened, as far as the report needs it. The engine calls its
// listener one event at a time; it is read when the engine has ended.
type history struct {
	open    int             // workloads whose outcome is not known yet
	ended   map[string]bool // the others
	decided func(n int)     // told how many outcomes are known
	done    chan struct{}   // closed when all are
	order   map[string]int  // of the filters, by plugin

	placed    []*model.Workload // in order of decision
	obstacles map[string]int    // pending workloads by what stands in their way
	puzzle    *model.Workload   // the last of the pending ones that most plugins rejected
	rejectors int               // how many plugins rejected the puzzle
	failure   error
}

func newHistory(workloads int, decided func(int)) *history {
	return &history{
		open: workloads, ended: map[string]bool{}, decided: decided,
		done: make(chan struct{}), order: filterOrder(), obstacles: map[string]int{},
	}
}

func (h *history) listener() engine.Listener {
	return engine.Listener{
		Reserved: func(e engine.PlacedEvent) { h.placed = append(h.placed, e.Workload) },
		Bound:    func(e engine.PlacedEvent) { h.end(e.Workload) },
		Rejected: h.rejected,
		Failed:   func(e engine.FailedEvent) { h.failure = e.Err },
	}
}

// end counts an outcome. A workload that is tried again has had its outcome.
func (h *history) end(w *model.Workload) bool {
	if h.ended[w.ID] {
		return false
	}
	h.ended[w.ID] = true
	h.open--
	h.decided(len(h.ended))
	if h.open == 0 {
		close(h.done)
	}
	return true
}

func (h *history) rejected(e engine.RejectedEvent) {
	if e.Err != nil {
		h.failure = e.Err
	}
	if !h.end(e.Workload) {
		return
	}
	h.obstacles[obstacle(h.order, e)]++
	if len(e.Plugins) >= h.rejectors {
		h.rejectors, h.puzzle = len(e.Plugins), e.Workload
	}
}

// obstacle says in a few words what stands in the way of a workload. Every node
// has its reason; the telling one is that of the nodes which came closest:
// where less load would help, and of those the ones that failed last.
func obstacle(order map[string]int, e engine.RejectedEvent) string {
	type place struct {
		resolvable bool
		filter     int
	}
	var best place
	reasons := map[string]int{}
	for _, st := range e.Diagnosis.Nodes() {
		at := place{st.Code() == extpoints.Unschedulable, order[st.Plugin()]}
		if at.resolvable && !best.resolvable || at.resolvable == best.resolvable && at.filter > best.filter {
			best = at
			clear(reasons)
		}
		if at == best {
			reasons[st.Message()]++
		}
	}
	if len(reasons) == 0 {
		return e.Message
	}
	return byCount(reasons)[0]
}

// filterOrder is the place of each plugin in the profile.
func filterOrder() map[string]int {
	order := map[string]int{}
	for i, p := range profile().Plugins {
		order[p.Name] = i
	}
	return order
}
