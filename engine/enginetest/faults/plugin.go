package faults

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Plan decides when and how the faulty plugin misbehaves. What it decides
// depends on its seed and on what it is asked about only: on the seed of the
// cycle, or, where there is no cycle, on how often it was asked before. So an
// engine that makes the same calls gets the same faults, also in a replay, and
// whatever the number of workers.
type Plan struct {
	Seed  uint64             // decides which calls go wrong and how
	Share uint64             // how many calls in a thousand go wrong
	Off   bool               // from now on none does
	Mute  bool               // ask nothing of the engine, and do not count
	Hook  func(point string) // called at each point first, unless it is nil; it may panic
	asked map[string]uint64  // how often, by point and workload; off the cycle only
}

// NewPlan returns a plan by which that many calls in a thousand go wrong.
func NewPlan(seed, share uint64) *Plan {
	return &Plan{Seed: seed, Share: share, asked: map[string]uint64{}}
}

// Clone returns a plan that goes on from here as this one does.
func (p *Plan) Clone() *Plan {
	clone := *p
	clone.asked = maps.Clone(p.asked)
	return &clone
}

// fault is one thing that goes wrong: an endless supply of small numbers.
type fault struct{ bits uint64 }

// pick returns a number below n.
func (f *fault) pick(n uint64) uint64 {
	f.bits = mixBits(f.bits)
	return f.bits >> 33 % n
}

// nomination is what a PostFilter may say of a workload's.
func (f *fault) nomination() extpoints.PostFilterResult {
	node, nominates := NodeName(int(f.pick(10))), f.pick(2) == 1
	if !nominates {
		return extpoints.PostFilterResult{}
	}
	return extpoints.PostFilterResult{Nominate: node}
}

// strike says whether a call goes wrong.
func (p *Plan) strike(salt uint64, keys ...string) (fault, bool) {
	if p.Off || p.Share == 0 {
		return fault{}, false
	}
	h := p.Seed ^ mixBits(salt)
	for _, k := range keys {
		for i := range len(k) {
			h = (h ^ uint64(k[i])) * 0x100000001b3
		}
		h = mixBits(h)
	}
	f := fault{h}
	return f, f.pick(1000) < p.Share
}

// at calls the hook.
func (p *Plan) at(point string) {
	if p.Hook != nil && !p.Mute {
		p.Hook(point)
	}
}

// strikeCounted is strike for calls outside a cycle.
func (p *Plan) strikeCounted(point, workload string) (fault, bool) {
	if p.Off || p.Share == 0 {
		return fault{}, false
	}
	p.at(point)
	key := point + " " + workload
	if !p.Mute {
		p.asked[key]++
	}
	return p.strike(p.asked[key], key)
}

func mixBits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// PluginName is the name of the plugin that serves every extension point and
// misbehaves by plan.
const PluginName = "Faulty"

type plugin struct {
	plan   *Plan
	handle extpoints.Handle
}

// New makes the plugin that misbehaves by the plan.
func (p *Plan) New(_ extpoints.NoArgs, h extpoints.Handle) (extpoints.Plugin, error) {
	return &plugin{plan: p, handle: h}, nil
}

var (
	_ extpoints.PreEnqueuePlugin    = (*plugin)(nil)
	_ extpoints.EnqueueExtensions   = (*plugin)(nil)
	_ extpoints.PreFilterExtensions = (*plugin)(nil)
	_ extpoints.FilterPlugin        = (*plugin)(nil)
	_ extpoints.PostFilterPlugin    = (*plugin)(nil)
	_ extpoints.PreScorePlugin      = (*plugin)(nil)
	_ extpoints.ScoreNormalizer     = (*plugin)(nil)
	_ extpoints.ReservePlugin       = (*plugin)(nil)
	_ extpoints.PermitPlugin        = (*plugin)(nil)
	_ extpoints.PreBindPlugin       = (*plugin)(nil)
	_ extpoints.BindPlugin          = (*plugin)(nil)
	_ extpoints.PostBindPlugin      = (*plugin)(nil)
)

// Name implements [extpoints.Plugin].
func (p *plugin) Name() string { return PluginName }

// in says whether a call in a cycle goes wrong.
func (p *plugin) in(s *extpoints.CycleState, keys ...string) (fault, bool) {
	p.plan.at(keys[0])
	return p.plan.strike(s.Seed(), keys...)
}

var (
	faultyCodes = []extpoints.Code{
		extpoints.Error, extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable,
		extpoints.Pending, extpoints.Wait, extpoints.Skip,
	}
	errFaulty = errors.New("a planned failure")
)

// strike is all that most points do: where a fault strikes it stirs and says
// anything, else success.
func (p *plugin) strike(s *extpoints.CycleState, keys ...string) *extpoints.Status {
	f, ok := p.in(s, keys...)
	if !ok {
		return nil
	}
	p.stir(f, s)
	return f.status()
}

// score is what a Score plugin says where the fault struck, and where it did not.
func (f *fault) score(struck bool) (int64, *extpoints.Status) {
	switch {
	case !struck:
		return 0, nil
	case f.pick(4) == 0:
		return 0, f.status()
	}
	return int64(f.pick(uint64(extpoints.MaxScore) + 1)), nil
}

// normalize is what a plugin that brings scores into range does to them.
func (f *fault) normalize(struck bool, scores []int64) *extpoints.Status {
	if !struck {
		return nil
	}
	if f.pick(2) == 0 {
		scores[f.pick(uint64(len(scores)))] = extpoints.MaxScore + int64(f.pick(3))
		return nil
	}
	return f.status()
}

// status is any answer there is, forbidden ones too, or a panic.
func (f *fault) status() *extpoints.Status {
	switch n := f.pick(uint64(len(faultyCodes)) + 2); n {
	case 0:
		panic("a planned panic")
	case 1:
		return extpoints.AsStatus(errFaulty)
	default:
		return extpoints.NewStatus(faultyCodes[n-2], fmt.Sprintf("planned fault %d", f.pick(4)))
	}
}

// stir asks the engine for something that has nothing to do with the call.
func (p *plugin) stir(f fault, s *extpoints.CycleState) {
	if p.plan.Mute {
		return
	}
	switch f.pick(8) {
	case 0:
		if s != nil {
			s.Activate(f.ids()...)
		}
	case 1:
		p.handle.Activate(f.ids()...)
	case 2, 3:
		allow := f.pick(2) == 0
		p.handle.Waiting().Each(func(w extpoints.WaitingWorkload) bool {
			for _, name := range w.PendingPlugins() {
				if allow {
					w.Allow(name)
				} else {
					w.Reject(name, "turned down on a whim")
				}
			}
			return f.pick(2) == 0
		})
	}
}

// NodeName is the name of the i-th node. The plugin refers to nodes and workloads by
// these names, so a history that uses them meets it.
func NodeName(i int) string { return fmt.Sprintf("n%d", i) }

// WorkloadID is the ID of the i-th workload.
func WorkloadID(i int) string { return fmt.Sprintf("w%d", i) }

// ids are some workloads, whether they exist or not.
func (f *fault) ids() []string {
	ids := make([]string, f.pick(4))
	for i := range ids {
		ids[i] = WorkloadID(int(f.pick(60)))
	}
	return ids
}

// PreEnqueue implements [extpoints.PreEnqueuePlugin].
func (p *plugin) PreEnqueue(w *model.Workload) *extpoints.Status {
	if f, ok := p.plan.strikeCounted("PreEnqueue", w.ID); ok {
		p.stir(f, nil)
		return f.status()
	}
	return nil
}

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *plugin) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.Update}, Hint: p.hint},
		{Event: extpoints.ClusterEvent{Resource: extpoints.AnyWorkload, Action: extpoints.AllActions}, Hint: p.hint},
		{Event: extpoints.ClusterEvent{Resource: extpoints.BudgetResource, Action: extpoints.AllActions}},
	}, nil
}

func (p *plugin) hint(w *model.Workload, _ *extpoints.Event) (extpoints.Hint, error) {
	f, ok := p.plan.strikeCounted("hint", w.ID)
	if !ok {
		return extpoints.HintQueue, nil
	}
	p.stir(f, nil)
	switch f.pick(3) {
	case 0:
		panic("a planned panic")
	case 1:
		return extpoints.HintSkip, errFaulty
	}
	return extpoints.HintSkip, nil
}

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *plugin) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	f, ok := p.in(s, "PreFilter", w.ID)
	if !ok {
		return nil, nil
	}
	p.stir(f, s)
	if f.pick(2) == 0 {
		r := &extpoints.PreFilterResult{Nodes: map[string]struct{}{}}
		for range f.pick(3) {
			r.Nodes[NodeName(int(f.pick(10)))] = struct{}{}
		}
		return r, nil
	}
	return nil, f.status()
}

// AddWorkload implements [extpoints.PreFilterExtensions].
func (p *plugin) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if f, ok := p.in(s, "AddWorkload", w.ID, added.ID, node.Node.Name); ok {
		return f.status()
	}
	return nil
}

// RemoveWorkload implements [extpoints.PreFilterExtensions].
func (p *plugin) RemoveWorkload(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

// Filter implements [extpoints.FilterPlugin]. One bad node fails the whole
// cycle, so it says no much oftener than it breaks.
func (p *plugin) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	f, ok := p.in(s, "Filter", w.ID, node.Node.Name)
	switch {
	case !ok:
		return nil
	case f.pick(6) == 0:
		return f.status()
	}
	return extpoints.NewStatus(faultyCodes[1+f.pick(3)], "planned rejection")
}

// PostFilter implements [extpoints.PostFilterPlugin].
func (p *plugin) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	f, ok := p.in(s, "PostFilter", w.ID)
	if !ok {
		return nil, extpoints.NewStatus(extpoints.Unschedulable)
	}
	p.stir(f, s)
	for _, id := range f.ids() {
		s.Evict(id, "on a whim")
	}
	var r *extpoints.PostFilterResult
	if f.pick(2) == 0 {
		n := f.nomination()
		r = &n
	}
	if f.pick(2) == 0 {
		return r, nil
	}
	return r, f.status()
}

// PreScore implements [extpoints.PreScorePlugin].
func (p *plugin) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	return p.strike(s, "PreScore", w.ID)
}

// Score implements [extpoints.ScorePlugin].
func (p *plugin) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	f, ok := p.in(s, "Score", w.ID, node.Node.Name)
	return f.score(ok)
}

// NormalizeScore implements [extpoints.ScoreNormalizer].
func (p *plugin) NormalizeScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	f, ok := p.in(s, "NormalizeScore", w.ID)
	return f.normalize(ok, scores)
}

// Reserve implements [extpoints.ReservePlugin].
func (p *plugin) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	return p.strike(s, "Reserve", w.ID)
}

// Unreserve implements [extpoints.ReservePlugin].
func (p *plugin) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) {
	p.strike(s, "Unreserve", w.ID)
}

var faultyTimeouts = []time.Duration{0, time.Second, 30 * time.Second, 5 * time.Minute, time.Hour}

// Permit implements [extpoints.PermitPlugin].
func (p *plugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	f, ok := p.in(s, "Permit", w.ID)
	if !ok {
		return nil, 0
	}
	p.stir(f, s)
	timeout := faultyTimeouts[f.pick(uint64(len(faultyTimeouts)))]
	if f.pick(2) == 0 {
		return extpoints.NewStatus(extpoints.Wait), timeout
	}
	return f.status(), timeout
}
