package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// world is a fleet in a bubble of time: a state, a leader, and agents that do as the
// test says.
type world struct {
	t    *testing.T
	ctx  context.Context
	stop func() // ends the leader
	term uint64

	mu     sync.Mutex
	state  *state.State
	leader *scheduler.Controller
	index  uint64
	skew   time.Duration   // how wrong the clock is by which commands get their time
	silent map[string]bool // nodes whose agents are cut off
	began  map[job.TaskID]int
	runs   func(k *state.Task) run
	// late are the changes that the leader is told of by tell only; nil: it is told of each at once.
	late func(state.Changed) bool
	kept []state.Changed
	// make makes the leader's controller.
	make func(scheduler.Config) (*scheduler.Controller, error)
}

// run is what happens to a task: it runs for a while and ends so, or after a while it is
// not started, for a reason.
type run struct {
	lasts time.Duration
	ends  job.State
	code  int
	never string
}

// in runs a test in a bubble, with a leader and nodes.
func in(t *testing.T, nodes []*api.Registration, f func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, silent: map[string]bool{}, began: map[job.TaskID]int{}, make: scheduler.New}
		w.runs = func(*state.Task) run { return run{lasts: time.Minute, ends: job.Completed} }
		w.state = state.New(w.changed)
		ctx, cancel := context.WithCancel(t.Context())
		w.ctx = ctx
		defer time.Sleep(24 * time.Hour) // whoever sleeps wakes up, and ends
		defer cancel()
		defer func() { w.stop() }()
		w.lead()
		for _, n := range nodes {
			w.do(&state.Command{Register: n})
		}
		go w.beat()
		f(w)
	})
}

// node is a machine with so many cores.
func node(name string, cores int, labels ...string) *api.Registration {
	r := &api.Registration{Node: name, Boot: "1", Machine: api.Machine{
		CPU: job.MilliCPU(cores * 1000), Memory: 1 << 40, Disk: 1 << 40, Labels: map[string]string{},
	}}
	for _, l := range labels {
		k, v, _ := strings.Cut(l, "=")
		r.Machine.Labels[k] = v
	}
	return r
}

// lead makes a new leader, after the one before has ended.
func (w *world) lead() {
	if w.stop != nil {
		w.stop()
	}
	w.mu.Lock()
	w.term++
	term := w.term
	w.mu.Unlock()
	c, err := w.make(scheduler.Config{
		State: w.state, Term: term,
		Propose: func(ctx context.Context, c *state.Command) (state.Result, error) { return w.apply(c), ctx.Err() },
	})
	require.NoError(w.t, err)
	w.mu.Lock()
	w.leader = c
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := c.Run(ctx); err != nil {
			w.t.Error(err)
		}
	}()
	w.stop = func() {
		cancel()
		<-done
	}
}

// apply applies a command in the present term.
func (w *world) apply(c *state.Command) state.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.At = time.Now().UTC().Add(w.skew)
	text, err := c.Encode()
	require.NoError(w.t, err)
	w.index++
	return w.state.Apply(w.index, w.term, [][]byte{text})[0].(state.Result)
}

// do applies a command that must not be refused.
func (w *world) do(c *state.Command) state.Result {
	r := w.apply(c)
	require.Nil(w.t, r.Err, "%+v", c)
	return r
}

// changed is told of changes, with mu held.
func (w *world) changed(ch state.Changed) {
	switch {
	case w.leader == nil:
	case w.late != nil && w.late(ch):
		w.kept = append(w.kept, ch)
	default:
		w.leader.Changed(ch)
	}
	v := w.state.View()
	for _, id := range ch.Tasks {
		if k := v.Task(id); k != nil && k.Ready && !w.silent[k.Node] {
			go w.agent(k)
		}
	}
}

// tell tells the leader of the first so many changes of which it was not told yet.
func (w *world) tell(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.kept[:n] {
		w.leader.Changed(ch)
	}
	w.kept = w.kept[n:]
}

// agent carries out the order for a task.
func (w *world) agent(k *state.Task) {
	w.mu.Lock()
	first := k.Stop == nil && k.State == job.Starting
	if first {
		w.began[k.ID]++
	}
	r := w.runs(k)
	w.mu.Unlock()
	switch {
	case k.Stop != nil:
		time.Sleep(time.Second)
		w.report(k, api.Report{State: k.Stop.State})
	case first && r.never != "":
		time.Sleep(r.lasts)
		report := api.Report{State: r.ends, Message: r.never}
		if r.code != 0 {
			report.Exit = &api.Exit{Code: r.code}
		}
		w.report(k, report)
	case first:
		w.report(k, api.Report{State: job.Running})
		started := time.Now()
		time.Sleep(r.lasts)
		w.report(k, api.Report{State: r.ends, Started: started, Exit: &api.Exit{Code: r.code}})
	}
}

// report tells what happened to a task, unless its node is cut off.
func (w *world) report(k *state.Task, r api.Report) {
	if w.ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	cut := w.silent[k.Node]
	w.mu.Unlock()
	if !cut {
		r.Task, r.At = k.ID, time.Now()
		w.apply(&state.Command{Report: &state.Report{Node: k.Node, Tasks: []api.Report{r}, SecondOpinion: true}})
	}
}

// beat is the heartbeat of all nodes that are not cut off.
func (w *world) beat() {
	for w.ctx.Err() == nil {
		w.mu.Lock()
		for n := range w.state.View().Nodes() {
			if !w.silent[n.Node] {
				w.leader.Heartbeat(n.Node, "")
			}
		}
		w.mu.Unlock()
		time.Sleep(time.Second)
	}
}

// cut cuts nodes off, or connects them again.
func (w *world) cut(off bool, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range names {
		w.silent[n] = off
	}
}

// submit submits jobs that were given as job files.
func (w *world) submit(files ...string) []job.ID {
	var specs []job.Spec
	for _, f := range files {
		parsed, err := job.Parse(strings.NewReader("command: [x]\n" + f))
		require.NoError(w.t, err)
		for i := range parsed {
			specs = append(specs, parsed[i].WithDefaults())
		}
	}
	return w.do(&state.Command{Submit: &state.Submit{Specs: specs, Owner: "ann"}}).Jobs
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// states are the states of jobs.
func (w *world) states(ids ...job.ID) string {
	var out []string
	for _, id := range ids {
		out = append(out, string(w.state.View().Job(id).State()))
	}
	return strings.Join(out, " ")
}

// where lists the tasks under way: "task@node", in order.
func (w *world) where() []string {
	var out []string
	for k := range w.state.View().Tasks() {
		out = append(out, fmt.Sprintf("%s@%s", k.ID, k.Node))
	}
	slices.Sort(out)
	return out
}

// why is the reason why the first element of a job waits.
func (w *world) why(id job.ID) job.Reason {
	v := w.state.View()
	r, _ := w.leader.Why(v, v.Job(id), 0)
	return r
}
