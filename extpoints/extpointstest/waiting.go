package extpointstest

import (
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/extpoints"
)

// Waiting is an [extpoints.WaitingWorkloads] that writes down what happens to
// its workloads, and leaves carrying it out to the test. Its methods may be
// called from any goroutine; Workloads must be set before.
type Waiting struct {
	// Workloads are those that wait, in any order.
	Workloads []WaitingOn

	mu   sync.Mutex
	said []string
}

// WaitingOn is a workload that waits on Permit.
type WaitingOn struct {
	Info    *extpoints.WorkloadInfo // what Workload returns; its ID is unique
	On      string                  // node
	Plugins []string                // that have not allowed it yet
}

// Said lists the calls so far: "allow <workload> by <plugin>", and "reject
// <workload> by <plugin>: <reason>".
func (w *Waiting) Said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

func (w *Waiting) say(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

// Each implements [extpoints.WaitingWorkloads].
func (w *Waiting) Each(f func(extpoints.WaitingWorkload) bool) {
	list := slices.Clone(w.Workloads)
	slices.SortFunc(list, func(a, b WaitingOn) int { return strings.Compare(a.Info.ID, b.Info.ID) })
	for _, on := range list {
		if !f(waitingWorkload{w, on}) {
			return
		}
	}
}

// Get implements [extpoints.WaitingWorkloads].
func (w *Waiting) Get(id string) extpoints.WaitingWorkload {
	i := slices.IndexFunc(w.Workloads, func(on WaitingOn) bool { return on.Info.ID == id })
	if i < 0 {
		return nil
	}
	return waitingWorkload{w, w.Workloads[i]}
}

// waitingWorkload is one of a Waiting.
type waitingWorkload struct {
	of *Waiting
	on WaitingOn
}

func (w waitingWorkload) Workload() *extpoints.WorkloadInfo { return w.on.Info }
func (w waitingWorkload) Node() string                      { return w.on.On }
func (w waitingWorkload) PendingPlugins() []string          { return slices.Clone(w.on.Plugins) }
func (w waitingWorkload) Allow(plugin string)               { w.of.say("allow " + w.on.Info.ID + " by " + plugin) }

func (w waitingWorkload) Reject(plugin, reason string) {
	w.of.say("reject " + w.on.Info.ID + " by " + plugin + ": " + reason)
}

var (
	_ extpoints.WaitingWorkloads = (*Waiting)(nil)
	_ extpoints.WaitingWorkload  = waitingWorkload{}
)
