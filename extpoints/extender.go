package extpoints

import (
	"context"
	"fmt"

	"github.com/berth-project/berth/model"
)

// Extender takes part in decisions from outside the process (kube-scheduler: HTTP
// extenders, pkg/scheduler/extender.go, 1.37.1). A nil function is not called. Package
// adapters/extender has one that speaks kube-scheduler's protocol.
//
// Filter, Prioritize and Preempt are called while a decision is made, and the
// engine waits for them; Bind is called on a binding goroutine. They may block until
// ctx ends, which is when the engine is told to stop: the extender must limit how long
// an answer may take. Branches and explanations call it too, on goroutines of their own,
// so it must be safe for concurrent use. It must not call the engine back.
//
// The engine's recorder records answers and errors, so a replay does not call these
// functions. It does call Interested, which must be a pure function of the workload.
type Extender struct {
	// Name identifies it in messages. Unique in an engine.
	Name string
	// Weight multiplies the points that it gives. Above 0 where Prioritize is set.
	Weight int64
	// Ignorable: a workload is to be placed without it where it fails.
	Ignorable bool
	// Interested reports whether it wants to be asked about the workload. Default:
	// about all.
	Interested func(w *model.Workload) bool

	// Filter rules out nodes that the filters have left: it returns the nodes that
	// will do, a subset of nodes, and why the others will not. The extenders are
	// asked one after another, those that are not ignorable first; each is asked
	// about the nodes that the one before it has left, and none where there are
	// none. An error ends the cycle and the workload is tried again after the error
	// backoff, unless the extender is ignorable: then it is left out.
	Filter func(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (*ExtenderFilterResult, error)
	// Prioritize adds to the scores of the feasible nodes, where there are at least
	// two; explanations also ask about a single one. It returns points from 0 to
	// [MaxExtenderPriority] by name of the node; a node without any has 0. As in
	// kube-scheduler nobody minds points out of range. All extenders are asked about
	// the same nodes at the same time, on goroutines that end before the decision is
	// made. An error counts as no points at all.
	Prioritize func(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (map[string]int64, error)
	// Preempt has a say in who is displaced to make room: it returns those of the
	// candidates that will do, by name of the node, with the victims that it wants
	// there, some of the workloads on that node, at least one. It is called by the
	// plugin that displaces workloads (see [Preemption]), with the context of the
	// [CycleState].
	Preempt func(ctx context.Context, w *WorkloadInfo, candidates map[string]*Victims, nodes Nodes) (map[string]*Victims, error)
	// Bind binds the workload in place of the Bind plugins. At most one extender of
	// an engine has it. Where it fails and is ignorable the Bind plugins are asked.
	Bind func(ctx context.Context, w *model.Workload, b model.Binding) error
}

// ExtenderPlugin is the name under which nodes that extenders rule out stand in
// diagnoses. No event is known to make an extender change its mind, so a
// workload that one of them rejected is woken by all.
const ExtenderPlugin = "Extender"

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
	// answers with whole nodes; see package adapters/extender. It is part of the
	// answer, because one server may answer either way, and a replay has to know.
	Bare bool `json:",omitempty"`
}

// MaxExtenderPriority is the most points an extender gives a node. One point
// counts as MaxScore/MaxExtenderPriority of a plugin's.
const MaxExtenderPriority = 10

// Victims are the workloads that must leave a node to make room on it.
type Victims struct {
	// Workloads are sorted, the most important first.
	Workloads []*WorkloadInfo
	// BudgetViolations is how many of them no budget allows for.
	BudgetViolations int
}

// ExtenderError is that an extender failed. The engine makes it; errors.As finds it
// in the errors of events and of calls, through whatever wraps it.
type ExtenderError struct {
	Extender string // its name
	Verb     string // filter, prioritize, preempt, bind, interested
	Workload string // ID of the workload that it was asked about
	// DisplayName is the workload's name for people ([model.Workload.DisplayName]).
	DisplayName string
	Err         error // what the extender answered, or why it could not be asked
}

// Error says it in one line.
func (e *ExtenderError) Error() string {
	return fmt.Sprintf("extender %q: %s workload %q: %v", e.Extender, e.Verb, e.DisplayName, e.Err)
}

// Unwrap returns the cause.
func (e *ExtenderError) Unwrap() error { return e.Err }
