package simulate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// simWorld is the orchestrator of a history. Its book is what really runs
// where, kept without asking the engine; a real orchestrator has one too, and
// an engine that starts anew is told from it.
type simWorld struct {
	sim   *sim
	book  map[string]*booked
	nodes map[string]*model.Node
	order []string  // of the nodes that are there, as they came
	reach bool      // nothing fails any more
	calm  time.Time // since when, and everything is reported at once

	groups       map[string]*model.Group // that are there
	facts        simFacts
	touchedNodes map[string]time.Time
	mu           sync.Mutex // held by calls that are about objects
}

func newSimWorld(s *sim) simWorld {
	return simWorld{
		sim: s, book: map[string]*booked{}, nodes: map[string]*model.Node{},
		groups: map[string]*model.Group{}, facts: newSimFacts(), touchedNodes: map[string]time.Time{},
	}
}

// simTask is a task that the engine has handed out.
type simTask struct {
	task     *engine.Task
	id, node string
	placed   time.Time // since when it is there; of an eviction
	evicts   bool
	releases string // the claim that is to lose its devices
	decided  model.Objects
	plans    [2]binderPlan
	ran      bool // it was run, or settled
	bound    bool // and told the engine that it is bound
	// abandoned: the engine no longer wants it; stopped: it wants it ended.
	abandoned, stopped bool
}

func (t *simTask) String() string {
	if t.evicts {
		return "evict " + t.id
	}
	if t.releases != "" {
		return "take the devices back from " + t.releases
	}
	return "bind " + t.id + " to " + t.node
}

var (
	errUnreachable = errors.New("the node does not answer")
	errLostAnswer  = errors.New("the answer was lost")
	errNoSuchNode  = errors.New("there is no such node")
	errElsewhere   = errors.New("it runs on another node")
	errRefused     = errors.New("the node refuses")
)

// Bind implements [extpoints.Orchestrator]. It fails in every way there is:
// before anything is done, after it is done, and in between the engine may be
// told something else.
func (w *simWorld) Bind(ctx context.Context, workload *model.Workload, b model.Binding) error {
	s := w.sim
	t := s.current
	switch {
	case t == nil || t.id != workload.ID || t.node != b.Node:
		s.fail("%s was bound to %s by nobody's task", workload.ID, b.Node)
	case t.abandoned || t.stopped:
		s.fail("%v was called off, and carried out", t)
	}
	e := w.book[workload.ID]
	if e == nil || e.ended {
		s.fail("%s was bound to %s when it was gone", workload.ID, b.Node)
		return errElsewhere
	}
	w.checkReady(workload, &b)
	if !w.reach && s.chance(15) {
		return errUnreachable
	}
	if !w.reach {
		s.meanwhile()
	}
	// What was decided meanwhile counts, unless it comes too late.
	if w.book[workload.ID] != e || e.ended || w.nodes[b.Node] == nil {
		return errNoSuchNode
	}
	if ctx.Err() != nil && s.chance(50) {
		return context.Cause(ctx)
	}
	return w.run(e, b, t)
}

// run starts the workload on the node, or finds that it runs there already.
func (w *simWorld) run(e *booked, b model.Binding, t *simTask) error {
	s := w.sim
	if e.node != "" && e.node != b.Node {
		if e.known && !t.abandoned {
			s.fail("%s was bound to %s, and runs on %s, as the engine was told", b.Workload, b.Node, e.node)
		}
		return errElsewhere
	}
	if e.leaving {
		return errRefused
	}
	if e.node == "" {
		e.node, e.devices, e.known, e.unreported = b.Node, b.Devices, false, true
	}
	if !w.reach && s.chance(8) {
		return errLostAnswer
	}
	t.bound = true
	return nil
}

// Evict implements [extpoints.Orchestrator].
func (w *simWorld) Evict(_ context.Context, workload *model.Workload, _ string) error {
	s := w.sim
	if !w.reach && s.chance(20) {
		if s.chance(30) {
			panic("a planned panic of the orchestrator")
		}
		return errUnreachable
	}
	if !w.reach {
		s.meanwhile()
	}
	if e := w.book[workload.ID]; e != nil && e.spec.ID == workload.ID && s.current.node != "" && e.node == s.current.node {
		e.leaving = true
		s.current.bound = true
	}
	return nil
}

// meanwhile lets things happen while a task runs.
func (s *sim) meanwhile() {
	if s.nested || !s.chance(15) {
		return
	}
	s.nested = true
	for range 1 + s.rng.IntN(2) {
		if s.result.Failure == nil {
			s.oneStep()
		}
	}
	s.nested = false
}

// lost forgets that the workload runs.
func (e *booked) lost() {
	e.node, e.devices, e.known, e.unreported, e.leaving = "", nil, false, false, false
}

// tellAll tells a new engine everything: the nodes, what runs, and what is to
// be placed.
func (s *sim) tellAll() {
	var changes []engine.Change
	if len(s.world.nodes) == 0 {
		s.newGroups()
		if s.volumes {
			s.newStorage()
		}
		if s.devices {
			s.newDeviceWorld()
		}
		for range s.o.Nodes {
			n := s.newNode()
			s.world.put(n)
		}
	}
	for _, id := range sortedKeys(s.world.groups) {
		changes = append(changes, engine.Change{PutGroup: s.world.groups[id]})
	}
	changes = append(changes, s.retellObjects()...)
	for _, name := range s.world.order {
		changes = append(changes, engine.Change{PutNode: s.world.nodes[name]})
		s.forced[name] = true
	}
	ids := slices.Sorted(maps.Keys(s.world.book))
	for _, id := range ids {
		changes = append(changes, s.retell(id)...)
	}
	s.apply(changes...)
}

// retell is how a new engine learns of one workload.
func (s *sim) retell(id string) []engine.Change {
	e := s.world.book[id]
	if e.spec.NodeName != "" && s.world.nodes[e.spec.NodeName] == nil && e.node == "" {
		e.ended = true // nobody will ever run it
	}
	switch {
	case e.ended:
		delete(s.world.book, id)
		return nil
	case e.node == "":
		e.lost()
		return []engine.Change{{Submit: e.spec}}
	}
	e.known, e.unreported = true, false
	s.forced[e.node] = true
	adopt := engine.Change{Adopt: &engine.Placement{Workload: e.spec, Node: e.node, Devices: e.devices}}
	if e.leaving {
		return []engine.Change{adopt, {Terminate: id}}
	}
	return []engine.Change{adopt}
}

// put adds the node or replaces it.
func (w *simWorld) put(n *model.Node) {
	if w.nodes[n.Name] == nil {
		w.order = append(w.order, n.Name)
	}
	w.nodes[n.Name] = n
	w.touchedNodes[n.Name] = w.sim.now
}

func (w *simWorld) drop(name string) {
	delete(w.nodes, name)
	w.order = slices.DeleteFunc(w.order, func(n string) bool { return n == name })
}
