package transcript

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// plugin serves every extension point and answers what the script tells it.
// Which of its points are used is the profile's choice.
type plugin struct {
	name   string
	script *script
	handle extpoints.Handle
	events []extpoints.EventHint // nil: the hint is asked about every event
}

// The plugins that a profile gets where it has none of its own: the one orders
// by priority and time, the other asks the orchestrator and says nothing.
const (
	sorter = "Sort"
	binder = "Bind"
)

var (
	_ extpoints.PreEnqueuePlugin    = (*plugin)(nil)
	_ extpoints.QueueSortPlugin     = (*plugin)(nil)
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
func (p *plugin) Name() string { return p.name }

// say looks up the answer, writes the call down and does what the answer asks
// for besides.
func (p *plugin) say(point string, s *extpoints.CycleState, workload, node string) answer {
	a := p.script.find(p.name, point, workload, node)
	call := fmt.Sprintf("%s %s %s", p.name, point, workload)
	if node != "" {
		call += " " + node
	}
	p.script.note(call + ": " + a.text)
	if s != nil {
		for _, id := range a.evict {
			s.Evict(id, "room for "+workload)
		}
		for _, id := range a.unnominate {
			s.Unnominate(id)
		}
		if a.await {
			s.AwaitEvictions()
		}
		s.Activate(a.activate...)
	}
	for _, id := range a.allow {
		if w := p.handle.Waiting().Get(id); w != nil {
			w.Allow(p.name)
		}
	}
	for _, id := range a.reject {
		if w := p.handle.Waiting().Get(id); w != nil {
			w.Reject(p.name, "turned down by "+workload)
		}
	}
	return a
}

// PreEnqueue implements [extpoints.PreEnqueuePlugin].
func (p *plugin) PreEnqueue(w *model.Workload) *extpoints.Status {
	a := p.say("preenqueue", nil, w.ID, "")
	return a.status()
}

// Less implements [extpoints.QueueSortPlugin]: by priority, then by time.
func (p *plugin) Less(a, b *extpoints.Queued) bool {
	return a.Priority > b.Priority || a.Priority == b.Priority && a.Timestamp.Before(b.Timestamp)
}

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (p *plugin) EventsToRegister() ([]extpoints.EventHint, error) {
	events := p.events
	if events == nil {
		events = []extpoints.EventHint{{Event: extpoints.ClusterEvent{Resource: extpoints.AnyResource, Action: extpoints.AllActions}}}
	}
	for i := range events {
		events[i].Hint = p.hint
	}
	return events, nil
}

// hint says Queue, unless the script says Skip, or something else, which is an
// error.
func (p *plugin) hint(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
	a := p.say("hint", nil, w.ID, eventName(c.ClusterEvent))
	switch st := a.status(); st.Code() {
	case extpoints.Success:
		return extpoints.HintQueue, nil
	case extpoints.Skip:
		return extpoints.HintSkip, nil
	default:
		return extpoints.HintSkip, st.AsError()
	}
}

// PreFilter implements [extpoints.PreFilterPlugin].
func (p *plugin) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	a := p.say("prefilter", s, w.ID, "")
	if !a.narrows {
		return nil, a.status()
	}
	r := &extpoints.PreFilterResult{Nodes: map[string]struct{}{}}
	for _, n := range a.nodes {
		r.Nodes[n] = struct{}{}
	}
	return r, a.status()
}

// supposed are the workloads that AddWorkload supposed to be there; Filter
// looks at it, so that a rule can be about them.
type supposed []string

// Clone makes a copy of the state have a list of its own.
func (s supposed) Clone() supposed { return append(supposed(nil), s...) }

var supposedKey = extpoints.NewStateKey[supposed]("supposed")

// AddWorkload implements [extpoints.PreFilterExtensions]. Rules are about the
// added workload.
func (p *plugin) AddWorkload(s *extpoints.CycleState, _, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	there, _ := supposedKey.Get(s)
	supposedKey.Set(s, append(there, added.ID))
	a := p.script.find(p.name, "addworkload", added.ID, node.Node.Name)
	return a.status()
}

// RemoveWorkload implements [extpoints.PreFilterExtensions].
func (p *plugin) RemoveWorkload(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

// Filter implements [extpoints.FilterPlugin]. While a workload is supposed to
// be on the node the rules see the node as NODE+WORKLOAD.
func (p *plugin) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	name := node.Node.Name
	there, _ := supposedKey.Get(s)
	for _, id := range there {
		name += "+" + id
	}
	a := p.script.find(p.name, "filter", w.ID, name)
	return a.status()
}

// PostFilter implements [extpoints.PostFilterPlugin].
func (p *plugin) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	a := p.say("postfilter", s, w.ID, "")
	return a.nominate, a.status()
}

// PreScore implements [extpoints.PreScorePlugin].
func (p *plugin) PreScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) *extpoints.Status {
	a := p.say("prescore", s, w.ID, "")
	return a.status()
}

// Score implements [extpoints.ScorePlugin].
func (p *plugin) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	a := p.script.find(p.name, "score", w.ID, node.Node.Name)
	if a.score != nil {
		return *a.score, nil
	}
	return 0, a.status()
}

// NormalizeScore implements [extpoints.ScoreNormalizer]: it leaves the scores
// alone, or gives every node the one that the script says.
func (p *plugin) NormalizeScore(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	a := p.script.find(p.name, "normalize", w.ID, "")
	if a.score != nil {
		for i := range scores {
			scores[i] = *a.score
		}
		return nil
	}
	return a.status()
}

// Reserve implements [extpoints.ReservePlugin].
func (p *plugin) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) *extpoints.Status {
	a := p.say("reserve", s, w.ID, b.Node)
	return a.status()
}

// Unreserve implements [extpoints.ReservePlugin].
func (p *plugin) Unreserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) {
	a := p.say("unreserve", s, w.ID, b.Node)
	a.status()
}

// Permit implements [extpoints.PermitPlugin].
func (p *plugin) Permit(s *extpoints.CycleState, w *extpoints.WorkloadInfo, b *model.Binding) (*extpoints.Status, time.Duration) {
	a := p.say("permit", s, w.ID, b.Node)
	return a.status(), a.wait
}
