package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// Propose has a command recorded, and returns what came of it. The error says that
// it was not, or that it is not known whether it was. Commands get their time there.
type Propose func(ctx context.Context, c *state.Command) (state.Result, error)

// Config is what a Controller needs. State, Propose and Term are required.
type Config struct {
	State   *state.State // of this server; only read
	Propose Propose      // records what is decided
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
	KeepRecords int // see KeepEnded
	// Packing is how GPUs are packed: devicepacking.BestFit, which keeps to the nodes with
	// least left, or devicepacking.Rollout, which learns from the tasks that run what the
	// next ones will need. Default: devicepacking.BestFit.
	Packing devicepacking.Policy
	// Load says how measured load counts. Default: nobody measures it.
	Load Load
	// Reservations is how many elements that wait have a reservation and an expected start, the
	// first in the order. Default: DefaultReservations.
	Reservations int
	// Forecasts is of how many elements that wait it is forecast when they will probably start, the
	// first in the order; at most MaxForecasts. Default: of none.
	Forecasts int
	Logger    hclog.Logger // default: none
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
	HeartbeatRate int // of all nodes together; see Heartbeat
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
	c.Packing = orDefault(c.Packing, devicepacking.BestFit)
	c.Reservations = orDefault(c.Reservations, DefaultReservations)
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
// MeasureEvery, Measured, Load, Expected, Forecast, Calibration, Why, Explain and Counts may be called by any goroutine, also before and after
// Run.
type Controller struct {
	cfg   Config
	eng   atomic.Pointer[engine.Engine] // another one when the order is another
	inbox *inbox
	beats *heartbeats
	// measured are the loads of nodes.
	measured measured
	reasons  *reasons
	census   Census
	// foreseen is the last forecast, nil where there is none of this engine.
	foreseen atomic.Pointer[foreseen]
	tasks    sync.WaitGroup // proposals under way, and the engine

	// configure says how the engine is made.
	configure func(*Controller) engine.Config
	books
}

// books are what is known of one engine. They are Run's.
type books struct {
	// byQueues: the engine orders by queues.
	byQueues   bool
	jobs       map[job.ID]*tracked
	dependents map[job.ID]map[job.ID]bool
	loads      loads
	nodes      map[string]*model.Node
	holds      map[string]*model.Hold           // those of reservations, in the engine
	tree       map[model.ObjectRef]model.Object // queues, principals and limits, in the engine
	owners     map[string]bool                  // of jobs that it has had
	known      map[string]phase                 // workloads in the engine, by ID, see note
	waiting    int                              // those that are offered
	members    map[string]int                   // groups in the engine, and how many members each has there
	loadsTold  map[string]*model.NodeLoad       // in the engine
	uses       map[string]*nodeUse              // of the tasks of nodes, by node
	toldLoads  time.Time                        // when it was last told of some
	timers     timers
	changes    []engine.Change // for the engine, gathered
	gone       []job.TaskID    // those that they take back
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
	e := engine.Config{
		Profiles: profiles(c.cfg.Packing, c.cfg.Load), Backfill: backfilling(c.cfg.Reservations, c.byQueues), Forecast: forecasting(c.cfg.Forecasts), Orchestrator: c, MaxBindings: maxBindings,
		Listener: engine.Listener{Rejected: c.rejected, Decided: c.reasons.decided, Failed: c.failed}, Logger: c.cfg.Logger.Named("engine"),
	}
	if c.byQueues {
		e.Order = engine.OrderByQueues
	}
	return e
}

// newController makes a controller, and its engine from what the function says.
func newController(cfg Config, configure func(*Controller) engine.Config) (*Controller, error) {
	if err := cfg.Load.Validate(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	c := &Controller{cfg: cfg.withDefaults(), inbox: newInbox(), reasons: newReasons(), beats: newHeartbeats(), configure: configure}
	c.measured.nodes = map[string]*measurement{}
	return c, c.begin()
}

// begin makes an engine that knows nothing yet, for the order that the state wants.
func (c *Controller) begin() error {
	c.books = books{
		byQueues: c.cfg.State != nil && c.cfg.State.View().ByQueues(),
		jobs:     map[job.ID]*tracked{}, dependents: map[job.ID]map[job.ID]bool{}, loads: loads{},
		nodes: map[string]*model.Node{}, holds: map[string]*model.Hold{}, tree: map[model.ObjectRef]model.Object{}, owners: map[string]bool{},
		loadsTold: map[string]*model.NodeLoad{}, uses: map[string]*nodeUse{}, known: map[string]phase{}, members: map[string]int{},
	}
	eng, err := engine.New(c.configure(c))
	if err != nil {
		return err
	}
	c.eng.Store(eng)
	c.foreseen.Store(nil)
	return nil
}

// maxBindings is how many placements may be on their way to the log at once: many,
// because those that come together are written together.
const maxBindings = 1024

// Changed tells the controller what has changed in the state. It is called in the
// order of the changes, by the goroutine that applies them.
func (c *Controller) Changed(ch state.Changed) { c.inbox.add(ch) }

// Run schedules until ctx ends.
func (c *Controller) Run(ctx context.Context) error {
	for {
		again, err := c.runOne(ctx)
		if err != nil || !again {
			return err
		}
		c.cfg.Logger.Info("the order of jobs is another now", "byQueues", !c.byQueues)
		if err := c.begin(); err != nil {
			return err
		}
		c.reasons.clear()
	}
}

// runOne schedules with one engine, until ctx ends or, which it reports, the order is to
// be another. What is on its way to the log then may be recorded all the same, as it may
// when a leader ends: whatever comes of it the next engine hears from the state.
func (c *Controller) runOne(ctx context.Context) (again bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var engineErr error
	eng := c.eng.Load()
	c.tasks.Go(func() {
		engineErr = eng.Run(ctx)
		stop(engineErr)
	})
	if c.cfg.Forecasts > 0 {
		c.tasks.Go(func() { c.keepForecasting(ctx, eng) })
	}
	c.inbox.add(state.Changed{All: true})
	again = c.loop(ctx)
	stop(nil)
	c.tasks.Wait()
	if engineErr != nil && !errors.Is(engineErr, context.Canceled) {
		return false, engineErr
	}
	return again, nil
}

// loop works off what has changed, and what is due, until ctx ends, or reports that the
// order is to be another.
func (c *Controller) loop(ctx context.Context) (again bool) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	c.timers.set(time.Now().Add(c.cfg.Times.Purge), due{kind: duePurge})
	for {
		timer.Reset(c.timers.wait(time.Now()))
		select {
		case <-ctx.Done():
			return false
		case <-c.inbox.signal:
			if !c.workOff(c.inbox.take()) {
				return true
			}
		case <-timer.C:
		case <-tick.C:
			c.watchNodes(ctx)
			c.tellLoads(time.Now())
		}
		for _, d := range c.timers.due(time.Now()) {
			c.isDue(ctx, d)
		}
		c.tell()
	}
}

// workOff brings the books and the engine up to what has changed. False: the order is
// to be another than the engine's.
func (c *Controller) workOff(ch *changes) bool {
	v := c.cfg.State.View()
	if (ch.all || ch.tree) && v.ByQueues() != c.byQueues {
		return false
	}
	isNew := ch.all
	if ch.all {
		ch = everything(v)
		c.beats.restart(time.Now())
	}
	if ch.tree && c.byQueues {
		c.refreshTree(v)
	}
	if isNew && c.byQueues {
		c.chargePast(v)
	}
	if isNew && c.cfg.Forecasts > 0 {
		c.tellPast(v)
	}
	for name := range ch.nodes {
		c.nodeChanged(v, name)
	}
	if ch.reservations {
		c.refreshHolds(v)
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
	return true
}

// tell tells the engine what was gathered. What it refuses is a mistake somewhere;
// the rest is told nevertheless, and who asks why a task waits is told of it.
func (c *Controller) tell() {
	if len(c.changes) == 0 {
		return
	}
	if err := c.eng.Load().Apply(c.changes...); err != nil {
		for _, ch := range c.changes {
			if err := c.eng.Load().Apply(ch); err != nil {
				c.cfg.Logger.Error("the engine refuses a change", "error", err)
				if ch.Verb() == "submit" {
					c.refused(ch.ID(), err)
				}
			}
		}
	}
	c.changes = c.changes[:0]
	for _, id := range c.gone { // the engine may have told of them meanwhile
		if c.known[id.String()] == 0 {
			c.reasons.forget(id)
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
}

// failed is told of failures in the engine.
func (c *Controller) failed(e engine.FailedEvent) {
	c.cfg.Logger.Error("scheduling failed", "workload", e.Workload, "error", e.Err)
}
