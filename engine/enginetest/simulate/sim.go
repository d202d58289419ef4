package simulate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/faults"
	"github.com/berth-project/berth/model"
)

// simEpoch is when histories begin.
var simEpoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// sim is a history under way.
type sim struct {
	// extended: extenders have a say. plansAhead: the engine does.
	extended, plansAhead bool

	o   Options
	rng *rand.Rand
	now time.Time

	raw     *engine.Raw
	inputs  []input // all kinds of them
	plugins simPlugins
	handle  *handleHolder
	world   simWorld
	tasks   []*simTask // handed out and not given back
	current *simTask   // running
	nested  bool       // in a task that is running

	cur, prev *observed
	forced    map[string]bool
	disputed  map[nodePort]bool
	gone      []string          // workloads that were removed since the engine was made
	evicting  string            // the workload of the last Evicting event
	evictions map[string]string // from which node; asked of the engine, and not of the orchestrator yet
	roomFor   map[string]string // for whom each of them was to make room
	plans     map[string]string // who is to make room, and for whom
	missed    map[string]bool   // waited on permit when something happened that Hold asked for
	nominated map[string]int    // after how many attempts somebody else has nominated it
	turns     turns
	stages    map[string]string // the last that each workload was told of
	budgetAt  map[string]uint64 // the index of the view when a budget was reported last
	evictedAt map[string]uint64 // and when the workload was asked to leave
	toBeMade  map[string]madeIn // where volumes are to be made since it was reported what room there is, by claim
	tooFar    map[string]bool   // rejected by NetworkOverhead, and not placed since
	made      int               // workloads ever made

	// Which of the kinds of things there are in this history.
	groups, volumes, devices bool
	networked                bool
	told                     bool              // the last input has reported objects
	toldMeasures             bool              // or what was measured of a node
	seen                     *sight            // of groups, since the last attempt
	attempting               bool              // an attempt is being made
	attempts                 int               // how many were made
	took                     []model.Binding   // what has been given a node in the last
	asOne                    map[string]string // groups that leave as one in this step, and for whom

	hostility    *hostility
	broken       int  // how often the listener was told that the engine is
	saidBroken   bool // the engine has said so to somebody who called it back
	unreplayable bool // something that counts is not in the log
	misordered   bool // Less has panicked: what waits may be in another order for as long as this engine lives
	cut          bool // the recorder has failed

	rotated int          // the step at which the last log began
	plan    *faults.Plan // of the faulty plugin, as it was then
	step    int
	lines   []string
	result  *Result
	log     bytes.Buffer
	events  []string
}

// madeIn is where a volume is to be made, and how large it is.
type madeIn struct {
	room  string // the ID of the capacity
	bytes int64
}

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
	wrote        map[model.ObjectRef]any // what of it the engine asked for: an allocation, or the claim of a volume
	touchedNodes map[string]time.Time
	broken       map[string]bool // nodes that start nothing
	zones        map[string]*zonedNode
	mu           sync.Mutex // held by calls that are about objects
}

func newSimWorld(s *sim) simWorld {
	return simWorld{
		sim: s, book: map[string]*booked{}, nodes: map[string]*model.Node{},
		groups: map[string]*model.Group{}, facts: newSimFacts(), wrote: map[model.ObjectRef]any{}, touchedNodes: map[string]time.Time{}, broken: map[string]bool{},
		zones: map[string]*zonedNode{},
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
	owes     [2]bool   // a report of what the binder may have written
	hangs    time.Time // until then it does not answer
	ran      bool      // it was run, or settled
	bound    bool      // and told the engine that it is bound
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

// binds reports whether it is a binding.
func (t *simTask) binds() bool { return !t.evicts && t.releases == "" }

// binderPlan is how a call that is about objects goes. It is drawn before the
// call: two of them may be made at once, and must not share the choices.
type binderPlan struct {
	// unreachable: nothing is done, certain: and it says so; partly: one thing is, and no more; lost: all
	// is done, and nobody hears of it; late: other things happen before.
	unreachable, certain, partly, lost, late bool
	// unmade: a volume is not made, takenBack: and the node is not selected any
	// more; notReady: the devices are given and fail.
	unmade, takenBack, notReady bool
}

// input is a kind of input. do makes one and says what it was; empty where
// there is nothing to do it to.
type input struct {
	name   string
	weight int
	do     func(*sim) string
	// alone: it cannot come while a task runs.
	alone bool
}

// kind draws whether the history has the kind of things that inputs of the name
// are about.
func (s *sim) kind(input string, share int) bool {
	return s.chance(share) && !slices.Contains(s.o.Without, input)
}

// chooseInput draws a kind of input.
func (s *sim) chooseInput() *input {
	total := 0
	for i := range s.inputs {
		total += s.inputs[i].weight
	}
	for range 20 {
		n := s.rng.IntN(total)
		for i := range s.inputs {
			if n -= s.inputs[i].weight; n < 0 {
				if !slices.Contains(s.o.Without, s.inputs[i].name) && !(s.nested && s.inputs[i].alone) {
					return &s.inputs[i]
				}
				break
			}
		}
	}
	return &s.inputs[0]
}

// note writes a step down.
func (s *sim) note(number int, what string) {
	mark := ""
	if s.nested {
		mark = "  (while it runs) "
	}
	s.lines = append(s.lines, fmt.Sprintf("%4d %s %s%s", number, s.now.Sub(simEpoch), mark, what))
	if len(s.lines) > 60 {
		s.lines = append(s.lines[:0], s.lines[30:]...)
	}
}

// fail notes the first broken invariant. It does not panic: it may be called
// from within a plugin, whose panics the engine keeps to itself.
func (s *sim) fail(format string, args ...any) {
	if s.broken > 0 {
		return // nothing that such an engine does counts, until it is replaced
	}
	if s.result.Failure == nil {
		last := s.lines[max(0, len(s.lines)-30):]
		s.result.Failure = &Failure{Step: s.step, Message: fmt.Sprintf(format, args...), Last: slices.Clone(last)}
	}
}

// reach counts that the history has come by something.
func (s *sim) reach(what string) { s.result.Reached[what]++ }

// chance is true in n of a hundred cases.
func (s *sim) chance(n int) bool { return s.rng.IntN(100) < n }

// ifScarce is the first number in a history in which devices and volumes are scarce.
func (s *sim) ifScarce(yes, no int) int {
	if s.o.Scarce {
		return yes
	}
	return no
}

// pickOf returns one of the choices, the zero value where there are none.
func pickOf[T any](s *sim, choices []T) T {
	if len(choices) == 0 {
		var none T
		return none
	}
	return choices[s.rng.IntN(len(choices))]
}

// row is the workload as the engine has it.
func (s *sim) row(id string) (model.WorkloadRecord, bool) { return s.raw.View().Workload(id) }

// rowsWhere lists the workloads for which the condition holds.
func (s *sim) rowsWhere(holds func(*model.WorkloadRecord) bool) []string {
	var ids []string
	for row := range s.raw.View().Workloads() {
		if holds(&row) {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// apply gives the engine valid changes.
func (s *sim) apply(changes ...engine.Change) bool {
	if err := s.raw.Apply(s.now, changes...); err != nil {
		s.fail("valid changes are refused: %v", err)
		return false
	}
	return true
}

func (s *sim) nextWorkload() string { s.made++; return faults.WorkloadID(s.made - 1) }

// quietly runs something that must not count: nobody takes notes, and the
// faulty plugin does nothing but answer.
func (s *sim) quietly(f func()) {
	plan, rounds := s.plugins.plan, s.plugins.rounds
	plan.Mute, rounds.Ignore = true, true
	s.hostility.spare(f)
	plan.Mute, rounds.Ignore = false, false
}

// sortedBook lists the workloads of the book by ID.
func (s *sim) sortedBook() []*model.Workload {
	list := make([]*model.Workload, 0, len(s.world.book))
	for _, id := range sortedKeys(s.world.book) {
		list = append(list, s.world.book[id].spec)
	}
	return list
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

// happened notes that something has happened that Hold asked for, for those that
// it holds, or for one of them.
func (s *sim) happened(only string) {
	for id := range s.cur.waiting {
		if only == "" || only == id {
			s.missed[id] = true
		}
	}
}
