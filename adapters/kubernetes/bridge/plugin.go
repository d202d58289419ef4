package bridge

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// plugin stands for one of kube-scheduler's plugins. It has the methods of all points, and
// selects those that the other serves.
type plugin struct {
	h     *handle
	their fwk.Plugin

	preEnqueue fwk.PreEnqueuePlugin
	queueSort  fwk.QueueSortPlugin
	preFilter  fwk.PreFilterPlugin
	extensions fwk.PreFilterExtensions
	filter     fwk.FilterPlugin
	postFilter fwk.PostFilterPlugin
	preScore   fwk.PreScorePlugin
	score      fwk.ScorePlugin
	normalize  fwk.ScoreExtensions
	reserve    fwk.ReservePlugin
	permit     fwk.PermitPlugin
	preBind    fwk.PreBindPlugin
	bind       fwk.BindPlugin
	postBind   fwk.PostBindPlugin
	enqueue    fwk.EnqueueExtensions

	selects map[string]bool
}

var (
	_ extpoints.Selective           = (*plugin)(nil)
	_ extpoints.PreEnqueuePlugin    = (*plugin)(nil)
	_ extpoints.QueueSortPlugin     = (*plugin)(nil)
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
	_ extpoints.EnqueueExtensions   = (*plugin)(nil)
)

// newPlugin notes what the plugin serves. The extensions are asked for now and not again.
func newPlugin(h *handle, their fwk.Plugin) *plugin {
	p := &plugin{h: h, their: their, selects: map[string]bool{}}
	is(p, "PreEnqueue", &p.preEnqueue)
	is(p, "QueueSort", &p.queueSort)
	is(p, "Filter", &p.filter)
	is(p, "PostFilter", &p.postFilter)
	is(p, "PreScore", &p.preScore)
	is(p, "Reserve", &p.reserve)
	is(p, "Permit", &p.permit)
	is(p, "PreBind", &p.preBind)
	is(p, "Bind", &p.bind)
	is(p, "PostBind", &p.postBind)
	is(p, "EnqueueExtensions", &p.enqueue)
	if is(p, "PreFilter", &p.preFilter) {
		p.extensions = p.preFilter.PreFilterExtensions()
		p.selects["PreFilterExtensions"] = p.extensions != nil
	}
	if is(p, "Score", &p.score) {
		p.normalize = p.score.ScoreExtensions()
		p.selects["ScoreNormalizer"] = p.normalize != nil
	}
	return p
}

func is[P any](p *plugin, name string, as *P) bool {
	var ok bool
	*as, ok = p.their.(P)
	p.selects[name] = ok
	return ok
}

// Name implements [extpoints.Plugin].
func (p *plugin) Name() string { return p.their.Name() }

// Selects implements [extpoints.Selective].
func (p *plugin) Selects(name string) bool { return p.selects[name] }

// PreEnqueue implements [extpoints.PreEnqueuePlugin].
func (p *plugin) PreEnqueue(w *model.Workload) *extpoints.Status {
	return toOurs(p.preEnqueue.PreEnqueue(p.h.host.opts.Context, p.h.host.waitingPod(w)))
}

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *plugin) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	c := p.h.host.begin(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	result, st := p.preFilter.PreFilter(c.under, c, c.pod, c.all())
	if result.AllNodes() {
		return nil, p.answer(c, st)
	}
	nodes := make(map[string]struct{}, len(result.NodeNames))
	for name := range result.NodeNames {
		nodes[name] = struct{}{}
	}
	return &extpoints.PreFilterResult{Nodes: nodes}, p.answer(c, st)
}

// AddWorkload implements [extpoints.PreFilterExtensions].
func (p *plugin) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	c := p.h.host.begin(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	return toOurs(p.extensions.AddPod(c.under, c, c.pod, p.h.host.podInfo(added, node.Node.Name), c.node(node)))
}

// RemoveWorkload implements [extpoints.PreFilterExtensions].
func (p *plugin) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	c := p.h.host.begin(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	return toOurs(p.extensions.RemovePod(c.under, c, c.pod, p.h.host.podInfo(removed, node.Node.Name), c.node(node)))
}

// Filter implements [extpoints.FilterPlugin].
func (p *plugin) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	c := p.h.host.current(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	st := p.filter.Filter(c.under, c, c.pod, c.node(node))
	if st == nil {
		return nil
	}
	return p.answer(c, st)
}

// PostFilter implements [extpoints.PostFilterPlugin].
func (p *plugin) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, list extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	if s.Trial() && !p.h.host.plans[p.Name()] {
		return nil, extpoints.NewStatus(extpoints.Unschedulable)
	}
	c := p.h.host.begin(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	c.making.Store(true)
	defer c.making.Store(false)
	// A call within this one, by way of the engine, is for a clone of this cycle.
	p.h.host.making.Store(c)
	defer p.h.host.making.Store(nil)
	result, st := p.postFilter.PostFilter(c.under, c, c.pod, statuses{list, c.root})
	answer := p.answer(c, st)
	c.activate()
	if result == nil || result.Mode() == fwk.ModeNoop {
		return nil, answer
	}
	return &extpoints.PostFilterResult{Nominate: result.NominatedNodeName, Clear: result.NominatedNodeName == ""}, answer
}

// PreScore implements [extpoints.PreScorePlugin].
func (p *plugin) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) *extpoints.Status {
	c := p.h.host.begin(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	return toOurs(p.preScore.PreScore(c.under, c, c.pod, c.infos(nodes)))
}

// Score implements [extpoints.ScorePlugin].
func (p *plugin) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	c := p.h.host.current(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	score, st := p.score.Score(c.under, c, c.pod, c.node(node))
	return score, toOurs(st)
}

// NormalizeScore implements [extpoints.ScoreNormalizer].
func (p *plugin) NormalizeScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	c := p.h.host.current(s, w)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	list := make(fwk.NodeScoreList, len(nodes))
	for i := range list {
		list[i] = fwk.NodeScore{Name: nodes[i].Node.Name, Score: scores[i]}
	}
	st := p.normalize.NormalizeScore(c.under, c, c.pod, list)
	for i := range list {
		scores[i] = list[i].Score
	}
	return toOurs(st)
}

// Reserve implements [extpoints.ReservePlugin]. A cycle that only tries something out is
// none of the plugin's: its books are about what happens.
func (p *plugin) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	if s.Trial() {
		return nil
	}
	c, pod := p.placed(s, w, b)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	st := p.reserve.Reserve(c.under, c, pod, b.Node)
	c.activate()
	return p.answer(c, st)
}

// Unreserve implements [extpoints.ReservePlugin].
func (p *plugin) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	if s.Trial() {
		return
	}
	c, pod := p.placed(s, w, b)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	p.reserve.Unreserve(c.under, c, pod, b.Node)
}

// Permit implements [extpoints.PermitPlugin].
func (p *plugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (*extpoints.Status, time.Duration) {
	if s.Trial() {
		return nil, 0
	}
	c, pod := p.placed(s, w, b)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	st, timeout := p.permit.Permit(c.under, c, pod, b.Node)
	c.activate()
	return p.answer(c, st), timeout
}

// longestPreBind is how long a PreBind may take of a plugin that knows of no limit: as long as
// kube-scheduler's own that waits for something, VolumeBinding and DynamicResources, by default.
const longestPreBind = 10 * time.Minute

// PreBindPreFlight implements [extpoints.PreBindPlugin].
func (p *plugin) PreBindPreFlight(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (extpoints.PreFlight, *extpoints.Status) {
	c, pod := p.placed(s, w, b)
	p.h.host.turn.enter(c.root)
	defer p.h.host.turn.leave()
	result, st := p.preBind.PreBindPreFlight(c.under, c, pod, b.Node)
	return extpoints.PreFlight{AllowParallel: result != nil && result.AllowParallel, Timeout: longestPreBind}, toOurs(st)
}

// PreBind implements [extpoints.PreBindPlugin]. What blocks takes no turn.
func (p *plugin) PreBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	c, pod := p.placed(s, w, b)
	st := p.preBind.PreBind(c.binding(ctx), c, pod, b.Node)
	c.activate()
	return toOurs(st)
}

// Bind implements [extpoints.BindPlugin].
func (p *plugin) Bind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	c, pod := p.placed(s, w, b)
	ctx = context.WithValue(c.binding(ctx), bindingKey{}, &binding{w.Workload, *b})
	st := p.bind.Bind(ctx, c, pod, b.Node)
	c.activate()
	return toOurs(st)
}

// PostBind implements [extpoints.PostBindPlugin].
func (p *plugin) PostBind(ctx context.Context, s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	c, pod := p.placed(s, w, b)
	p.postBind.PostBind(c.binding(ctx), c, pod, b.Node)
	c.activate()
}

// placed are the cycle and the pod of a workload whose node is chosen. As in kube-scheduler
// the pod has the node then.
func (p *plugin) placed(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (*cycle, *v1.Pod) {
	c := p.h.host.current(s, w)
	own := *c.pod
	own.Spec.NodeName = b.Node
	return c, &own
}

// binding is the context for a point that has one of its own.
func (c *cycle) binding(ctx context.Context) context.Context {
	return context.WithValue(ctx, cycleKey{}, c)
}

// answer translates an answer that may be a rejection, and remembers whom the plugin has
// rejected.
func (p *plugin) answer(c *cycle, st *fwk.Status) *extpoints.Status {
	if st.IsRejected() && !c.trying() {
		p.h.rejected(p.Name(), c.workload.Workload)
	}
	return toOurs(st)
}

// Less implements [extpoints.QueueSortPlugin].
func (p *plugin) Less(a, b *extpoints.Queued) bool {
	return p.queueSort.Less(p.h.host.queued(a), p.h.host.queued(b))
}

// String is for messages.
func (p *plugin) String() string { return fmt.Sprintf("kube-scheduler's plugin %s", p.Name()) }
