package simulation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// processor is what the engine knows a processor as: thousandths of a CPU.
const processor = 1000

// machine is the orchestrator with its engine. Jobs are known to both by their index
// in the workload.
type machine struct {
	raw     *engine.Raw
	started []int // by the pass that is under way, in order
	failure error // the first that the engine reported
}

// profile has the one filter that counts here. There is one node, so nothing is scored.
func profile() extpoints.Profile {
	p := extpoints.Profile{Name: "processors"}
	extpoints.Use(&p, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&p, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&p, defaultbinder.New, extpoints.NoArgs{})
	return p
}

// newMachine makes a machine that is empty; configure changes the engine's
// configuration.
func newMachine(procs int64, begin int64, configure func(*engine.Config) error) (*machine, error) {
	m := &machine{}
	fail := func(err error) {
		if m.failure == nil {
			m.failure = err
		}
	}
	cfg := engine.Config{
		Profiles:          []extpoints.Profile{profile()},
		Orchestrator:      m,
		RememberDecisions: -1, // nobody asks for explanations
		Listener: engine.Listener{
			// A job that does not fit is rejected without an error.
			Rejected: func(e engine.RejectedEvent) { fail(e.Err) },
			Failed:   func(e engine.FailedEvent) { fail(e.Err) },
		},
	}
	if err := configure(&cfg); err != nil {
		return nil, err
	}
	var err error
	if m.raw, err = engine.NewRaw(cfg); err != nil {
		return nil, err
	}
	return m, m.raw.Apply(at(begin), engine.PutNode(&model.Node{
		Name:         "machine",
		Allocatable:  model.Resources{CPU: procs * processor},
		MaxWorkloads: procs,
	}))
}

// at is the second of the log as a time.
func at(second int64) time.Time { return time.Unix(second, 0).UTC() }

func id(job int) string { return strconv.Itoa(job) }

// submit lets the engine have the job.
func (m *machine) submit(now int64, job int, j *Job) error {
	return m.raw.Apply(at(now), engine.Submit(&model.Workload{
		ID:        id(job),
		Requests:  model.Resources{CPU: j.Procs * processor},
		CreatedAt: at(j.Submit),
		Limit:     time.Duration(max(j.Estimate, 0)) * time.Second, // 0: none
		Data:      job,
	}))
}

// remove says that the job has ended, or is not to be started now.
func (m *machine) remove(now int64, job int) error {
	return m.raw.Apply(at(now), engine.Remove(id(job)))
}

// pass lets the engine decide until it has nothing to try, and returns which jobs it
// started, in order. The list is valid until the next pass.
func (m *machine) pass(ctx context.Context, now int64) ([]int, error) {
	m.started = m.started[:0]
	for m.raw.Schedule(at(now)) {
		for task := m.raw.NextTask(); task != nil; task = m.raw.NextTask() {
			task.Run(ctx)
			m.raw.Finish(at(now), task)
		}
	}
	if m.failure != nil {
		return nil, fmt.Errorf("second %d: %w", now, m.failure)
	}
	return m.started, context.Cause(ctx)
}

// Bind implements [extpoints.Orchestrator]: it starts the job.
func (m *machine) Bind(_ context.Context, w *model.Workload, _ model.Binding) error {
	m.started = append(m.started, w.Data.(int))
	return nil
}

// Evict implements [extpoints.Orchestrator]. Nothing asks for it: no job is displaced.
func (m *machine) Evict(context.Context, *model.Workload, string) error {
	return errors.New("jobs run to their end")
}
