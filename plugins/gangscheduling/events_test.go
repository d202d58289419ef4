package gangscheduling

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// hintOf asks the plugin's hints about the change.
func hintOf(t *testing.T, p *GangScheduling, w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	t.Helper()
	hints, err := p.EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hints {
		if h.Event.Matches(c.ClusterEvent) {
			if hint, err := h.Hint(w, c); err != nil || hint == extpoints.HintQueue {
				return hint, err
			}
		}
	}
	return extpoints.HintSkip, nil
}

const trees = "gang g 2: a | gang h 2: b | gang* top 2 | gang l 1 < top | gang* mid 1 < top | gang m 1 < mid | gang lost 1 < nowhere | gang lost2 1 < nowhere"

func member(group string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "new", Group: group}}
}

func TestHintsOfMembers(t *testing.T) {
	for _, c := range []struct {
		group, added string
		want         extpoints.Hint
	}{
		{"g", "g", extpoints.HintQueue},
		{"g", "h", extpoints.HintSkip},
		{"g", "", extpoints.HintSkip},
		{"", "g", extpoints.HintSkip},
		{"", "", extpoints.HintSkip},
		{"l", "m", extpoints.HintQueue},
		{"m", "l", extpoints.HintQueue},
		{"m", "g", extpoints.HintSkip},
		{"none", "none", extpoints.HintSkip},  // the group's coming will wake it
		{"lost", "lost2", extpoints.HintSkip}, // and so will the parent's
	} {
		for _, resource := range []model.ObjectKind{extpoints.UnscheduledWorkload, extpoints.AssignedWorkload} {
			p, _ := world(trees).plugin(t)
			change := &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: resource, Action: extpoints.Add}, NewWorkload: member(c.added)}
			if got, err := hintOf(t, p, &model.Workload{ID: "w", Group: c.group}, change); got != c.want || err != nil {
				t.Errorf("%s is added to %q: %v, %v for a member of %q; want %v", resource, c.added, got, err, c.group, c.want)
			}
		}
	}
}

func TestHintsOfGroups(t *testing.T) {
	gang := func(id string, n int32) *model.Group { return &model.Group{ID: id, Policy: model.Gang, MinCount: n} }
	basic := func(id string) *model.Group { return &model.Group{ID: id} }
	under := func(parent string, g *model.Group) *model.Group { g.Parent = parent; return g }
	for _, c := range []struct {
		name          string
		group         string
		before, after *model.Group
		want          extpoints.Hint
	}{
		{"its own group is added", "g", nil, gang("g", 2), extpoints.HintQueue},
		{"another is added", "g", nil, gang("h", 2), extpoints.HintSkip},
		{"the top of its tree is added", "m", nil, gang("top", 2), extpoints.HintQueue},
		{"a group of its tree is added", "m", nil, gang("l", 2), extpoints.HintQueue},
		{"a group of another tree is added", "m", nil, gang("g", 2), extpoints.HintSkip},
		{"no group", "", nil, gang("g", 2), extpoints.HintSkip},
		{"fewer are needed", "g", gang("g", 3), gang("g", 2), extpoints.HintQueue},
		{"as many are needed", "g", gang("g", 2), gang("g", 2), extpoints.HintSkip},
		{"more are needed", "g", gang("g", 2), gang("g", 3), extpoints.HintSkip},
		{"fewer are needed elsewhere", "g", gang("h", 3), gang("h", 2), extpoints.HintSkip},
		{"fewer are needed in the tree", "m", gang("l", 3), gang("l", 2), extpoints.HintQueue},
		{"fewer children are needed", "m", gang("top", 3), gang("top", 2), extpoints.HintQueue},
		{"it is no gang any more", "g", gang("g", 3), basic("g"), extpoints.HintQueue},
		{"it becomes a gang", "g", basic("g"), gang("g", 1), extpoints.HintSkip},
		{"it leaves its tree", "g", under("top", gang("g", 2)), gang("g", 2), extpoints.HintQueue},
		{"a group joins the tree", "m", gang("l", 1), under("top", gang("l", 1)), extpoints.HintQueue},
	} {
		p, _ := world(trees).plugin(t)
		change := &extpoints.Event{
			ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.GroupResource, Action: extpoints.Update},
			OldGroup:     c.before, NewGroup: c.after,
		}
		if c.before == nil {
			change.ClusterEvent.Action = extpoints.Add
		}
		if got, err := hintOf(t, p, &model.Workload{ID: "w", Group: c.group}, change); got != c.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// A change without its object counts as Queue, and what nobody registered for
// changes nothing.
func TestHintsOfTheUnknown(t *testing.T) {
	for event, fails := range map[extpoints.ClusterEvent]bool{
		{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add}: true,
		{Resource: extpoints.AssignedWorkload, Action: extpoints.Add}:    true,
		{Resource: extpoints.GroupResource, Action: extpoints.Add}:       true,
		{Resource: extpoints.GroupResource, Action: extpoints.Update}:    true,
		{Resource: extpoints.GroupResource, Action: extpoints.Delete}:    false,
		{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete}: false,
		{Resource: extpoints.NodeResource, Action: extpoints.Add}:        false,
	} {
		p, _ := world(trees).plugin(t)
		hint, err := hintOf(t, p, &model.Workload{ID: "w", Group: "g"}, &extpoints.Event{ClusterEvent: event})
		if (err != nil) != fails || (hint == extpoints.HintQueue) != fails {
			t.Errorf("%v: %v, %v", event, hint, err)
		}
	}
}

// Whatever lets a member into the queue that was held back, a hint says so.
func TestNoChangeIsSleptThrough(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	woken := 0
	for range 4000 {
		f := world("")
		for i, id := range []string{"top", "mid", "g", "h"} {
			if r.IntN(6) > 0 {
				f.view.GroupList = append(f.view.GroupList, randomGroup(r, id, i < 2))
			}
		}
		for i := range r.IntN(4) {
			f.view.PendingMembers = append(f.view.PendingMembers, &model.Workload{ID: fmt.Sprint(i), Group: []string{"g", "h"}[r.IntN(2)]})
		}
		p, _ := f.plugin(t)
		w := &model.Workload{ID: "w", Group: "g"}
		f.view.PendingMembers = append(f.view.PendingMembers, w)
		before := p.PreEnqueue(w)
		change := randomChange(r, f)
		if after := p.PreEnqueue(w); before.IsSuccess() || !after.IsSuccess() {
			continue
		}
		woken++
		if hint, err := hintOf(t, p, w, change); hint != extpoints.HintQueue || err != nil {
			t.Fatalf("BERTH_SEED=%d: %v, %v after %+v %+v %+v", seed, hint, err, change.ClusterEvent, change.OldGroup, change.NewGroup)
		}
	}
	if woken < 50 {
		t.Errorf("BERTH_SEED=%d: only %d changes made a difference", seed, woken)
	}
}

func randomGroup(r *rand.Rand, id string, composite bool) *model.Group {
	g := &model.Group{ID: id, Composite: composite}
	if r.IntN(2) == 0 {
		g.Policy, g.MinCount = model.Gang, 1+r.Int32N(3)
	}
	switch {
	case id == "mid" && r.IntN(3) > 0:
		g.Parent = "top"
	case !composite && r.IntN(3) > 0:
		g.Parent = []string{"top", "mid"}[r.IntN(2)]
	}
	return g
}

// randomChange adds a member, or adds or changes a group.
func randomChange(r *rand.Rand, f *fixture) *extpoints.Event {
	if r.IntN(3) == 0 {
		added := member([]string{"g", "h"}[r.IntN(2)])
		f.view.PendingMembers = append(f.view.PendingMembers, added.Workload)
		return &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.UnscheduledWorkload, Action: extpoints.Add}, NewWorkload: added}
	}
	ids := []string{"top", "mid", "g", "h"}
	i := r.IntN(4)
	change := &extpoints.Event{NewGroup: randomGroup(r, ids[i], i < 2)}
	change.ClusterEvent = extpoints.ClusterEvent{Resource: extpoints.GroupResource, Action: extpoints.Add}
	for j, g := range f.view.GroupList {
		if g.ID == ids[i] {
			change.OldGroup, change.ClusterEvent.Action = g, extpoints.Update
			f.view.GroupList[j] = change.NewGroup
			return change
		}
	}
	f.view.GroupList = append(f.view.GroupList, change.NewGroup)
	return change
}
