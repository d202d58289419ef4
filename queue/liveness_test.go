package queue

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// honest are plugins that shut gates by what the world is, and whose hints say of each
// change whose gate it may have opened: no more and no less.
type honest struct {
	shut    map[string]bool   // plugin Own: members; plugin Group: groups
	members map[string]string // plugin Size: the groups of all members
	groups  groupMap
}

// plugins are the gates: one that looks at the member, one that looks at its group as it
// is, and one that wants two members in it.
var honestPlugins = []string{"Own", "Group", "Size"}

func (h *honest) open(plugin string, w *model.Workload) bool {
	switch plugin {
	case "Own":
		return !h.shut[w.ID]
	case "Group":
		return !h.shut[w.Group]
	}
	n := 0
	for _, group := range h.members {
		if group == w.Group {
			n++
		}
	}
	return n >= 2
}

type honestGate struct {
	*honest
	name string
}

func (g honestGate) Name() string { return g.name }

func (g honestGate) PreEnqueue(w *model.Workload) *extpoints.Status {
	if g.open(g.name, w) {
		return nil
	}
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, g.name+" is shut")
}

var (
	ownOpened   = extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.UpdateWorkloadLabel}
	groupOpened = extpoints.ClusterEvent{Resource: extpoints.GroupResource, Action: extpoints.Update}
	memberCame  = extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add}
)

func (h *honest) hints(plugin string) PluginHints {
	event, hint := memberCame, func(w *model.Workload, c *extpoints.Event) bool { return c.NewWorkload.Group == w.Group }
	switch plugin {
	case "Own":
		event, hint = ownOpened, func(w *model.Workload, c *extpoints.Event) bool { return c.NewWorkload.ID == w.ID }
	case "Group":
		event, hint = groupOpened, func(w *model.Workload, c *extpoints.Event) bool { return c.NewGroup.ID == w.Group }
	}
	return PluginHints{Plugin: plugin, Events: []extpoints.EventHint{{Event: event,
		Hint: func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
			if hint(w, c) {
				return extpoints.HintQueue, nil
			}
			return extpoints.HintSkip, nil
		}}}}
}

// TestTreesWithOpenGatesAreNotGated: whatever comes and goes, a tree is held only as long
// as the gate of some member is shut, provided that the hints tell of each gate that
// opens. Nothing is left to the timeout.
func TestTreesWithOpenGatesAreNotGated(t *testing.T) {
	gated := 0
	for _, s := range seeds(t, 300) {
		gated += playHonest(t, s)
		if t.Failed() {
			return
		}
	}
	if gated < 1000 {
		t.Errorf("trees were gated %d times only", gated)
	}
}

// playHonest plays with one queue, and counts how often trees were found gated.
func playHonest(t *testing.T, seed uint64) (gated int) {
	r := rand.New(rand.NewPCG(seed, 0))
	p := &honestPlay{r: r, now: start, popped: map[string]*Item{}, know: map[string]*extpoints.WorkloadInfo{}}
	p.honest = &honest{shut: map[string]bool{}, members: map[string]string{}, groups: groupMap{
		"K": {ID: "K"}, "L": {ID: "L"}, "P": {ID: "P", Composite: true},
	}}
	timing := Timing{NoPopFromBackoff: r.IntN(3) == 0}
	cfg := Hooks{
		Less: byPriority, AsGroups: map[string]bool{"a": true, "b": true}, Groups: func() GroupTrees { return p.groups },
		PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{}, Hints: map[string][]PluginHints{},
	}
	for _, profile := range []string{"a", "b"} {
		for _, plugin := range honestPlugins {
			if r.IntN(3) > 0 {
				cfg.PreEnqueue[profile] = append(cfg.PreEnqueue[profile], honestGate{p.honest, plugin})
			}
			cfg.Hints[profile] = append(cfg.Hints[profile], p.hints(plugin))
		}
	}
	var err error
	if p.q, err = New(timing, extpoints.Improved, cfg); err != nil {
		t.Fatal(err)
	}
	for step := range 300 {
		p.now = p.now.Add(time.Duration(1+r.IntN(500)) * time.Millisecond)
		did := p.play()
		for _, it := range p.q.byRoot {
			if it.place == Unschedulable {
				t.Errorf("seed %d (use -seed), step %d, %s: tree %s waits for events, and no gate holds it", seed, step, did, it.ID())
			}
			if it.place != Gated {
				continue
			}
			gated++
			if !slices.ContainsFunc(it.Members, func(m *Item) bool {
				return slices.ContainsFunc(cfg.PreEnqueue[m.Workload.Profile], func(g extpoints.PreEnqueuePlugin) bool {
					return !p.open(g.Name(), m.Workload)
				})
			}) {
				t.Errorf("seed %d (use -seed), step %d, %s: tree %s is gated (%v), and all gates are open", seed, step, did, it.ID(), it.Gate)
			}
		}
	}
	return gated
}

// honestPlay is what is done to a queue.
type honestPlay struct {
	*honest
	r      *rand.Rand
	q      *Queue
	now    time.Time
	know   map[string]*extpoints.WorkloadInfo
	popped map[string]*Item // members in flight
	trees  []*Item          // trees being tried
}

// play does something, and says what.
func (p *honestPlay) play() string {
	r, q := p.r, p.q
	id := string(rune('a' + r.IntN(8)))
	switch op := r.IntN(20); {
	case op < 4:
		if p.know[id] != nil {
			return "nothing"
		}
		p.put(id)
		q.Add(p.now, p.know[id])
		p.came(p.know[id])
		return fmt.Sprintf("add %+v", *p.know[id].Workload)
	case op < 6:
		old := p.know[id]
		if old == nil {
			return "nothing"
		}
		p.put(id)
		q.Update(p.now, old, p.know[id])
		p.came(p.know[id])
		return fmt.Sprintf("update %+v", *p.know[id].Workload)
	case op < 7:
		delete(p.know, id)
		delete(p.members, id)
		q.Delete(id)
		return "delete " + id
	case op < 10:
		return p.toggle(id)
	case op < 12:
		return p.pop()
	case op < 14:
		return p.end()
	case op < 15:
		q.Activate(p.now, id)
		return "activate " + id
	case op < 16:
		q.Retry(p.now, id, EvictionFailed)
		return "retry " + id
	case op < 17:
		return p.regroup()
	}
	q.Tick(p.now)
	return "tick"
}

// put makes a version of a workload.
func (p *honestPlay) put(id string) {
	w := &model.Workload{
		ID: id, Group: []string{"K", "K", "L", "L", ""}[p.r.IntN(5)], Profile: []string{"a", "b"}[p.r.IntN(2)], Priority: int32(p.r.IntN(3)),
	}
	p.know[id] = &extpoints.WorkloadInfo{Workload: w}
	p.members[id] = w.Group
}

// came tells of a workload that is in a group now.
func (p *honestPlay) came(w *extpoints.WorkloadInfo) {
	p.q.Move(p.now, &extpoints.Event{ClusterEvent: memberCame, NewWorkload: w}, nil)
}

// toggle shuts or opens a gate. That one has shut is told to nobody.
func (p *honestPlay) toggle(id string) string {
	if p.r.IntN(3) == 0 {
		id = []string{"K", "L"}[p.r.IntN(2)]
	}
	p.shut[id] = !p.shut[id]
	switch {
	case p.shut[id]:
		return "shut " + id
	case p.groups[id] != nil:
		p.q.Move(p.now, &extpoints.Event{ClusterEvent: groupOpened, NewGroup: p.groups[id]}, nil)
	case p.know[id] != nil:
		p.q.Move(p.now, &extpoints.Event{ClusterEvent: ownOpened, NewWorkload: p.know[id]}, nil)
	}
	return "open " + id
}

// pop begins an attempt.
func (p *honestPlay) pop() string {
	it, ok := p.q.Pop(p.now)
	switch {
	case !ok:
		return "pop nothing"
	case it.Group == nil:
		p.popped[it.ID()] = it
		return "pop " + it.ID()
	}
	p.trees = append(p.trees, it)
	for _, m := range it.Members {
		p.popped[m.ID()] = m
	}
	return "pop tree " + it.ID()
}

// end ends an attempt of a tree, or of a workload, somehow.
func (p *honestPlay) end() string {
	back := func(m *Item) {
		switch {
		case p.popped[m.ID()] != m:
		case p.r.IntN(4) == 0:
			p.q.Done(m.ID())
		default:
			p.q.AddUnschedulable(p.now, m, []string{"Fit"}[:p.r.IntN(2)], nil)
		}
		delete(p.popped, m.ID())
	}
	if len(p.trees) > 0 {
		it := p.trees[0]
		p.trees = p.trees[1:]
		for _, m := range slices.Clone(it.Members) {
			back(m)
		}
		how := Outcome(p.r.IntN(4))
		p.q.AddAttempted(p.now, it, how)
		return fmt.Sprint("end tree ", it.ID(), how)
	}
	for _, id := range slices.Sorted(maps.Keys(p.popped)) {
		back(p.popped[id])
		return "end " + id
	}
	return "nothing"
}

// regroup changes a group: its place in the tree, or whether it is there.
func (p *honestPlay) regroup() string {
	id := []string{"K", "L", "P"}[p.r.IntN(3)]
	switch {
	case p.groups[id] != nil && p.r.IntN(3) == 0:
		delete(p.groups, id)
	case id == "P":
		p.groups[id] = &model.Group{ID: id, Composite: true, Priority: int32(p.r.IntN(3))}
	default:
		p.groups[id] = &model.Group{ID: id, Parent: []string{"", "P"}[p.r.IntN(2)], Priority: int32(p.r.IntN(3))}
	}
	p.q.GroupChanged(p.now, id)
	return fmt.Sprintf("group %s is %+v", id, p.groups[id])
}
