package scheduler

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// blocked are the attempts that the engine has tried and not placed. The engine adds
// to it, the controller takes out what is placed or withdrawn.
type blocked struct {
	mu       sync.Mutex
	attempts map[job.TaskID]*blockedAttempt // by the task of rank 0
	changes  uint64                         // counts what came and went
}

// blockedAttempt is an attempt that was not placed when it was last tried.
type blockedAttempt struct {
	id       job.TaskID // of rank 0
	workload string     // one of its tasks that wait
	priority int32
	at       time.Time // the last time it was tried, by the engine's clock
	tried    time.Time // when that was told, by the machine's, which may have been set since
	kept     bool      // room was kept from it then
}

func newBlocked() *blocked { return &blocked{attempts: map[job.TaskID]*blockedAttempt{}} }

// attemptOf names the attempt that a task is of by its task of rank 0.
func attemptOf(id job.TaskID) job.TaskID {
	id.Rank = 0
	return id
}

// inOrder compares attempts in the order in which the engine tries them; see order.
func inOrder(priority int32, id job.TaskID, otherPriority int32, other job.TaskID) int {
	return cmp.Or(cmp.Compare(otherPriority, priority), id.Compare(other))
}

// compare compares attempts, of which one may have been promised something: it goes
// before others of the same priority.
func (a *blockedAttempt) compare(o *blockedAttempt, promised job.TaskID) int {
	if a.priority == o.priority {
		switch promised {
		case a.id:
			return -1
		case o.id:
			return 1
		}
	}
	return inOrder(a.priority, a.id, o.priority, o.id)
}

// rejected is told by the engine.
func (b *blocked) rejected(e engine.RejectedEvent) {
	id, err := job.ParseTaskID(e.Workload.ID)
	if err != nil || e.Code == extpoints.Error {
		return
	}
	id = attemptOf(id)
	kept := slices.Contains(e.Plugins, backfillName)
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.attempts[id]
	if a == nil {
		a = &blockedAttempt{id: id, priority: e.Workload.Priority}
		b.attempts[id] = a
		b.changes++
	}
	a.kept = kept || a.kept && a.at.Equal(e.At) // another task of the same gang
	a.workload, a.at, a.tried = e.Workload.ID, e.At, time.Now()
}

// forget takes the attempt of a task out.
func (b *blocked) forget(id job.TaskID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id = attemptOf(id)
	if b.attempts[id] != nil {
		delete(b.attempts, id)
		b.changes++
	}
}

// has reports whether the attempt is there.
func (b *blocked) has(id job.TaskID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempts[id] != nil
}

// version changes when an attempt comes or goes.
func (b *blocked) version() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changes
}

// first are the first so many for which the condition holds, in the order in which
// they are tried, but for the one that was promised something. It looks at all, but
// sorts few.
func (b *blocked) first(n int, promised job.TaskID, condition func(*blockedAttempt) bool) []blockedAttempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := func(x, y blockedAttempt) int { return x.compare(&y, promised) }
	var out []blockedAttempt
	full := false // what does not go before the n-th is of no interest
	for _, a := range b.attempts {
		if full && a.compare(&out[n-1], promised) > 0 || !condition(a) {
			continue
		}
		if out = append(out, *a); len(out) == 2*n {
			slices.SortFunc(out, order)
			out, full = out[:n], true
		}
	}
	slices.SortFunc(out, order)
	return out[:min(n, len(out))]
}
