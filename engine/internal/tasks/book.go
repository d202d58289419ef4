package tasks

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Book knows the tasks that are not finished.
type Book struct {
	orchestrator extpoints.Orchestrator
	number       uint64 // how many tasks were made

	bindings  map[string]*Task // by workload
	evictions map[string]*Task // by workload
	releases  map[string]*Task // by claim

	// binding is how many of the bindings are past Permit and still wanted.
	binding int

	ready   []*Task // bindings that nobody has taken yet
	leaving []*Task // evictions and releases that nobody has taken yet
	off     []*Task // tasks that were called off, those among them that nobody has taken yet
}

// NewBook returns an empty book.
func NewBook(o extpoints.Orchestrator) *Book {
	return &Book{orchestrator: o, bindings: map[string]*Task{}, evictions: map[string]*Task{}, releases: map[string]*Task{}}
}

func (b *Book) newTask() *Task {
	b.number++
	return &Task{orchestrator: b.orchestrator, Number: b.number}
}

// Bind makes the binding of a member whose node is recorded. It is not ready yet: it
// may have to wait on Permit.
func (b *Book) Bind(m *Member) *Task {
	t := b.newTask()
	t.Member = m
	b.bindings[m.Info.ID] = t
	return t
}

// Ready puts a binding that Permit has let through among those that can be taken.
func (b *Book) Ready(now time.Time, t *Task) {
	t.Permitted, t.Since = true, now
	b.binding++
	b.ready = append(b.ready, t)
}

// Abandon gives a binding up whose workload is no longer wanted there; see Task.Abandoned.
func (b *Book) Abandon(now time.Time, t *Task, cause error) {
	if t.Abandoned() {
		return
	}
	if t.Permitted {
		b.binding--
	}
	t.Since = now
	t.abandon(cause)
	b.calledOff(t)
}

// Stop ends a task that is to come, or under way but not at Bind yet; the outcome still counts.
func (b *Book) Stop(t *Task, cause error) {
	t.Stop(cause)
	b.calledOff(t)
}

// calledOff takes note of the task. Of those noted only who waits to be taken is kept, each once, as soon as
// there are many: an engine without Run takes its tasks in their order, and asks for none of these.
func (b *Book) calledOff(t *Task) {
	b.off = append(b.off, t)
	if len(b.off) <= 2*(len(b.ready)+len(b.leaving))+8 {
		return
	}
	waits := make(map[*Task]bool, len(b.ready)+len(b.leaving))
	for _, t := range slices.Concat(b.ready, b.leaving) {
		waits[t] = true
	}
	b.off = slices.DeleteFunc(b.off, func(t *Task) bool {
		keep := waits[t]
		delete(waits, t)
		return !keep
	})
}

// NextCalledOff takes out a task that was called off before anybody has taken it, which ends
// at once when it is run; nil where there is none.
func (b *Book) NextCalledOff() *Task {
	for len(b.off) > 0 {
		t := b.off[0]
		b.off = b.off[1:]
		if b.Take(func(other *Task) bool { return other == t }) != nil {
			return t
		}
	}
	return nil
}

// Binding is how many bindings are past Permit and still wanted.
func (b *Book) Binding() int { return b.binding }

// Evict makes an eviction, ready to be taken.
func (b *Book) Evict(e *Eviction) {
	t := b.newTask()
	t.Evict = e
	b.evictions[e.Workload.ID] = t
	b.leaving = append(b.leaving, t)
}

// Release makes a release, ready to be taken, unless there is one of the claim.
func (b *Book) Release(r *Release) {
	if b.releases[r.Claim.ID] != nil {
		return
	}
	t := b.newTask()
	t.Release = r
	b.releases[r.Claim.ID] = t
	b.leaving = append(b.leaving, t)
}

// UnderWay is how many tasks are not finished.
func (b *Book) UnderWay() int { return len(b.bindings) + len(b.evictions) + len(b.releases) }

// Made is how many tasks were made.
func (b *Book) Made() uint64 { return b.number }

// Resume counts on from so many tasks.
func (b *Book) Resume(made uint64) { b.number = made }

// Of is the binding of the workload, nil where there is none.
func (b *Book) Of(workload string) *Task { return b.bindings[workload] }

// Bindings lists the workloads that have a binding, by ID and in no order.
func (b *Book) Bindings() iter.Seq[string] { return maps.Keys(b.bindings) }

// Eviction is the eviction of the workload, nil where there is none.
func (b *Book) Eviction(workload string) *Task { return b.evictions[workload] }

// Forget strikes the task out, if it is the one of its workload or claim. It reports
// whether it was.
func (b *Book) Forget(t *Task) bool {
	list, key := b.bindings, t.Workload().ID
	switch {
	case t.Evict != nil:
		list = b.evictions
	case t.Release != nil:
		list, key = b.releases, t.Release.Claim.ID
	}
	if list[key] != t {
		return false
	}
	delete(list, key)
	if t.Permitted && !t.Abandoned() {
		b.binding--
	}
	return true
}

// NextBinding is the next binding that is ready, nil where there is none; take takes it
// out.
func (b *Book) NextBinding(take bool) *Task { return first(&b.ready, take) }

// NextBindingTo takes out the next binding that is ready and whose node may have one;
// nil where there is none.
func (b *Book) NextBindingTo(may func(node string) bool) *Task { return firstOn(&b.ready, may) }

// NextLeavingFrom is NextBindingTo for evictions and releases.
func (b *Book) NextLeavingFrom(may func(node string) bool) *Task { return firstOn(&b.leaving, may) }

// firstOn takes out the first of the list whose node may have one, nil where there is none.
func firstOn(list *[]*Task, may func(node string) bool) *Task {
	full := "" // the node of the last one: of one that is drained there are many in a row
	i := slices.IndexFunc(*list, func(t *Task) bool {
		node := t.Node()
		if node != "" && node == full || !may(node) {
			full = node
			return false
		}
		return true
	})
	switch i {
	case -1:
		return nil
	case 0:
		return first(list, true) // does not move the rest
	}
	t := (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return t
}

// CancelTo ends the bindings to a node, at whatever stage. Their outcomes count.
func (b *Book) CancelTo(node string, cause error) {
	for _, t := range b.bindings {
		if t.Node() == node {
			t.Cancel(cause)
		}
	}
	for _, t := range b.ready { // in order
		if t.Node() == node {
			b.calledOff(t)
		}
	}
}

// NextEviction is NextBinding for evictions and releases.
func (b *Book) NextEviction(take bool) *Task { return first(&b.leaving, take) }

// first returns the first of the list, nil where it is empty, and takes it out
// if it is to be taken.
func first(list *[]*Task, take bool) *Task {
	if len(*list) == 0 {
		return nil
	}
	t := (*list)[0]
	if take {
		(*list)[0] = nil
		*list = (*list)[1:]
	}
	return t
}

// Take takes the first task that is the one out of those that nobody has taken; nil
// where there is none.
func (b *Book) Take(is func(*Task) bool) *Task {
	for _, list := range []*[]*Task{&b.ready, &b.leaving} {
		if i := slices.IndexFunc(*list, is); i >= 0 {
			t := (*list)[i]
			*list = slices.Delete(*list, i, i+1)
			return t
		}
	}
	return nil
}

// Leaving is the eviction of the workload that is under way, as a task of its own or by
// calling off the binding, nil for none; nil where there is no eviction.
func (b *Book) Leaving(workload string, binding *Task) *Eviction {
	if t := b.evictions[workload]; t != nil {
		return t.Evict
	}
	if binding != nil {
		return binding.Evicted
	}
	return nil
}
