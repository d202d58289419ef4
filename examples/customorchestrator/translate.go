package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// translator is the engine in the farm's words, and the farm in the engine's.
// It is the only part of the program that knows both.
type translator struct {
	farm *Farm
	raw  *engine.Raw
	why  map[string]string // by scene: why it waits, as last told
}

var (
	_ scheduler              = (*translator)(nil)
	_ extpoints.Orchestrator = (*translator)(nil)
)

// schedule gives the farm a scheduler. The circle (the engine calls the farm,
// the farm calls the engine) is closed last, when both are made.
func schedule(f *Farm) error {
	t := &translator{farm: f, why: map[string]string{}}
	profile := plugins.DefaultProfile()
	// The farm cannot stop a job that runs, so nothing is displaced.
	profile.Remove(plugins.DefaultPreemption)
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: t,
		Listener:     engine.Listener{Rejected: t.rejected},
	})
	if err != nil {
		return err
	}
	t.raw, f.scheduler = raw, t
	return nil
}

// node translates a machine.
func node(m *Machine) *model.Node {
	return &model.Node{
		Name:          m.Host,
		Zone:          m.Room,
		Labels:        map[string]string{"room": m.Room},
		Allocatable:   model.Resources{CPU: 1000 * int64(m.Cores), Memory: int64(m.GiB) << 30},
		Unschedulable: m.Retiring,
	}
}

// workload translates a job.
func workload(j *Job, now time.Time) *model.Workload {
	return &model.Workload{
		ID:        j.Scene,
		Priority:  int32(j.Urgency),
		Requests:  model.Resources{CPU: 1000 * int64(j.Cores), Memory: int64(j.GiB) << 30},
		CreatedAt: now,
	}
}

// From the farm to the engine.

// apply makes a change; the farm only reports what has happened, so that the
// engine refuses it is a mistake of this program.
func (t *translator) apply(now time.Time, c engine.Change) {
	if err := t.raw.Apply(now, c); err != nil {
		panic(err)
	}
}

func (t *translator) MachineIs(now time.Time, m Machine) {
	t.apply(now, engine.PutNode(node(&m)))
}

func (t *translator) MachineLeft(now time.Time, host string) {
	t.apply(now, engine.RemoveNode(host))
}

func (t *translator) MachineDied(now time.Time, host string) {
	t.apply(now, engine.LoseNode(host))
}

func (t *translator) JobWaits(now time.Time, j *Job) {
	t.apply(now, engine.Submit(workload(j, now)))
}

func (t *translator) JobLostItsHost(now time.Time, j *Job) {
	t.apply(now, engine.Requeue(j.Scene))
}

func (t *translator) JobEnded(now time.Time, j *Job) {
	t.apply(now, engine.Remove(j.Scene))
}

// Work schedules until there is nothing more to do at this moment, and has the
// decisions carried out.
func (t *translator) Work(now time.Time) {
	t.raw.Tick(now)
	for more := true; more; {
		more = t.raw.Schedule(now)
		for task := t.raw.NextTask(); task != nil; task = t.raw.NextTask() {
			task.Run(context.Background()) // calls Bind
			t.raw.Finish(now, task)
			t.confirm(now, task)
			more = true
		}
	}
}

// confirm tells the engine that a job is seen running, as a real orchestrator's
// agents would.
func (t *translator) confirm(now time.Time, task *engine.Task) {
	b, binds := task.Binding()
	if j := t.farm.jobs[b.Workload]; binds && j != nil && j.host == b.Node {
		delete(t.why, j.Scene)
		t.apply(now, engine.Confirm(b))
	}
}

// NextDue is when Work should be called again although nothing has happened.
func (t *translator) NextDue(now time.Time) (time.Time, bool) { return t.raw.NextDue(now) }

// Why explains in lines of text why a job waits.
func (t *translator) Why(now time.Time, scene string) []string {
	e, err := t.raw.Explain(now, scene, engine.ExplainOptions{})
	if err != nil {
		return []string{err.Error()}
	}
	return strings.Split(e.String(), "\n")
}

// From the engine to the farm.

// Bind has the farm start the job.
func (t *translator) Bind(_ context.Context, w *model.Workload, b model.Binding) error {
	return t.farm.Start(w.ID, b.Node)
}

// Evict is not called: nothing in this program displaces anything.
func (t *translator) Evict(_ context.Context, w *model.Workload, _ string) error {
	return fmt.Errorf("evict job %s: the farm does not evict", w.ID)
}

// rejected tells why a job waits, if that is news.
func (t *translator) rejected(e engine.RejectedEvent) {
	if scene := e.Workload.ID; t.why[scene] != e.Message {
		t.why[scene] = e.Message
		t.farm.tell("job %s waits: %s", scene, e.Message)
	}
}
