package scheduler

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Propose has a command recorded, and returns what came of it. The error says that
// it was not, or that it is not known whether it was. Commands get their time there.
type Propose func(ctx context.Context, c *state.Command) (state.Result, error)

// Config is what a Controller needs. State, Propose and Term are required.
type Config struct {
	State   *state.State
	Propose Propose
	// Term is that of the leadership. Commands carry it.
	Term uint64
	// Times are the pauses that decide about nodes and gangs.
	Times Times
	// Window is how many tasks of a job are offered to the engine at once, and one
	// element at least. Default 512.
	Window int
	// Crowd is how many tasks wait in the engine before each job is offered one element
	// at a time, whatever the window. Default 200,000.
	Crowd int
	// KeepEnded is how long jobs that have ended are remembered, KeepRecords how many
	// attempts. Defaults: 7 days, 500,000.
	KeepEnded   time.Duration
	KeepRecords int
	Logger      hclog.Logger
}

// Times are pauses. The zero value of each means its default.
type Times struct {
	// Unreachable is how long after it was due a heartbeat may come, before the node
	// gets no more tasks. Default 10 s.
	Unreachable time.Duration
	// Lost is how long an unreachable node keeps its tasks. Default 5 min.
	Lost time.Duration
	// Heartbeat is the shortest time between two heartbeats of a node. It grows with
	// the fleet, so that there are no more than HeartbeatRate a second. Defaults:
	// 2 s, 50.
	Heartbeat     time.Duration
	HeartbeatRate int
	// Gang is how long the tasks of a gang may wait for the rest to be recorded.
	// Default 30 s.
	Gang time.Duration
	// Purge is the time between two looks for what can be forgotten. Default 10 min.
	Purge time.Duration
}

func (c Config) withDefaults() Config {
	c.Times.Unreachable = orDefault(c.Times.Unreachable, 10*time.Second)
	c.Times.Lost = orDefault(c.Times.Lost, 5*time.Minute)
	c.Times.Heartbeat = orDefault(c.Times.Heartbeat, 2*time.Second)
	c.Times.HeartbeatRate = orDefault(c.Times.HeartbeatRate, 50)
	c.Times.Gang = orDefault(c.Times.Gang, 30*time.Second)
	c.Times.Purge = orDefault(c.Times.Purge, 10*time.Minute)
	c.Window = orDefault(c.Window, 512)
	c.Crowd = orDefault(c.Crowd, 200_000)
	c.KeepEnded = orDefault(c.KeepEnded, 7*24*time.Hour)
	c.KeepRecords = orDefault(c.KeepRecords, 500_000)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// Controller schedules during one term of leadership. Changed, Heartbeat, Interval,
// Expected, Why, Explain and Counts may be called by any goroutine, also before and after
// Run.
type Controller struct {
	cfg     Config
	eng     *engine.Engine
	inbox   *inbox
	beats   *heartbeats
	reasons *reasons
	blocked *blocked
	keeper  *keeper
	census  Census

	// What follows is Run's.
	jobs       map[job.ID]*tracked
	dependents map[job.ID]map[job.ID]bool
	loads      loads
	nodes      map[string]*model.Node
	known      map[string]phase // workloads in the engine, by ID, see note
	waiting    int              // those that are offered
	members    map[string]int   // groups in the engine, and how many members each has there
	timers     timers
	changes    []engine.Change // for the engine, gathered
	gone       []job.TaskID    // those that they take back
	tasks      sync.WaitGroup  // proposals under way
}

// phase says how far the engine has a workload.
type phase uint8

const (
	offered phase = iota + 1
	placed
	stopping
)

// note sets down how far the engine has a workload; 0: it has it no more.
func (c *Controller) note(name string, p phase) {
	if c.known[name] == offered {
		c.waiting--
	}
	switch p {
	case 0:
		delete(c.known, name)
		return
	case offered:
		c.waiting++
	}
	c.known[name] = p
}

// New makes a controller for one term. It starts nothing.
func New(cfg Config) (*Controller, error) {
	return newController(cfg, (*Controller).engineConfig)
}

// engineConfig is that of a controller's engine.
func (c *Controller) engineConfig() engine.Config {
	return engine.Config{
		Profiles: profiles(), Registry: registry(c.keeper), Orchestrator: c, MaxBindings: maxBindings,
		Listener: engine.Listener{Rejected: c.rejected, Decided: c.reasons.decided, Failed: c.failed}, Logger: c.cfg.Logger.Named("engine"),
	}
}

// newController makes a controller, and its engine from what the function says.
func newController(cfg Config, configure func(*Controller) engine.Config) (*Controller, error) {
	c := &Controller{
		cfg: cfg.withDefaults(), inbox: newInbox(), reasons: newReasons(), beats: newHeartbeats(),
		blocked: newBlocked(), keeper: &keeper{},
		jobs: map[job.ID]*tracked{}, dependents: map[job.ID]map[job.ID]bool{}, loads: loads{},
		nodes: map[string]*model.Node{}, known: map[string]phase{}, members: map[string]int{},
	}
	eng, err := engine.New(configure(c))
	if err != nil {
		return nil, err
	}
	c.eng = eng
	return c, nil
}

// maxBindings is how many placements may be on their way to the log at once: many,
// because those that come together are written together.
const maxBindings = 1024

// Changed tells the controller what has changed in the state. It is called in the
// order of the changes, by the goroutine that applies them.
func (c *Controller) Changed(ch state.Changed) { c.inbox.add(ch) }

// Run schedules until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var engineErr error
	c.tasks.Go(func() {
		engineErr = c.eng.Run(ctx)
		stop(engineErr)
	})
	if c.keeper.handle != nil {
		r := reserver{state: c.cfg.State, eng: c.eng, blocked: c.blocked, keeper: c.keeper, passed: map[job.ID]time.Time{}}
		c.tasks.Go(func() { r.run(ctx) })
	}
	c.inbox.add(state.Changed{All: true})
	c.loop(ctx)
	c.tasks.Wait()
	if engineErr != nil && !errors.Is(engineErr, context.Canceled) {
		return engineErr
	}
	return nil
}

// loop works off what has changed, and what is due.
func (c *Controller) loop(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	c.timers.set(time.Now().Add(c.cfg.Times.Purge), due{kind: duePurge})
	for {
		timer.Reset(c.timers.wait(time.Now()))
		select {
		case <-ctx.Done():
			return
		case <-c.inbox.signal:
			c.workOff(c.inbox.take())
		case <-timer.C:
		case <-tick.C:
			c.watchNodes(ctx)
		}
		for _, d := range c.timers.due(time.Now()) {
			c.isDue(ctx, d)
		}
		c.tell()
	}
}

// workOff brings the books and the engine up to what has changed.
func (c *Controller) workOff(ch *changes) {
	v := c.cfg.State.View()
	if ch.all {
		ch = everything(v)
		c.beats.restart(time.Now())
	}
	for name := range ch.nodes {
		c.nodeChanged(v, name)
	}
	for id := range ch.tasks {
		c.taskChanged(v, id)
	}
	for id := range ch.elements {
		c.elementChanged(v, id)
	}
	for _, id := range ch.jobsInOrder() {
		c.jobChanged(v, id)
	}
	for _, id := range c.loads.unlimited() {
		c.refill(v, id)
	}
}

// tell tells the engine what was gathered. What it refuses is a mistake somewhere;
// the rest is told nevertheless, and who asks why a task waits is told of it.
func (c *Controller) tell() {
	if len(c.changes) == 0 {
		return
	}
	if err := c.eng.Apply(c.changes...); err != nil {
		for _, ch := range c.changes {
			if err := c.eng.Apply(ch); err != nil {
				c.cfg.Logger.Error("the engine refuses a change", "error", err)
				if ch.Submit != nil {
					c.refused(ch.Submit.ID, err)
				}
			}
		}
	}
	c.changes = c.changes[:0]
	for _, id := range c.gone { // the engine may have told of them meanwhile
		if c.known[id.String()] == 0 {
			c.reasons.forget(id)
			c.blocked.forget(id)
		}
	}
	c.gone = c.gone[:0]
}

// refused notes that the engine does not take a workload.
func (c *Controller) refused(workload string, err error) {
	if id, parseErr := job.ParseTaskID(workload); parseErr == nil {
		c.reasons.set(id, "the scheduler refuses it: "+err.Error())
	}
}

// change gathers changes for the engine.
func (c *Controller) change(chs ...engine.Change) { c.changes = append(c.changes, chs...) }

// propose has a command recorded, on a goroutine of its own. What fails is tried
// again when the same is due again.
func (c *Controller) propose(ctx context.Context, cmd *state.Command) {
	cmd.Term = c.cfg.Term
	c.tasks.Go(func() {
		r, err := c.cfg.Propose(ctx, cmd)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			c.cfg.Logger.Warn("a command was not recorded", "error", err)
		case r.Err != nil:
			c.cfg.Logger.Debug("a command was refused", "error", r.Err)
		}
	})
}

// rejected is told by the engine of workloads that were not placed.
func (c *Controller) rejected(e engine.RejectedEvent) {
	if refused := (*api.Error)(nil); e.Err != nil && !errors.As(e.Err, &refused) {
		c.cfg.Logger.Error("a task could not be tried", "task", e.Workload.ID, "error", e.Err)
	}
	c.reasons.rejected(e)
	c.blocked.rejected(e)
	c.keeper.rejected(e)
}

// failed is told of failures in the engine.
func (c *Controller) failed(e engine.FailedEvent) {
	c.cfg.Logger.Error("scheduling failed", "workload", e.Workload, "error", e.Err)
}
