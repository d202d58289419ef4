package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// sin is a way of being a broken adapter.
type sin string

// The sins. None is the sound toy.
const (
	none             sin = "none"
	bindsAgain       sin = "starts what runs already once more"
	refusesAgain     sin = "refuses to bind what runs already"
	bindsElsewhere   sin = "starts what runs on one node on another as well"
	lies             sin = "says that it bound and does not"
	bindsLate        sin = "starts a workload although it said that it failed, and tells nobody"
	bindsToTheDead   sin = "binds to nodes that have gone"
	neverConfirms    sin = "does not confirm"
	confirmsWrongly  sin = "confirms on the wrong node"
	losesEvictions   sin = "accepts evictions and forgets them"
	refusesEvictions sin = "refuses all evictions"
	evictsMore       sin = "evicts the neighbours too"
	freesEarly       sin = "reports that a workload is gone while it still runs"
	panicsOnEvict    sin = "panics when asked to evict what has left"
	ignoresEnds      sin = "does not report that a run has ended"
	startsFinished   sin = "has finished workloads placed again"
	ignoresDeadNodes sin = "does not report that a node has gone"
	losesTheDead     sin = "forgets what ran on a node that has gone"
	ignoresNewNodes  sin = "does not tell a new engine of its nodes"
	adoptsNothing    sin = "does not tell a new engine of what runs"
	submitsRunning   sin = "tells a new engine that everything waits"
	losesWaiting     sin = "does not tell a new engine of what waits"
	neverEnds        sin = "does not end its session"
	stopsAtOnce      sin = "refuses binds when its session ends"
	dropsNames       sin = "hands workloads in without their names"
	deniesWrites     sin = "says that a claim was not written, and has written it"
	reportsOldClaims sin = "reports a claim as it was before it was written"
)

// toy is a world without goroutines: a run is an entry in a table. It is the
// smallest adapter that passes, and has every sin built in.
type toy struct {
	sin sin
	log adaptertest.Log

	mu      sync.Mutex
	engine  *engine.Engine // of the session under way
	ctx     context.Context
	nodes   map[string]*model.Node
	wanted  map[string]*model.Workload
	on      map[string]string // the node of each run
	zombie  func()            // ends a run that is gone as far as the engine knows
	release chan struct{}     // ends a session that does not end

	device string                        // the node of the device, empty for none
	claims map[string]*model.DeviceClaim // by workload
}

var (
	_ extpoints.DeviceBinder    = (*toy)(nil)
	_ adaptertest.DeviceHarness = (*toy)(nil)
)

func newToy(s sin) adaptertest.NewHarness {
	return func(tb adaptertest.TB) adaptertest.Harness {
		t := &toy{
			sin: s, nodes: map[string]*model.Node{}, wanted: map[string]*model.Workload{},
			on: map[string]string{}, release: make(chan struct{}), claims: map[string]*model.DeviceClaim{},
		}
		tb.Cleanup(func() { close(t.release) })
		return t
	}
}

func (t *toy) Log() *adaptertest.Log { return &t.log }

// tell tells the engine; a broken toy may well tell nonsense.
func (t *toy) tell(changes ...engine.Change) {
	if t.engine != nil {
		_ = t.engine.Apply(changes...)
	}
}

func (t *toy) AddNode(n *model.Node) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes[n.Name] = n
	t.tell(engine.PutNode(n))
	return nil
}

func (t *toy) KillNode(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.nodes, name)
	if t.sin != ignoresDeadNodes {
		t.tell(engine.RemoveNode(name))
	}
	for _, id := range slices.Sorted(maps.Keys(t.on)) {
		if t.on[id] == name {
			t.end(id)
			if t.sin != losesTheDead {
				t.tell(engine.Requeue(id))
			}
		}
	}
	return nil
}

func (t *toy) Submit(w *model.Workload) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sin == dropsNames {
		w = w.Clone()
		w.Name = ""
	}
	t.wanted[w.ID] = w
	t.tell(engine.Submit(w))
	return nil
}

func (t *toy) Finish(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wanted[name] == nil {
		return errors.New("there is no such workload")
	}
	t.end(name)
	switch t.sin {
	case ignoresEnds:
	case startsFinished:
		t.tell(engine.Requeue(name))
		return nil
	default:
		t.tell(engine.Finish(name))
	}
	if t.claims[name] != nil {
		t.claims[name] = claimOf(name)
		t.tell(engine.PutObject(t.claims[name]))
	}
	delete(t.wanted, name)
	return nil
}

// start starts a run, end ends it.
func (t *toy) start(id, node string) {
	t.on[id] = node
	t.log.Started(id, node)
	if t.zombie != nil {
		t.zombie()
		t.zombie = nil
	}
}

func (t *toy) end(id string) {
	if node, runs := t.on[id]; runs {
		t.log.Ended(id, node)
		delete(t.on, id)
	}
}

func (t *toy) Start(ctx context.Context, cfg engine.Config) (adaptertest.Session, error) {
	cfg.Orchestrator = t
	e, err := engine.New(cfg)
	if err != nil {
		return adaptertest.Session{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.engine, t.ctx = e, ctx
	t.tell(t.everything()...)
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return adaptertest.Session{Engine: e, Wait: func() error {
		err := <-ended
		if t.sin == neverEnds {
			<-t.release
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.engine = nil
		return err
	}}, nil
}

// everything is what a new engine is told.
func (t *toy) everything() []engine.Change {
	var changes []engine.Change
	for _, name := range slices.Sorted(maps.Keys(t.nodes)) {
		if t.sin != ignoresNewNodes {
			changes = append(changes, engine.PutNode(t.nodes[name]))
		}
	}
	changes = append(changes, t.objects()...)
	for _, id := range slices.Sorted(maps.Keys(t.wanted)) {
		node, runs := t.on[id]
		switch {
		case runs && t.sin == adoptsNothing, !runs && t.sin == losesWaiting:
		case runs && t.sin != submitsRunning:
			changes = append(changes, engine.Adopt(t.wanted[id], model.Binding{Node: node}))
		default:
			changes = append(changes, engine.Submit(t.wanted[id]))
		}
	}
	return changes
}

func (t *toy) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sin == lies {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		if t.sin == bindsLate && t.on[w.ID] == "" {
			t.start(w.ID, b.Node)
		}
		return err
	}
	if t.sin == stopsAtOnce && t.ctx.Err() != nil {
		return errors.New("it is over")
	}
	node, runs := t.on[w.ID]
	switch {
	case t.wanted[w.ID] == nil:
		return errors.New("there is no such workload")
	case t.nodes[b.Node] == nil && t.sin != bindsToTheDead:
		return errors.New("there is no such node")
	case runs && node == b.Node && t.sin == refusesAgain:
		return errors.New("it runs already")
	case runs && node == b.Node && t.sin != bindsAgain:
		return nil
	case runs && node != b.Node && t.sin != bindsElsewhere:
		return fmt.Errorf("it runs on %s already", node)
	}
	t.start(w.ID, b.Node)
	switch t.sin {
	case neverConfirms:
	case confirmsWrongly:
		t.tell(engine.Confirm(model.Binding{Workload: w.ID, Node: "nowhere"}))
	default:
		t.tell(engine.Confirm(b))
	}
	return nil
}

// Devices: each claim is for one workload, and there is one device.

func claimOf(workload string) *model.DeviceClaim {
	return modeltest.DeviceClaim(workload).Request("r", "gpu", 1).Build()
}

func (t *toy) AddDevice(node string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.device = node
	t.tell(t.objects()...)
	return nil
}

func (t *toy) SubmitForDevice(w *model.Workload) error {
	t.mu.Lock()
	t.claims[w.ID] = claimOf(w.ID)
	t.tell(engine.PutObject(t.claims[w.ID]))
	t.mu.Unlock()
	w = w.Clone()
	w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: w.ID}}
	return t.Submit(w)
}

func (t *toy) Holders() (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(t.claims)) {
		if t.claims[name].Allocation != nil {
			names = append(names, name)
		}
	}
	return names
}

// objects are what a new engine is told of devices.
func (t *toy) objects() (changes []engine.Change) {
	if t.device == "" {
		return nil
	}
	changes = append(changes, engine.PutObject(modeltest.DeviceClass("gpu")),
		engine.PutObject(modeltest.DeviceSlice("gpu.example.com", "p").Node(t.device).Devices(1).Build()))
	for _, id := range slices.Sorted(maps.Keys(t.claims)) {
		changes = append(changes, engine.PutObject(t.claims[id]))
	}
	return changes
}

// shorterThanABackoff is for an old report: the failed bind is not tried again yet.
const shorterThanABackoff = 5 * time.Millisecond

// BindDevices writes claims and reports them.
func (t *toy) BindDevices(_ context.Context, w *model.Workload, b model.Binding) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range b.Decided {
		c, ok := o.(*model.DeviceClaim)
		if !ok {
			continue
		}
		t.claims[w.ID] = c
		switch t.sin {
		case deniesWrites:
			return fmt.Errorf("%w: the network is down", extpoints.ErrNotWritten)
		case reportsOldClaims:
			time.AfterFunc(shorterThanABackoff, func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.tell(engine.PutObject(claimOf(w.ID)))
			})
			continue
		}
		t.tell(engine.PutObject(c))
	}
	return nil
}

func (t *toy) Evict(_ context.Context, w *model.Workload, _ string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	node, runs := t.on[w.ID]
	switch {
	case t.sin == refusesEvictions:
		return errors.New("no")
	case t.sin == losesEvictions:
		return nil
	case !runs && t.sin == panicsOnEvict:
		panic("it does not run")
	case !runs:
		return nil
	case t.sin == freesEarly:
		// The engine hears of it now and has the room used; the run ends when
		// the next one has started.
		t.tell(engine.Requeue(w.ID))
		delete(t.on, w.ID)
		t.zombie = func() { t.log.Ended(w.ID, node) }
		return nil
	}
	t.end(w.ID)
	if t.sin != ignoresEnds {
		t.tell(engine.Requeue(w.ID))
	}
	if t.sin == evictsMore {
		for _, id := range slices.Sorted(maps.Keys(t.on)) {
			if t.on[id] == node {
				t.end(id)
				t.tell(engine.Requeue(id))
			}
		}
	}
	return nil
}
