package tasks

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// Permits are the workloads that wait on Permit. Plugins read it from any
// goroutine; only the engine changes it.
type Permits struct {
	mu       sync.Mutex
	byID     map[string]*Waiting
	commands *Commands
	// due is no later than the earliest deadline of all. It is made exact only
	// when it has come, so that waiting costs nothing meanwhile.
	due time.Time
}

// Waiting is one of them. Its pending list is guarded by the list's lock.
type Waiting struct {
	list    *Permits
	Task    *Task
	Since   time.Time  // when it began to wait
	pending []Deadline // in order of the profile
}

// Deadline is when a plugin gives up.
type Deadline struct {
	framework.PermitWait
	At time.Time
}

// NewPermits returns an empty list; what plugins say of those that wait goes to the
// commands.
func NewPermits(c *Commands) *Permits { return &Permits{commands: c, byID: map[string]*Waiting{}} }

var _ extpoints.WaitingWorkload = (*Waiting)(nil)
var _ extpoints.WaitingWorkloads = (*Permits)(nil)

// Workload implements [extpoints.WaitingWorkload].
func (w *Waiting) Workload() *extpoints.WorkloadInfo { return w.Task.Member.Info }

// Node implements [extpoints.WaitingWorkload].
func (w *Waiting) Node() string { return w.Task.Member.Binding.Node }

// PendingPlugins implements [extpoints.WaitingWorkload].
func (w *Waiting) PendingPlugins() []string {
	pending := w.Pending()
	names := make([]string, len(pending))
	for i := range pending {
		names[i] = pending[i].Plugin
	}
	return names
}

// Pending lists the plugins that it waits for, in order of the profile.
func (w *Waiting) Pending() []Deadline {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	return slices.Clone(w.pending)
}

// Allow implements [extpoints.WaitingWorkload].
func (w *Waiting) Allow(plugin string) {
	w.list.commands.Add(Command{Allow: w.Task.Member.Info.ID, Task: w.Task.Number, Plugin: plugin})
}

// Reject implements [extpoints.WaitingWorkload].
func (w *Waiting) Reject(plugin, reason string) {
	w.list.commands.Add(Command{Reject: w.Task.Member.Info.ID, Task: w.Task.Number, Plugin: plugin, Reason: reason})
}

// Each implements [extpoints.WaitingWorkloads].
func (l *Permits) Each(f func(extpoints.WaitingWorkload) bool) {
	for _, w := range l.Sorted() {
		if !f(w) {
			return
		}
	}
}

// Sorted lists them by ID.
func (l *Permits) Sorted() []*Waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*Waiting, 0, len(l.byID))
	for _, w := range l.byID {
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b *Waiting) int { return strings.Compare(a.Task.Member.Info.ID, b.Task.Member.Info.ID) })
	return list
}

// Get implements [extpoints.WaitingWorkloads].
func (l *Permits) Get(id string) extpoints.WaitingWorkload {
	if w := l.Of(id); w != nil {
		return w
	}
	return nil
}

// Len is how many wait.
func (l *Permits) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byID)
}

// Of is the workload with the ID, nil where it does not wait.
func (l *Permits) Of(id string) *Waiting {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// Is reports whether the workload waits, in the attempt of the task's number.
func (l *Permits) Is(id string, task uint64) bool {
	w := l.Of(id)
	return w != nil && w.Task.Number == task
}

// Add parks the workload of the binding until its Permit plugins have made up their
// minds.
func (l *Permits) Add(t *Task) *Waiting {
	m := t.Member
	w := &Waiting{list: l, Task: t, Since: m.Now}
	for _, wait := range m.Waits {
		w.pending = append(w.pending, Deadline{wait, m.Now.Add(wait.Timeout)})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := w.First().At; len(l.byID) == 0 || at.Before(l.due) {
		l.due = at
	}
	l.byID[m.Info.ID] = w
	return w
}

// Remove takes the workload out.
func (l *Permits) Remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, id)
}

// NextDue is no later than the earliest deadline of all.
func (l *Permits) NextDue() (due time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.due, len(l.byID) > 0
}

// Expired lists those whose time has run out, the earliest first. The caller takes them
// out and then calls SetDue.
func (l *Permits) Expired(now time.Time) []*Waiting {
	list := slices.DeleteFunc(l.Sorted(), func(w *Waiting) bool { return w.First().At.After(now) })
	slices.SortStableFunc(list, func(a, b *Waiting) int { return a.First().At.Compare(b.First().At) })
	return list
}

// SetDue makes the next deadline exact.
func (l *Permits) SetDue() {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := true
	for _, w := range l.byID {
		if at := w.First().At; first || at.Before(l.due) {
			l.due, first = at, false
		}
	}
}

// First is the deadline that comes first, the earlier plugin's where two fall
// together.
func (w *Waiting) First() Deadline {
	return slices.MinFunc(w.pending, func(a, b Deadline) int { return a.At.Compare(b.At) })
}

// Allowed is one plugin's consent. It reports whether no other is missing.
func (w *Waiting) Allowed(plugin string) bool {
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	w.pending = slices.DeleteFunc(w.pending, func(d Deadline) bool { return d.Plugin == plugin })
	return len(w.pending) == 0
}
