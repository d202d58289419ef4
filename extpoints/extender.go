package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// Extender is somebody outside who has a say in decisions (kube-scheduler: HTTP
// extenders, pkg/scheduler/extender.go, 1.37.1). What it has a say in it shows
// by implementing the interfaces below, and [SelectiveExtender]. Package
// adapters/extender has one that speaks kube-scheduler's protocol.
//
// Filter, Prioritize and Preempt are called while a decision is made, and the
// engine does nothing else meanwhile; Bind is called on a binding goroutine.
// They may block until ctx ends, which is when the engine is told to stop: how
// long an answer may take is for the extender to limit. Branches and explanations
// ask too, on goroutines of their own, so an extender must bear to be called by
// several at once. It must not call the engine back.
//
// An answer is taken down by the engine's recorder, an error too, so that a
// replay asks nobody. What is not asked in a replay must not be outside: Name,
// Interested, Ignorable and Weight depend on nothing but the extender's
// configuration and the workload.
type Extender interface {
	// Name identifies it in messages. Unique in an engine.
	Name() string
	// Interested reports whether it wants to be asked about the workload.
	Interested(w *model.Workload) bool
	// Ignorable reports whether the workload is to be placed without it where
	// it fails.
	Ignorable() bool
}

// ExtenderVerbs is a set of things that an extender can be asked.
type ExtenderVerbs uint8

// The verbs, each with the interface that it stands for.
const (
	ExtenderFilters     ExtenderVerbs = 1 << iota // FilterExtender
	ExtenderPrioritizes                           // PrioritizeExtender
	ExtenderPreempts                              // PreemptExtender
	ExtenderBinds                                 // BindExtender
)

// SelectiveExtender is implemented by an extender whose type has more methods
// than it serves, because which it serves is configured.
type SelectiveExtender interface {
	Extender
	// Verbs says which of its methods may be called. It is asked once, when
	// the engine is made.
	Verbs() ExtenderVerbs
}

// ExtenderPlugin is the name under which nodes that extenders rule out stand in
// diagnoses. No event is known to make an extender change its mind, so a
// workload that one of them rejected is woken by all.
const ExtenderPlugin = "Extender"

// FilterExtender rules out nodes that the filters have left. The extenders are
// asked one after another, those that are not ignorable first; each is asked
// about the nodes that the one before it has left, and none where there are
// none. An error ends the cycle and the workload is tried again after the error
// backoff, unless the extender is ignorable: then it is left out.
type FilterExtender interface {
	Extender
	// Filter returns the nodes that will do, a subset of nodes, in any order,
	// and why the others will not.
	Filter(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (*ExtenderFilterResult, error)
}

// ExtenderFilterResult is what an extender's filter came to.
type ExtenderFilterResult struct {
	// Nodes are the names of the nodes that will do, in the order in which
	// the engine is to go on with them. A name that was not asked about is an
	// error; one that is there twice counts once.
	Nodes []string
	// Failed says why other nodes will not do, by name: Unschedulable.
	Failed map[string]string `json:",omitempty"`
	// Unresolvable are those of them that displacing others would not help. A
	// node in both counts as Unresolvable.
	Unresolvable map[string]string `json:",omitempty"`
	// Bare: go on with the nodes as if nothing were on them. It is there for
	// kube-scheduler's sake, which loses sight of the pods where an extender
	// answers with whole nodes; see package adapters/extender.
	Bare bool `json:",omitempty"`
}

// PrioritizeExtender adds to the scores of the feasible nodes, where there are
// at least two; explanations also ask about a single one. All extenders are asked
// about the same nodes at the same time, on goroutines that end before the
// decision is made.
type PrioritizeExtender interface {
	Extender
	// Prioritize returns points from 0 to [MaxExtenderPriority] by name of the
	// node; a node without any has 0. As in kube-scheduler nobody minds points
	// out of range. An error counts as no points at all.
	Prioritize(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (map[string]int64, error)
	// Weight multiplies the points; above 0.
	Weight() int64
}

// MaxExtenderPriority is the most points an extender gives a node. One point
// counts as MaxScore/MaxExtenderPriority of a plugin's.
const MaxExtenderPriority = 10

// PreemptExtender has a say in who is displaced to make room. It is called by
// the plugin that displaces workloads (see [Preemption]), with the context of
// the [CycleState].
type PreemptExtender interface {
	Extender
	// Preempt returns those of the candidates that will do, by name of the
	// node, with the victims it wants there: some of the workloads on that
	// node, at least one.
	Preempt(ctx context.Context, w *WorkloadInfo, candidates map[string]*Victims, nodes Nodes) (map[string]*Victims, error)
}

// BindExtender binds the workloads that it is interested in, in place of the
// Bind plugins. An engine has at most one. Where it fails and is ignorable the
// Bind plugins are asked.
type BindExtender interface {
	Extender
	Bind(ctx context.Context, w *model.Workload, b model.Binding) error
}

// Victims are the workloads that must leave a node to make room on it.
type Victims struct {
	// Workloads are sorted, the most important first.
	Workloads []*WorkloadInfo
	// BudgetViolations is how many of them no budget allows for.
	BudgetViolations int
}
