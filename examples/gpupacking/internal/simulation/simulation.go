// Package simulation runs the GPU packing experiment through the engine: every
// pod is submitted, queued, scheduled, reserved and bound as it would be in a
// live cluster, and what is measured is read from the engine's own record.
//
// Only two things differ from a live cluster. The clock is the number of the
// arrival, so that a run is over in seconds and can be repeated; and binding
// starts nothing. Package trace has the experiment's protocol, profile.go the
// scheduling profile.
package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/examples/gpupacking/trace"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Nowhere is the node of a pod that was dropped.
const Nowhere = -1

// Placement is where a pod went.
type Placement struct {
	Node    int   // index into Trace.Nodes, or Nowhere
	Devices []int // indexes of the node's GPUs, as the engine recorded them
}

// Result is a run, decision by decision.
type Result struct {
	trace.Run
	Placements []Placement // by arrival
}

// Run lets the pods of the seed arrive one by one and schedules each before the
// next arrives. So many workers look at nodes at a time, which makes a difference to
// the time that it takes, not to the result. The error is the context's, or a failure of the
// engine, which a valid trace does not cause.
func Run(ctx context.Context, t *trace.Trace, policy trace.Policy, seed int64, workers int) (Result, error) {
	s, err := newSimulation(t, policy, seed, func(c *engine.Config) { c.Workers = workers })
	if err != nil {
		return Result{}, err
	}
	return s.run(ctx, policy, seed)
}

func (s *simulation) run(ctx context.Context, policy trace.Policy, seed int64) (Result, error) {
	var err error
	placements := make([]Placement, len(s.order.Pods))
	for i, pod := range s.order.Pods {
		if err := context.Cause(ctx); err != nil {
			return Result{}, err
		}
		if placements[i], err = s.arrive(ctx, i, pod); err != nil {
			return Result{}, fmt.Errorf("pod %q, arrival %d: %w", pod.Name, i, err)
		}
	}
	return Result{Run: s.recorder.Run(policy, seed), Placements: placements}, nil
}

// simulation is one run under way.
type simulation struct {
	trace    *trace.Trace
	order    trace.Order
	engine   *engine.Raw
	recorder *trace.Recorder
	nodes    map[string]int // index into trace.Nodes, by name
	failure  error          // what the engine failed at, if anything
}

// newSimulation makes a run that is to begin. change, where it is not nil, changes the
// configuration of the engine.
func newSimulation(t *trace.Trace, policy trace.Policy, seed int64, change func(*engine.Config)) (*simulation, error) {
	s := &simulation{
		trace:    t,
		order:    t.Arrange(seed),
		recorder: trace.NewRecorder(t),
		nodes:    make(map[string]int, len(t.Nodes)),
	}
	profile := profileOf(t, policy)
	cfg := engine.Config{
		Profiles:                 []extpoints.Profile{profile},
		Orchestrator:             cluster{},
		PercentageOfNodesToScore: 100,
		TieBreak:                 engine.TieBreakLowestIndex,
		Seed:                     uint64(seed),
		RememberDecisions:        -1, // nobody asks for explanations
		Listener: engine.Listener{
			Rejected: func(e engine.RejectedEvent) { s.fail(e.Err) },
			Failed:   func(e engine.FailedEvent) { s.fail(e.Err) },
		},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if s.engine, err = engine.NewRaw(cfg); err != nil {
		return nil, err
	}
	return s, s.addNodes()
}

// fail keeps the first failure. A pod that fits nowhere is none: its rejection
// has no error.
func (s *simulation) fail(err error) {
	if s.failure == nil {
		s.failure = err
	}
}

// addNodes adds the nodes in the order of their ranks: without zones the engine
// visits nodes in the order in which they came, so that the lowest index is the
// smallest rank.
func (s *simulation) addNodes() error {
	changes := make([]engine.Change, len(s.trace.Nodes))
	for i := range s.trace.Nodes {
		n := &s.trace.Nodes[i]
		s.nodes[n.Name] = i
		changes[s.order.Ranks[i]] = engine.PutNode(nodeOf(n))
	}
	return s.engine.Apply(at(-1), changes...)
}

// at is the time of an arrival. Each comes later than the one before it, which
// makes their order in the queue certain.
func at(arrival int) time.Time { return time.Unix(int64(arrival), 0).UTC() }

// arrive takes one pod from its submission to its binding, or drops it.
func (s *simulation) arrive(ctx context.Context, arrival int, pod *trace.Pod) (Placement, error) {
	now, w := at(arrival), workloadOf(arrival, pod)
	if err := s.engine.Apply(now, engine.Submit(w)); err != nil {
		return Placement{}, err
	}
	s.engine.Schedule(now)
	if task := s.engine.NextTask(); task != nil {
		task.Run(ctx)
		s.engine.Finish(now, task)
	}
	if s.failure != nil {
		return Placement{}, s.failure
	}
	if record, _ := s.engine.View().Workload(w.ID); record.Phase == model.Bound {
		return s.placed(pod, record), nil
	}
	// There is no second try: the pod must not be in the queue any more when
	// the next one comes.
	s.recorder.Dropped(pod)
	return Placement{Node: Nowhere}, s.engine.Apply(now, engine.Remove(w.ID))
}

// placed measures the node of a pod that was bound, by what the record says is
// on it.
func (s *simulation) placed(pod *trace.Pod, record model.WorkloadRecord) Placement {
	node := s.nodes[record.Node]
	cpu, gpus := s.trace.Nodes[node].CPU, s.trace.Nodes[node].Idle()
	for w := range s.engine.View().WorkloadsOn(record.Node) {
		cpu -= w.Requests.CPU
		for _, d := range w.Shares {
			gpus[d.Device] -= d.Share
		}
	}
	s.recorder.Placed(pod, node, cpu, gpus)
	var devices []int
	for _, d := range record.Shares {
		devices = append(devices, d.Device)
	}
	slices.Sort(devices)
	return Placement{Node: node, Devices: devices}
}
