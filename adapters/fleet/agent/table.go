package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// table has the tasks of the node. One goroutine owns it: own.
type table struct {
	agent *Agent
	ctx   context.Context // of Run: runners end with it
	tasks map[job.TaskID]*entry
	term  uint64 // the highest seen, on disk
}

// entry is a task that belongs on the node, or did.
type entry struct {
	id job.TaskID
	// stops takes orders to its runner; it has room for one, and the owner of the
	// table, who alone sends, replaces one that was not taken yet.
	stops chan api.Stop
	// stopped: it was told to.
	stopped bool
	ended   bool
	// report is the last to send; nil: there is none yet. taken: a server has it.
	report *api.Report
	taken  bool
}

// newTable finds the tasks of the agents before this one, and starts the runners of
// those that have not ended.
func newTable(ctx context.Context, a *Agent) (*table, error) {
	term, err := a.folders.readTerm()
	if err != nil {
		return nil, err
	}
	t := &table{agent: a, ctx: ctx, tasks: map[job.TaskID]*entry{}, term: term}
	found, err := ids(a.folders.tasks())
	if err != nil {
		return nil, err
	}
	for _, id := range found {
		if err := t.adopt(id); err != nil {
			a.log.Error("a task's folder cannot be read", "task", id, "error", err)
		}
	}
	t.count()
	return t, nil
}

// own runs what it is sent until ctx ends.
func (t *table) own(ctx context.Context) {
	for {
		select {
		case f := <-t.agent.events:
			f(t)
			t.count()
		case <-ctx.Done():
			return
		}
	}
}

// errStaleTerm says that an answer came from a leader that has been replaced.
var errStaleTerm = errors.New("the answer is from a leader that was replaced")

// see refuses a term lower than the highest seen, and makes a higher one durable.
func (t *table) see(term uint64) error {
	if term < t.term {
		t.agent.metrics.stale.Inc()
		return fmt.Errorf("%w: its term is %d, and %d was seen", errStaleTerm, term, t.term)
	}
	if term == t.term {
		return nil
	}
	err := t.agent.folderCalls.do(func() error { return t.agent.folders.writeTerm(term) }, nil)
	t.agent.unhealthy.set("term", errorText(err))
	if err == nil {
		t.term = term
	}
	return err
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// apply works off an answer. When it returns nil all of it was taken over.
func (t *table) apply(resp api.PollResponse) error {
	if err := t.see(resp.Term); err != nil || resp.Unregistered {
		return err
	}
	listed := make(map[job.TaskID]bool, len(resp.Tasks))
	for _, id := range resp.Tasks {
		listed[id] = true
	}
	for _, o := range resp.Orders {
		if listed[o.Task] { // else it does not belong here any more
			t.order(o)
		}
	}
	for id, e := range t.tasks {
		if !listed[id] {
			t.unlist(e)
		}
	}
	return nil
}

// order takes an order over. How far a task has come that there is no entry of its runner
// finds out: the owner of the table waits for no disk.
func (t *table) order(o api.Order) {
	e := t.tasks[o.Task]
	isNew := e == nil
	if isNew {
		e = t.enter(o.Task)
	} else {
		// Servers that send an order may not know what happened to the task, for example
		// because they were restored from a backup: they are told again.
		e.taken = false
		t.agent.wakeReporter()
	}
	if o.Stop != nil {
		t.stop(e, *o.Stop)
	}
	if isNew {
		t.start(&runner{agent: t.agent, id: o.Task, stops: e.stops, order: &o})
	}
}

// adopt makes the entry of a task that an agent before this one had, by what its folder
// says.
func (t *table) adopt(id job.TaskID) error {
	stage, report, taken, err := t.agent.folders.look(id)
	if stage == stageNew {
		return err // it was about to be started, and was not; its order comes again
	}
	e := t.enter(id)
	if stage == stageReported {
		e.ended, e.report, e.taken = true, &report, taken
		return nil
	}
	t.start(&runner{agent: t.agent, id: id, stops: e.stops})
	return err
}

func (t *table) enter(id job.TaskID) *entry {
	e := &entry{id: id, stops: make(chan api.Stop, 1)}
	t.tasks[id] = e
	return e
}

func (t *table) start(r *runner) { t.agent.runners.Go(func() { r.run(t.ctx) }) }

// stop tells a task's runner; the latest order counts.
func (t *table) stop(e *entry, s api.Stop) {
	if e.ended {
		return
	}
	e.stopped = true
	select {
	case <-e.stops:
	default:
	}
	e.stops <- s
}

// unlist ends what runs and does not belong here any more, and forgets what has ended.
func (t *table) unlist(e *entry) {
	if e.ended {
		if e.taken {
			delete(t.tasks, e.id)
		}
		return
	}
	if e.stopped {
		return
	}
	t.agent.log.Warn("a task does not belong on the node any more, it is ended", "task", e.id)
	t.agent.metrics.orphans.Inc()
	t.stop(e, api.Stop{State: job.Cancelled, Grace: job.DefaultKillGrace,
		Reason: "the servers do not list the task on this node any more"})
}

// started takes over that a task runs.
func (t *table) started(id job.TaskID, at time.Time) {
	if e := t.tasks[id]; e != nil && !e.ended {
		e.report, e.taken = &api.Report{Task: id, State: job.Running, At: at, Started: at}, false
		t.agent.wakeReporter()
	}
}

// ended takes over how a task ended.
func (t *table) ended(r api.Report) {
	t.agent.metrics.ends.WithLabelValues(string(r.State)).Inc()
	t.hadEnded(r)
}

// hadEnded takes over how a task ended that was ordered again: its report may not have got
// through.
func (t *table) hadEnded(r api.Report) {
	if e := t.tasks[r.Task]; e != nil {
		e.ended, e.report, e.taken = true, &r, false
		t.agent.wakeReporter()
	}
}

// maxReports is how many go in a batch.
const maxReports = 500

// unreported are reports that no server has taken, the oldest first.
func (t *table) unreported() []*api.Report {
	var batch []*api.Report
	for _, e := range t.tasks {
		if e.report != nil && !e.taken {
			batch = append(batch, e.report)
		}
	}
	slices.SortFunc(batch, func(a, b *api.Report) int { return a.At.Compare(b.At) })
	return batch[:min(len(batch), maxReports)]
}

// took takes over that a server has taken reports. One that was replaced meanwhile
// is still to be sent.
func (t *table) took(batch []*api.Report) {
	for _, r := range batch {
		if e := t.tasks[r.Task]; e != nil && e.report == r {
			e.taken = true
		}
	}
}

// running are the tasks that have begun and not ended.
func (t *table) running() []job.TaskID {
	var out []job.TaskID
	for id, e := range t.tasks {
		if !e.ended && e.report != nil {
			out = append(out, id)
		}
	}
	return out
}

// count sets the metrics that are about all tasks.
func (t *table) count() {
	var running, starting, unreported float64
	for _, e := range t.tasks {
		switch {
		case e.ended:
		case e.report == nil:
			starting++
		default:
			running++
		}
		if e.report != nil && !e.taken {
			unreported++
		}
	}
	m := t.agent.metrics
	m.tasks.WithLabelValues("starting").Set(starting)
	m.tasks.WithLabelValues("running").Set(running)
	m.unreported.Set(unreported)
	m.term.Set(float64(t.term))
}
