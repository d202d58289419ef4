package engine

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// command is something that a plugin asked for, possibly from another
// goroutine. The engine carries commands out one after the other when it is
// done with what it is doing.
type command struct {
	Allow    string   `json:",omitempty"` // workload
	Reject   string   `json:",omitempty"` // workload
	Task     uint64   `json:",omitempty"` // which attempt of the workload is meant
	Plugin   string   `json:",omitempty"` // who allows or rejects
	Reason   string   `json:",omitempty"`
	Activate []string `json:",omitempty"`
}

// commandList collects commands; it may be used by any goroutine.
type commandList struct {
	mu   sync.Mutex
	list []command
	wake func() // told that there is something; may be nil
	// deaf lists take nothing in: in a replay the commands come from the log.
	deaf bool
}

func (l *commandList) add(c command) {
	l.mu.Lock()
	if !l.deaf {
		l.list = append(l.list, c)
	}
	wake := l.wake
	l.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (l *commandList) take() []command {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// waitingList are the workloads that wait on Permit. Plugins read it from any
// goroutine; only the engine changes it.
type waitingList struct {
	mu       sync.Mutex
	byID     map[string]*waiting
	commands *commandList
	// due is no later than the earliest deadline of all. It is made exact only
	// when it has come, so that waiting costs nothing meanwhile.
	due time.Time
}

// waiting is one of them. Its pending list is guarded by the list's lock.
type waiting struct {
	list    *waitingList
	task    *Task
	pending []permitDeadline // in order of the profile
}

type permitDeadline struct {
	framework.PermitWait
	at time.Time
}

var _ extpoints.WaitingWorkload = (*waiting)(nil)
var _ extpoints.WaitingWorkloads = (*waitingList)(nil)

func (w *waiting) Workload() *extpoints.WorkloadInfo { return w.task.cycle.Info }
func (w *waiting) Node() string                      { return w.task.cycle.Binding.Node }

func (w *waiting) PendingPlugins() []string {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	names := make([]string, len(w.pending))
	for i := range w.pending {
		names[i] = w.pending[i].Plugin
	}
	return names
}

func (w *waiting) Allow(plugin string) {
	w.list.commands.add(command{Allow: w.task.cycle.Info.ID, Task: w.task.number, Plugin: plugin})
}

func (w *waiting) Reject(plugin, reason string) {
	w.list.commands.add(command{Reject: w.task.cycle.Info.ID, Task: w.task.number, Plugin: plugin, Reason: reason})
}

func (l *waitingList) Each(f func(extpoints.WaitingWorkload) bool) {
	for _, w := range l.sorted() {
		if !f(w) {
			return
		}
	}
}

func (l *waitingList) sorted() []*waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*waiting, 0, len(l.byID))
	for _, w := range l.byID {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b *waiting) int { return strings.Compare(a.task.cycle.Info.ID, b.task.cycle.Info.ID) })
	return list
}

func (l *waitingList) Get(id string) extpoints.WaitingWorkload {
	if w := l.get(id); w != nil {
		return w
	}
	return nil
}

func (l *waitingList) get(id string) *waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// is reports whether the workload waits, in the attempt of the task's number.
func (l *waitingList) is(id string, task uint64) bool {
	w := l.get(id)
	return w != nil && w.task.number == task
}

func (l *waitingList) put(w *waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := w.first().at; len(l.byID) == 0 || at.Before(l.due) {
		l.due = at
	}
	if l.byID == nil {
		l.byID = map[string]*waiting{}
	}
	l.byID[w.task.cycle.Info.ID] = w
}

func (l *waitingList) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, id)
}

// nextDue is no later than the earliest deadline of all.
func (l *waitingList) nextDue() (due time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.due, len(l.byID) > 0
}

// setDue makes due exact.
func (l *waitingList) setDue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := true
	for _, w := range l.byID {
		if at := w.first().at; first || at.Before(l.due) {
			l.due, first = at, false
		}
	}
}

// first is the deadline that comes first, the earlier plugin's where two fall
// together.
func (w *waiting) first() permitDeadline {
	return slices.MinFunc(w.pending, func(a, b permitDeadline) int { return a.at.Compare(b.at) })
}

// allow strikes the plugin off the list and reports whether it is empty now.
func (w *waiting) allow(plugin string) bool {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	w.pending = slices.DeleteFunc(w.pending, func(d permitDeadline) bool { return d.Plugin == plugin })
	return len(w.pending) == 0
}

// wait parks a workload until its Permit plugins have made up their minds.
func (r *Raw) wait(t *Task, waits []framework.PermitWait) {
	c := t.cycle
	w := &waiting{list: &r.waiting, task: t}
	names := make([]string, len(waits))
	for i, wait := range waits {
		w.pending = append(w.pending, permitDeadline{wait, c.Now.Add(wait.Timeout)})
		names[i] = wait.Plugin
	}
	r.waiting.put(w)
	r.listener.Waiting(WaitingEvent{
		PlacedEvent: PlacedEvent{At: c.Now, Workload: c.Info.Workload, Binding: c.Binding},
		Plugins:     names, Until: w.first().at,
	})
}

// allow is one plugin's consent.
func (r *Raw) allow(now time.Time, id, plugin string) {
	w := r.waiting.get(id)
	if w == nil || !w.allow(plugin) {
		return
	}
	r.waiting.remove(id)
	w.task.cycle.Now = now
	r.permitted(w.task)
}

// rejectWaiting turns down a workload that waits on Permit.
func (r *Raw) rejectWaiting(now time.Time, id string, st *extpoints.Status) {
	w := r.waiting.get(id)
	if w == nil {
		return
	}
	r.waiting.remove(id)
	w.task.cycle.Now = now
	r.failBinding(w.task, st)
}

// expire rejects the workloads whose time on Permit has run out, the earliest
// first.
func (r *Raw) expire(now time.Time) {
	if due, ok := r.waiting.nextDue(); !ok || due.After(now) {
		return
	}
	defer r.waiting.setDue()
	list := r.waiting.sorted()
	slices.SortStableFunc(list, func(a, b *waiting) int { return a.first().at.Compare(b.first().at) })
	for _, w := range list {
		if first := w.first(); !first.at.After(now) {
			r.rejectWaiting(now, w.task.cycle.Info.ID, framework.PermitTimeout(first.PermitWait))
		}
	}
}
