package scheduler_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

func TestConformance(t *testing.T) { adaptertest.Run(t, newHarness) }

func TestConformanceInBubble(t *testing.T) { adaptertest.RunInBubble(t, newHarness) }

// By queues everything else holds as well: jobs of one user in one queue go in their order.
func TestConformanceByQueues(t *testing.T) { adaptertest.RunInBubble(t, newHarnessByQueues) }

func newHarnessByQueues(tb adaptertest.TB) adaptertest.Harness {
	h := newHarness(tb).(*harness)
	if _, err := h.do(&state.Command{PutAccount: &state.Account{Name: "uni"}}); err != nil {
		tb.Errorf("%v", err)
	}
	return h
}

// harness is a fleet for the kit: a state, and agents whose tasks write the history
// and run until they are ended.
type harness struct {
	log    adaptertest.Log
	agents sync.WaitGroup

	mu     sync.Mutex
	state  *state.State
	leader *scheduler.Controller
	term   uint64
	index  uint64
	jobs   map[string]job.ID
	boots  map[string]string // of the nodes that are there
	done   map[string]bool   // jobs, by name, that are to end
	tasks  map[job.TaskID]*task
}

// task is a task that an agent has started.
type task struct {
	name, node string
	ended      bool
}

func newHarness(tb adaptertest.TB) adaptertest.Harness {
	h := &harness{
		jobs: map[string]job.ID{}, boots: map[string]string{}, done: map[string]bool{}, tasks: map[job.TaskID]*task{},
	}
	h.state = state.New(h.changed)
	tb.Cleanup(h.agents.Wait)
	return h
}

// apply applies a command; mu is not held.
func (h *harness) apply(c *state.Command) (state.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.At = time.Now().UTC()
	text, err := c.Encode()
	if err != nil {
		return state.Result{}, err
	}
	h.index++
	return h.state.Apply(h.index, h.term, [][]byte{text})[0].(state.Result), nil
}

// do applies a command that must not be refused.
func (h *harness) do(c *state.Command) (state.Result, error) {
	r, err := h.apply(c)
	if err == nil && r.Err != nil {
		err = r.Err
	}
	return r, err
}

// changed is told of changes, with mu held: the agents see to their orders.
func (h *harness) changed(ch state.Changed) {
	if h.leader != nil {
		h.leader.Changed(ch)
	}
	v := h.state.View()
	for _, id := range ch.Tasks {
		k := v.Task(id)
		if k != nil && k.Ready && h.boots[k.Node] != "" && v.Node(k.Node).Boot == h.boots[k.Node] {
			h.obey(v, k)
		}
	}
}

// obey carries out the order for a task, with mu held.
func (h *harness) obey(v state.View, k *state.Task) {
	t := h.tasks[k.ID]
	switch {
	case t == nil && k.Stop == nil:
		t = &task{name: v.Job(k.ID.Job).Spec.Name, node: k.Node}
		h.tasks[k.ID] = t
		h.log.Started(t.name, t.node)
		h.report(k.Node, api.Report{Task: k.ID, State: job.Running})
		if h.done[t.name] {
			h.end(k.ID, t, job.Completed)
		}
	case t == nil:
		h.report(k.Node, api.Report{Task: k.ID, State: k.Stop.State})
	case k.Stop != nil:
		h.end(k.ID, t, k.Stop.State)
	}
}

// end ends a task, with mu held.
func (h *harness) end(id job.TaskID, t *task, s job.State) {
	if !t.ended {
		t.ended = true
		h.log.Ended(t.name, t.node)
		h.report(t.node, api.Report{Task: id, State: s, Started: time.Now()})
	}
}

// report sends a report, when mu is free.
func (h *harness) report(node string, r api.Report) {
	r.At = time.Now()
	h.agents.Go(func() {
		_, _ = h.apply(&state.Command{Report: &state.Report{Node: node, Tasks: []api.Report{r}}})
	})
}

func (h *harness) AddNode(n *model.Node) error {
	h.mu.Lock()
	boot := time.Now().Format(time.RFC3339Nano)
	h.boots[n.Name] = boot
	h.mu.Unlock()
	_, err := h.do(&state.Command{Register: &api.Registration{Node: n.Name, Boot: boot, Address: "127.0.0.1:1", Machine: api.Machine{
		CPU: job.MilliCPU(n.Allocatable.CPU), Memory: job.Bytes(n.Allocatable.Memory), MaxTasks: n.MaxWorkloads,
	}}})
	return err
}

func (h *harness) KillNode(name string) error {
	h.mu.Lock()
	delete(h.boots, name)
	for _, t := range h.tasks {
		if t.node == name && !t.ended {
			t.ended = true
			h.log.Ended(t.name, name)
		}
	}
	h.mu.Unlock()
	_, err := h.do(&state.Command{NodeStatus: &state.NodeStatus{Node: name, State: api.NodeLost}})
	return err
}

func (h *harness) Submit(w *model.Workload) error {
	now := job.Duration(time.Millisecond)
	spec := job.Spec{
		Name: w.Name, Command: []string{"x"}, Retry: job.Retry{Backoff: &now, MaxBackoff: &now, SameNode: true},
		Resources: job.Resources{CPU: job.MilliCPU(w.Requests.CPU), Memory: job.Bytes(w.Requests.Memory)},
	}
	r, err := h.do(&state.Command{Submit: &state.Submit{Specs: []job.Spec{spec.WithDefaults()}, Owner: "kit"}})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs[w.Name] = r.Jobs[0]
	return nil
}

func (h *harness) Finish(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.jobs[name] == 0 {
		return errors.New("there is no such job")
	}
	h.done[name] = true
	for id, t := range h.tasks {
		if t.name == name {
			h.end(id, t, job.Completed)
		}
	}
	return nil
}

func (h *harness) Log() *adaptertest.Log { return &h.log }

func (h *harness) Start(ctx context.Context, cfg engine.Config) (adaptertest.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.term++
	c, eng, err := scheduler.NewWithEngine(scheduler.Config{
		State: h.state, Term: h.term,
		Propose: func(ctx context.Context, c *state.Command) (state.Result, error) {
			if ctx.Err() != nil {
				return state.Result{}, context.Cause(ctx)
			}
			return h.apply(c)
		},
	}, cfg)
	if err != nil {
		return adaptertest.Session{}, err
	}
	h.leader = c
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return adaptertest.Session{Engine: eng, Wait: func() error { return <-ended }}, nil
}
