package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// large is how many changes in one Apply make it one that readers do not wait for.
const large = 1000

// before is what readers are told while a large Apply is under way: what was before it.
type before struct {
	branch *Branch
	levels []queue.Level
	// places are where all wait that do, and at has the index of each. It is nil where that
	// takes too long to list, and by queues, where each place depends on all the others.
	places []queue.Position
	at     map[string]int
}

// before returns what is now, for those who read while so many changes are made.
func (r *Raw) before(changes int) *before {
	b := &before{branch: r.Branch(), levels: r.Queues()}
	c := r.QueueCounts()
	waiting := c.Active + c.Backoff + c.ErrorBackoff + c.Unschedulable + c.Gated + c.InFlight + c.Incomplete + c.Joining + c.Permit + c.Binding + c.OldBinding
	if r.cfg.Order == OrderByQueues || waiting > changes {
		return b
	}
	b.places, b.at = make([]queue.Position, 0, waiting), make(map[string]int, waiting)
	note := func(id string) {
		if p, waits := r.Queue(id); waits {
			b.at[id] = len(b.places)
			b.places = append(b.places, p)
		}
	}
	for row := range r.rec.Store.WorkloadsIn(model.Pending) {
		note(row.Info.ID)
	}
	for id := range r.tasks.Bindings() {
		note(id)
	}
	return b
}

// place returns where the workload waited; false for nowhere.
func (b *before) place(id string) (queue.Position, bool) {
	at, waits := b.at[id]
	if !waits {
		return queue.Position{}, false
	}
	p := b.places[at]
	p.UnschedulablePlugins, p.PendingPlugins = slices.Clone(p.UnschedulablePlugins), slices.Clone(p.PendingPlugins)
	p.Permit = slices.Clone(p.Permit)
	return p, true
}

// Apply makes the changes, all or none; see [Raw.Apply].
func (e *Engine) Apply(changes ...Change) error {
	if len(changes) < large {
		return e.call("Apply", func(r *Raw, now time.Time) error { return r.Apply(now, changes...) })
	}
	if err := takeLock("Apply", e.readers.TryLock, e.readers.Lock); err != nil {
		return err
	}
	told := false
	tell := func() {
		if !told {
			told = true
			e.readers.Unlock()
		}
	}
	defer tell()
	return e.call("Apply", func(r *Raw, now time.Time) error {
		e.before.Store(r.before(len(changes)))
		defer e.before.Store(nil)
		tell()
		return r.Apply(now, changes...)
	})
}

// read answers from what was before the large Apply that is under way, where then can, or
// with the lock. It panics where a callback would have to wait.
func (e *Engine) read(method string, then func(*before) bool, now func(*Raw, time.Time)) {
	answered := func() bool {
		b := e.before.Load()
		return b != nil && then(b)
	}
	if answered() {
		return
	}
	if err := takeLock(method, e.readers.TryRLock, e.readers.RLock); err != nil {
		panic(err)
	}
	defer e.readers.RUnlock()
	if answered() {
		return
	}
	if err := e.lock(method); err != nil {
		panic(err)
	}
	e.hold(now)
}

// unknown is for what nobody can tell of what was before.
func unknown(*before) bool { return false }

// Branch returns a branch of the engine as it is now, or as it was before a large
// Apply that is under way.
func (e *Engine) Branch() (b *Branch) {
	e.read("Branch", func(was *before) bool {
		b = was.branch.Branch()
		return true
	}, func(r *Raw, _ time.Time) { b = r.Branch() })
	return b
}

// View returns the facts as they are now. Anybody may call it, also a listener or a
// plugin: it waits for nobody.
func (e *Engine) View() *View { return e.raw.View() }

// Queue says where a workload waits and why, or waited before a large Apply that is under
// way; see [Raw.Queue].
func (e *Engine) Queue(id string) (p queue.Position, ok bool) {
	e.read("Queue", func(was *before) bool {
		p, ok = was.place(id)
		return was.places != nil
	}, func(r *Raw, _ time.Time) { p, ok = r.Queue(id) })
	return p, ok
}

// Queues lists the queues as they are charged and what waits in them, and what they have used
// until now, or did before a large Apply that is under way; see [Raw.Queues].
func (e *Engine) Queues() (list []queue.Level) {
	e.read("Queues", func(was *before) bool {
		list = slices.Clone(was.levels)
		for i := range list {
			list[i].Use, list[i].Past = maps.Clone(list[i].Use), maps.Clone(list[i].Past)
		}
		return true
	}, func(r *Raw, now time.Time) { list = r.queue.Levels(now) })
	return list
}

// Promise returns what something that waits is promised; see [Raw.Promise].
func (e *Engine) Promise(id string) (p Promise, ok bool) {
	e.read("Promise", unknown, func(r *Raw, _ time.Time) { p, ok = r.Promise(id) })
	return p, ok
}

// Waiting lists those that wait, in order; see [Raw.Waiting].
func (e *Engine) Waiting() (ids []string) {
	e.read("Waiting", unknown, func(r *Raw, _ time.Time) { ids = r.Waiting() })
	return ids
}

// HeldBack says of each workload that waits and that a quota or a limit of the queues holds back
// what does, by ID; see [queue.Queue.HeldBack].
func (e *Engine) HeldBack() (all map[string]*queue.Held) {
	e.read("HeldBack", unknown, func(r *Raw, _ time.Time) { all = r.queue.HeldBack() })
	return all
}

// QueueCounts says how many workloads are in each place where they wait (see
// [Raw.Queue]), as the last call that has ended left it. Anybody may call it, also a listener or a plugin: it waits
// for nobody.
func (e *Engine) QueueCounts() queue.Counts { return *e.counts.Load() }
