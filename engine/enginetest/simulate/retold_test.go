package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/queue"
)

// Whatever has happened, what a view has can be told to a new engine, in one Apply, also
// where nodes are away and profiles have other names by then: it accepts everything,
// loses nothing, leaves what has a node where it is, and binds each of the others once, to a
// node that is there.
func TestAViewCanBeToldAgainAtEveryStep(t *testing.T) {
	t.Parallel()
	first, histories := modeltest.Seed(t), uint64(12)
	if testing.Short() {
		histories = 1
	}
	for i := range histories {
		for _, o := range []Options{{Steps: 120}, {Steps: 120, Queues: true}} {
			s := newSim(first+i, o)
			s.start()
			s.observe()
			random := rand.New(rand.NewPCG(first, i))
			for s.step < s.o.Steps && s.result.Failure == nil {
				s.oneStep()
				for _, p := range retell(s, random) {
					t.Fatalf("seed %d, queues %v, step %d: %s\n%s", first+i, o.Queues, s.step, p, s.lines[len(s.lines)-1])
				}
			}
			if f := s.result.Failure; f != nil {
				t.Fatalf("seed %d, step %d: %s", first+i, f.Step, f.Message)
			}
		}
	}
}

// retell tells a new engine what the history's has, and says what is wrong with what comes of it.
func retell(s *sim, random *rand.Rand) (p problems) {
	before := s.raw.View()
	told, away := tellable(before, random)
	again := &listeningWorld{bound: map[string]string{}}
	cfg := simConfig(newSimPlugins(s.plugins.plan.Seed, 0), s.o)
	cfg.Orchestrator = again
	if random.IntN(2) == 0 {
		cfg.Profiles[1].Name = "renamed"
	}
	raw, err := engine.NewRaw(cfg)
	if err != nil {
		p.add("no new engine: %v", err)
		return p
	}
	if err := raw.Apply(s.now, told...); err != nil {
		p.add("what was accepted is refused when it is told again: %v", err)
		return p
	}
	compareRows(before, raw.View(), &p)
	if random.IntN(10) == 0 {
		for range 500 {
			if !raw.Schedule(s.now) {
				break
			}
			for task := raw.NextTask(); task != nil; task = raw.NextTask() {
				task.Run(context.Background())
				raw.Finish(s.now, task)
			}
		}
		compareBound(before, raw, again, away, &p)
	}
	for row := range raw.View().WorkloadsIn(model.Pending) {
		checkWaits(raw, &row, cfg, &p)
	}
	return p
}

// tellable are the changes that tell of the view, but for some nodes, which are away.
func tellable(v *engine.View, random *rand.Rand) (changes []engine.Change, away map[string]bool) {
	away = map[string]bool{}
	for ch := range v.Changes() {
		if n, is := ch.Value().(*model.Node); is && random.IntN(4) == 0 {
			away[n.Name] = true
			continue
		}
		changes = append(changes, ch)
	}
	return changes, away
}

// compareRows: the new engine has each workload, where it is.
func compareRows(before, after *engine.View, p *problems) {
	list := func(v *engine.View) map[string]string {
		rows := map[string]string{}
		for row := range v.Workloads() {
			switch row.Phase {
			case model.Assumed:
				row.Phase, row.Node, row.Shares = model.Pending, "", nil
			case model.Bound:
				row.Phase = model.Confirmed
			}
			rows[row.ID] = fmt.Sprintf("%v on %q with %v, of profile %q", row.Phase, row.Node, row.Shares, row.Profile)
		}
		return rows
	}
	was, is := list(before), list(after)
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if was[id] != is[id] {
			p.add("%s was %s, and is %q", id, was[id], is[id])
		}
	}
	if len(is) != len(was) {
		p.add("%d workloads have become %d", len(was), len(is))
	}
}

// compareBound: what had a node keeps it, and what was bound goes to one that is there.
func compareBound(before *engine.View, raw *engine.Raw, world *listeningWorld, away map[string]bool, p *problems) {
	*p = append(*p, world.problems...)
	for row := range before.Workloads() {
		node, bound := world.bound[row.ID]
		waited := row.Phase == model.Pending || row.Phase == model.Assumed
		now, _ := raw.View().Workload(row.ID)
		switch {
		case bound && !waited:
			p.add("%s was %v on %q, and was bound to %s", row.ID, row.Phase, row.Node, node)
		case bound && away[node]:
			p.add("%s was bound to %s, which is away", row.ID, node)
		case !waited && now.Node != row.Node:
			p.add("%s was on %s, and is on %s", row.ID, row.Node, now.Node)
		}
	}
}

// checkWaits: one that waits does so in a place, gated where its profile is not there; and it can be
// said why.
func checkWaits(raw *engine.Raw, row *model.WorkloadRecord, cfg engine.Config, p *problems) {
	pos, waits := raw.Queue(row.ID)
	there := row.Profile == ""
	for i := range cfg.Profiles {
		there = there || cfg.Profiles[i].Name == row.Profile
	}
	switch {
	case !waits:
		p.add("%s waits nowhere", row.ID)
	case !there && (pos.Place != queue.Gated || pos.GatingPlugin != queue.ProfileGate):
		p.add("%s names profile %q, which is not there, and is %v because of %q", row.ID, row.Profile, pos.Place, pos.GatingPlugin)
	case there && pos.GatingPlugin == queue.ProfileGate:
		p.add("%s is gated although profile %q is there", row.ID, row.Profile)
	}
}

// listeningWorld binds everything, once.
type listeningWorld struct {
	deafWorld
	bound    map[string]string
	problems problems
}

// Bind implements [extpoints.Orchestrator].
func (w *listeningWorld) Bind(_ context.Context, workload *model.Workload, b model.Binding) error {
	if other, twice := w.bound[workload.ID]; twice {
		w.problems.add("%s was bound to %s, and again to %s", workload.ID, other, b.Node)
	}
	w.bound[workload.ID] = b.Node
	return nil
}

// That the same room is reported once more is a report: what was asked for before is in it.
func TestRoomThatIsReportedAgain(t *testing.T) {
	for _, again := range []bool{true, false} {
		s := newSim(1, Options{Scarce: true})
		s.start()
		size := int64(6)
		room := &model.StorageCapacity{ID: "room", Class: diskClass, Nodes: &model.Selector{}, Capacity: &size}
		first, second := &model.VolumeClaim{ID: "first", Class: diskClass, Request: 5, SelectedNode: "n"}, &model.VolumeClaim{ID: "second", Class: diskClass, Request: 5}
		for _, o := range []model.Object{room, first, second} {
			s.world.facts.put(o)
			s.tellOf(refTo(o))
		}
		s.takes(first, room)
		if again {
			s.tellOf(refTo(room))
		}
		if s.takes(second, room); (s.result.Failure == nil) != again {
			t.Errorf("reported again: %v, and the simulation says %+v", again, s.result.Failure)
		}
	}
}
