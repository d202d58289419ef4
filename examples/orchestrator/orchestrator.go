//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// Orchestrator runs jobs on nodes. The engine decides where, and the memory what was started.
type Orchestrator struct {
	dir string
	eng *engine.Engine

	// mu guards the memory. It may be held while the engine is told something: the engine
	// calls Bind and Evict without a lock of its own.
	mu     sync.Mutex
	memory *Memory
	over   chan error // holds one when all have ended, or why it cannot go on
}

var _ extpoints.Orchestrator = (*Orchestrator)(nil)

// Open goes on from what is in the folder, on nodes with so many cores.
func Open(dir string, nodes map[string]int64) (*Orchestrator, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	memory, err := OpenMemory(filepath.Join(dir, "memory"))
	if err != nil {
		return nil, err
	}
	o := &Orchestrator{dir: dir, memory: memory, over: make(chan error, 1)}
	o.eng, err = engine.New(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: o})
	if err != nil {
		return nil, err
	}
	var changes []engine.Change
	for name, cores := range nodes {
		changes = append(changes, engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: model.Cores(float64(cores))}}))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range memory.IDs {
		change, err := o.resume(memory.Jobs[id])
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	return o, o.eng.Apply(changes...)
}

// resume is what the engine is told of a job of an earlier life: what still runs is adopted,
// and what waits is submitted. So is what was to be started and has not begun, or not come to its end.
func (o *Orchestrator) resume(j *State) ([]engine.Change, error) {
	p := processOf(o.dir, j)
	switch {
	case j.Ended:
		return nil, nil
	case j.Node == "":
		return []engine.Change{engine.Submit(workloadOf(&j.Job))}, nil
	case p.lives():
		o.watch(j, p)
		return []engine.Change{engine.Adopt(workloadOf(&j.Job), model.Binding{Node: j.Node})}, nil
	case p.done():
		return nil, o.memory.write(line{End: j.ID})
	}
	return []engine.Change{engine.Submit(workloadOf(&j.Job))}, o.memory.write(line{Again: j.ID})
}

// workloadOf is the job in the words of the engine.
func workloadOf(j *Job) *model.Workload {
	return &model.Workload{ID: j.ID, Requests: model.Resources{CPU: model.Cores(float64(j.Cores))}}
}

// Submit takes a job. One that is known already is left as it is, so that whoever does not know
// whether he was heard can say it again.
func (o *Orchestrator) Submit(j Job) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.memory.Jobs[j.ID] != nil {
		return nil
	}
	if err := o.record(line{Submit: &j}); err != nil {
		return err
	}
	return o.eng.Apply(engine.Submit(workloadOf(&j)))
}

// Run returns when all jobs have ended, or ctx has.
func (o *Orchestrator) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- o.eng.Run(ctx) }()
	o.mu.Lock()
	o.checkDone()
	o.mu.Unlock()
	var over error
	select {
	case <-ctx.Done():
	case over = <-o.over:
	case err := <-ran:
		return err // the engine is broken
	}
	stop()
	return errors.Join(over, <-ran)
}

// Bind implements [extpoints.Orchestrator]. The memory decides whether something is started:
// what runs there already is not started again. While it waited for its lock the engine may have
// called it off, and given the room to others.
func (o *Orchestrator) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	j := o.memory.Jobs[w.ID]
	switch {
	case j.Node == b.Node:
		return nil
	case j.Node != "":
		return fmt.Errorf("job %s runs on node %s", j.ID, j.Node)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if err := o.record(line{Start: &Start{j.ID, b.Node}}); err != nil {
		return err
	}
	p := processOf(o.dir, j)
	if err := p.start(j); err != nil {
		return errors.Join(err, o.record(line{Again: j.ID}))
	}
	o.watch(j, p)
	o.tell(engine.Confirm(b)) // by Apply
	return nil
}

// Evict implements [extpoints.Orchestrator]: the job is told to end, and waits again when it has.
func (o *Orchestrator) Evict(_ context.Context, w *model.Workload, _ string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return processOf(o.dir, o.memory.Jobs[w.ID]).end()
}

// watch reports the end of the job's process.
func (o *Orchestrator) watch(j *State, p process) {
	go func() {
		p.await()
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended(j, p)
		o.checkDone()
	}()
}

// ended records that the process is gone, and tells the engine.
func (o *Orchestrator) ended(j *State, p process) {
	what, change := line{Again: j.ID}, engine.Requeue(j.ID)
	if p.done() {
		what, change = line{End: j.ID}, engine.Remove(j.ID)
	}
	if o.record(what) == nil {
		o.tell(change)
	}
}

// tell tells the engine what has happened. Where it cannot, Run ends.
func (o *Orchestrator) tell(c engine.Change) {
	if err := o.eng.Apply(c); err != nil {
		o.end(err)
	}
}

// record writes a line. Where it cannot, Run ends: the engine must not know more than the
// memory, which the next life goes on from.
func (o *Orchestrator) record(l line) error {
	err := o.memory.write(l)
	if err != nil {
		o.end(err)
	}
	return err
}

func (o *Orchestrator) checkDone() {
	if o.memory.Ended() == len(o.memory.Jobs) {
		o.end(nil)
	}
}

// end ends Run. The first reason stays.
func (o *Orchestrator) end(why error) {
	select {
	case o.over <- why:
	default:
	}
}
