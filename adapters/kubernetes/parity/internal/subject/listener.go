package subject

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// listener writes down what comes of a cycle.
func (e *Engine) listener() engine.Listener {
	d := &e.decision
	return engine.Listener{
		Popped:   e.popped,
		Filtered: func(f engine.FilteredEvent) { d.Evaluated, d.Feasible = f.Evaluated, f.Feasible },
		Selected: func(s engine.SelectedEvent) { d.Node = s.Node },
		Rejected: e.rejected,
		Bound: func(p engine.PlacedEvent) {
			d.Decided = append(d.Decided, Decided(e.changed(p.Binding.Decided))...)
			if p.Workload.Group != "" {
				e.member(p.Workload.ID).Node = p.Binding.Node
			}
		},
		Decided: func(g engine.GroupEvent) {
			if g.Group.Parent == "" {
				d.Workload = groupName(g.Group)
			}
		},
		Evicting: func(v engine.EvictingEvent) { d.Victims = append(d.Victims, v.Workload.ID) },
		Failed:   func(f engine.FailedEvent) { e.failures = append(e.failures, f.Err) },
	}
}

// changed leaves out the claims to devices that stay as they are: a member is
// bound with its group's claim, also where nothing of it is new.
func (e *Engine) changed(decided model.Objects) model.Objects {
	return slices.DeleteFunc(slices.Clone(decided), func(o model.Object) bool {
		claim, is := o.(*model.DeviceClaim)
		if !is {
			return false
		}
		old, ok := e.before.Object(model.RefOf(o))
		return ok && DescribeClaim(old.Object.(*model.DeviceClaim)) == DescribeClaim(claim)
	})
}

// groupName is what the reference calls the group.
func groupName(g *model.Group) string {
	if name, composite := cutComposite(g.ID); composite {
		return "compositepodgroup " + name
	}
	return "podgroup " + g.ID
}

func (e *Engine) popped(p engine.PoppedEvent) {
	if p.Workload.Group == "" {
		e.decision = answer.Decision{Workload: p.Workload.ID}
		return
	}
	e.member(p.Workload.ID)
}

// member is what happens to a member in the cycle of its group.
func (e *Engine) member(id string) *answer.Decision {
	if e.members == nil {
		e.members = map[string]*answer.Decision{}
	}
	if e.members[id] == nil {
		e.members[id] = &answer.Decision{Workload: id}
	}
	return e.members[id]
}

func (e *Engine) rejected(r engine.RejectedEvent) {
	d := &e.decision
	rejection := answer.Decision{Workload: r.Workload.ID, Message: words.Text(r.Message), Plugins: r.Plugins, Nominated: r.Nominated}
	if rejection.Message != r.Message {
		rejection.Neutral = r.Message
	}
	if r.Workload.Group != "" { // it may be rejected before anything is tried
		*e.member(r.Workload.ID) = rejection
		return
	}
	rejection.Victims = d.Victims
	*d = rejection
}

// outcome is what the cycle came to.
func (e *Engine) outcome() answer.Decision {
	if e.members == nil {
		return e.decision
	}
	d := answer.Decision{Workload: e.decision.Workload, Victims: e.decision.Victims, Decided: lastOfClaims(e.decision.Decided)}
	for _, id := range slices.Sorted(maps.Keys(e.members)) {
		d.Members = append(d.Members, *e.members[id])
	}
	return d
}

// lastOfClaims sorts what was decided, and leaves of what members that share a
// claim come to about it, one after the other, the last.
func lastOfClaims(decided []string) []string {
	last := map[string]string{}
	for _, words := range decided {
		key := words
		if claim, _, ok := strings.Cut(words, ": "); ok && strings.HasPrefix(claim, "devices for claim ") {
			key = claim
		}
		last[key] = words
	}
	return slices.Sorted(maps.Values(last))
}

// orchestrator does everything that it is asked for at once. What is taken back
// from claims to devices it writes down.
type orchestrator struct {
	extpointstest.Orchestrator
	e *Engine
}

// ReleaseDevices implements [extpoints.DeviceReleaser].
func (o *orchestrator) ReleaseDevices(_ context.Context, claim, left *model.DeviceClaim) error {
	if left == nil {
		left = &model.DeviceClaim{ID: claim.ID, ForResources: true}
	}
	o.e.decision.Decided = append(o.e.decision.Decided, Decided(model.Objects{left})...)
	return nil
}

// BreakTies adds to the profile the counterpart of what the reference has to
// tell equal placements apart.
func BreakTies(profile *extpoints.Profile, tie func(string) int64) {
	for _, name := range []string{plugins.NodeResourcesFit, plugins.PodGroupPodsCount} {
		profile.Plugins = append(profile.Plugins, extpoints.Entry{Name: name, Points: []extpoints.Point{"PlacementScore"}, Weight: reference.PlacementWeight})
	}
	extpoints.Use(profile, func(extpoints.NoArgs, extpoints.Handle) (tieBreaker, error) { return tie, nil }, extpoints.NoArgs{})
}

type tieBreaker func(name string) int64

// Name implements [extpoints.Plugin].
func (tieBreaker) Name() string { return reference.NoEqualPlacements }

// ScorePlacement implements [extpoints.PlacementScorePlugin].
func (t tieBreaker) ScorePlacement(_ *extpoints.CycleState, _ *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	return t(a.Placement.Name), nil
}
