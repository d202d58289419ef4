// Package framework compiles a profile into the lists of plugins of each
// extension point and calls them: in order, with each answer checked against
// what its point allows, and with panics turned into errors that name the
// plugin. It knows nothing of queues, stores or goroutines.
package framework

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/observe"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/queue"
	"github.com/hashicorp/go-hclog"
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
	companions []extpoints.CompanionsPlugin // of permit
	preBind    []extpoints.PreBindPlugin
	bind       []extpoints.BindPlugin
	postBind   []extpoints.PostBindPlugin
	sign       []extpoints.SignPlugin

	placementGenerate extpoints.PlacementGeneratePlugin
	placementFeasible []extpoints.PlacementFeasiblePlugin
	placementScore    []placementScorer
	groupPostFilter   []extpoints.GroupPostFilterPlugin
	wantsRefusals     []bool // by filter: it is a GroupPostFilter, too

	scorePlugins []extpoints.ScorePlugin // of scores, for a cycle that is not sampled
	local        localPlugins
	normalizing  []int   // of scores: those with a normalizer
	weights      []int64 // of scores

	serving []Serving
	args    map[string]any

	hints []queue.PluginHints
	tell  []func() // see Made
}

// localPlugins are, by index of the filters and of the scores, the plugins that can say
// that they are node-local; nil for one that cannot.
type localPlugins struct {
	filters, scores []extpoints.NodeLocalPlugin
	// slotFilters and slotScores are those that can be asked by slot where they are not.
	slotFilters, slotScores []extpoints.SlotPlugin
	// filterOf is, for each of scores, which of filters is the same plugin; -1: none.
	filterOf []int
	// foreign: some PreScore plugin does not score, so nobody asks it whether it is local.
	foreign bool
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
	Compat       extpoints.Compat
	Orchestrator extpoints.Orchestrator
	Waiting      extpoints.WaitingWorkloads
	Activate     func(ids ...string)
	// UnderWay reports whether evictions to make room for the workload have
	// not been accepted yet.
	UnderWay func(id string) bool
	// InVain reports whether room was made for the workload in vain, not long ago; nil: never.
	InVain func(id string, now time.Time) bool
	// View is the cluster as it is.
	View func() extpoints.ClusterView
	// Extenders are in the order in which they are asked; Preempters are those
	// of them that have a say in who is displaced, as plugins get them.
	Extenders  []*Extender
	Preempters []extpoints.Extender
	// Meter is told what plugins do, nil for nobody.
	Meter *observe.Meter
}

// Made tells those who asked for it which plugins were made; see
// [extpoints.Entry].
func (f *Framework) Made() {
	for _, tell := range f.tell {
		tell()
	}
}

// Name is the profile's name.
func (f *Framework) Name() string { return f.name }

// Percentage is the profile's share of nodes to score; nil: the engine's.
func (f *Framework) Percentage() *int32 { return f.percentage }

// Improved reports whether kube-scheduler's known faults are left out.
func (f *Framework) Improved() bool { return f.env.Compat == extpoints.Improved }

// PreEnqueue lists the PreEnqueue plugins, for the queue.
func (f *Framework) PreEnqueue() []extpoints.PreEnqueuePlugin { return f.preEnqueue }

// Serving are the plugins of a point in the order in which they are asked, with their
// weights where these are not 1.
type Serving struct {
	Point   extpoints.Point
	Plugins []string
}

// Serving lists the points that have plugins. It must not be changed.
func (f *Framework) Serving() []Serving { return f.serving }

// Args are the arguments of the plugins that have any, by name. It must not be changed.
func (f *Framework) Args() map[string]any { return f.args }

// QueueSort is the plugin that orders the queue.
func (f *Framework) QueueSort() extpoints.QueueSortPlugin { return f.queueSort }

// Less is the order of the QueueSort plugin, as the queue gets it. Where the
// plugin panics, the panic is reported and the older of the two goes first: the
// queue must go on.
func (f *Framework) Less(report func(error)) func(a, b *extpoints.Queued) bool {
	return func(a, b *extpoints.Queued) (less bool) {
		defer func() {
			if cause := recover(); cause != nil {
				report(&extpoints.PluginError{Point: "QueueSort", Plugin: f.queueSort.Name(), Err: fmt.Errorf("panic: %v", cause)})
				less = a.Timestamp.Before(b.Timestamp)
			}
		}()
		return f.queueSort.Less(a, b)
	}
}

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
	return slices.Clone(f.weights)
}

func names[P extpoints.Plugin](plugins []P) []string {
	list := make([]string, len(plugins))
	for i := range plugins {
		list[i] = plugins[i].Name()
	}
	return list
}

// Extenders are the engine's, in the order in which they are asked.
func (f *Framework) Extenders() []*Extender { return f.env.Extenders }

// ExtendersFilter reports whether some extender filters, whoever it is
// interested in.
func (f *Framework) ExtendersFilter() bool {
	return slices.ContainsFunc(f.env.Extenders, func(x *Extender) bool { return x.Filter != nil })
}

// ExtendersPrioritize reports whether some extender gives points, whoever it is
// interested in.
func (f *Framework) ExtendersPrioritize() bool {
	return slices.ContainsFunc(f.env.Extenders, func(x *Extender) bool { return x.Prioritize != nil })
}
