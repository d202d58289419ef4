// Package framework compiles a profile into the lists of plugins of each
// extension point and calls them: in order, with each answer checked against
// what its point allows, and with panics turned into errors that name the
// plugin. It knows nothing of queues, stores or goroutines.
package framework

import (
	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
)

// Framework is one compiled profile. It does not change once it is made and
// may be used by several cycles at once.
type Framework struct {
	env  Env
	name string

	percentage *int32

	plugins    []extpoints.Plugin // all, each once, in the order of the profile
	preEnqueue []extpoints.PreEnqueuePlugin
	queueSort  extpoints.QueueSortPlugin
	preFilters []preFilter
	filters    []extpoints.FilterPlugin
	postFilter []extpoints.PostFilterPlugin
	preScores  []preScore
	scores     []scorer
	reserve    []extpoints.ReservePlugin
	permit     []extpoints.PermitPlugin
	preBind    []extpoints.PreBindPlugin
	bind       []extpoints.BindPlugin
	postBind   []extpoints.PostBindPlugin
	sign       []extpoints.SignPlugin

	placementGenerate extpoints.PlacementGeneratePlugin
	placementFeasible []extpoints.PlacementFeasiblePlugin
	placementScore    []placementScorer
	groupPostFilter   []extpoints.GroupPostFilterPlugin
	wantsRefusals     []bool // by filter: it is a GroupPostFilter, too

	hints []queue.PluginHints
}

// preFilter is a PreFilter plugin with what hangs on it.
type preFilter struct {
	extpoints.PreFilterPlugin
	ext    extpoints.PreFilterExtensions // nil: none
	filter int                           // index of its Filter, -1: none
}

// preScore is a PreScore plugin and the index of its Score, -1 for none.
type preScore struct {
	extpoints.PreScorePlugin
	score int
}

// scorer is a Score plugin with its weight.
type scorer struct {
	extpoints.ScorePlugin
	normalizer extpoints.ScoreNormalizer // nil: none
	weight     int64
}

// placementScorer is a PlacementScore plugin with its weight.
type placementScorer struct {
	extpoints.PlacementScorePlugin
	normalizer extpoints.PlacementScoreNormalizer // nil: none
	weight     int64
}

// Env is what the frameworks of an engine have in common: the part of
// [extpoints.Handle] that is not about one profile.
type Env struct {
	Logger       hclog.Logger
	Orchestrator extpoints.Orchestrator
	Waiting      extpoints.WaitingWorkloads
	Activate     func(ids ...string)
	// UnderWay reports whether evictions to make room for the workload have
	// not been accepted yet.
	UnderWay func(id string) bool
	// View is the cluster as it is.
	View func() extpoints.View
	// Extenders are in the order in which they are asked; Preempters are those
	// of them that have a say in who is displaced, as plugins get them.
	Extenders  []*Extender
	Preempters []extpoints.PreemptExtender
	// Meter is told what plugins do, nil for nobody.
	Meter *Meter
}

// handle is the [extpoints.Handle] of one profile.
type handle struct {
	f      *Framework
	logger hclog.Logger
}

var _ extpoints.Handle = handle{}

func (h handle) Logger() hclog.Logger                 { return h.logger }
func (h handle) Profile() string                      { return h.f.name }
func (h handle) Orchestrator() extpoints.Orchestrator { return h.f.env.Orchestrator }
func (h handle) Waiting() extpoints.WaitingWorkloads  { return h.f.env.Waiting }
func (h handle) Activate(ids ...string)               { h.f.env.Activate(ids...) }

func (h handle) View() extpoints.View { return h.f.env.View() }

func (h handle) Preemption() extpoints.Preemption { return preemption{h.f} }

// preemption is the [extpoints.Preemption] of one profile.
type preemption struct{ *Framework }

func (p preemption) RunFilters(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	v := p.FilterWithNominated(s, w, node)
	if tally := p.Tally(s); tally != nil {
		tally.countShared(v)
	}
	return v.Named()
}

func (p preemption) Extenders() []extpoints.PreemptExtender { return p.env.Preempters }
func (p preemption) UnderWay(id string) bool                { return p.env.UnderWay(id) }

// Name is the profile's name.
func (f *Framework) Name() string { return f.name }

// Percentage is the profile's share of nodes to score; nil: the engine's.
func (f *Framework) Percentage() *int32 { return f.percentage }

// PreEnqueue lists the PreEnqueue plugins, for the queue.
func (f *Framework) PreEnqueue() []extpoints.PreEnqueuePlugin { return f.preEnqueue }

// QueueSort is the plugin that orders the queue.
func (f *Framework) QueueSort() extpoints.QueueSortPlugin { return f.queueSort }

// Hints lists the events that each plugin registered for, for the queue. A
// plugin that rejects but registers nothing gets every event.
func (f *Framework) Hints() []queue.PluginHints { return f.hints }

// HasPostFilter reports whether there is a PostFilter plugin.
func (f *Framework) HasPostFilter() bool { return len(f.postFilter) > 0 }

// HasScore reports whether there is a Score plugin.
func (f *Framework) HasScore() bool { return len(f.scores) > 0 }

// HasFilter reports whether there is a Filter plugin.
func (f *Framework) HasFilter() bool { return len(f.filters) > 0 }

// FilterNames lists the Filter plugins in order.
func (f *Framework) FilterNames() []string { return names(f.filters) }

// ScoreNames lists the Score plugins in order.
func (f *Framework) ScoreNames() []string { return names(f.scores) }

// ScoreWeights lists the weights of the Score plugins in order.
func (f *Framework) ScoreWeights() []int64 {
	weights := make([]int64, len(f.scores))
	for i := range f.scores {
		weights[i] = f.scores[i].weight
	}
	return weights
}

func names[P extpoints.Plugin](plugins []P) []string {
	list := make([]string, len(plugins))
	for i := range plugins {
		list[i] = plugins[i].Name()
	}
	return list
}
