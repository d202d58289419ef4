package extpoints

import (
	"context"

	"github.com/berth-project/berth/model"
)

// Extender is somebody outside the process who has a say in decisions
// (kube-scheduler: HTTP extenders, pkg/scheduler/extender.go, 1.37.1). What it
// has a say in it shows by implementing the interfaces below. Package
// adapters/extender has one that speaks kube-scheduler's protocol.
//
// Its methods are called on the scheduling goroutine, Bind on a binding
// goroutine; they may block until ctx ends, and hold up everything meanwhile.
type Extender interface {
	// Name identifies it in messages.
	Name() string
	// Interested reports whether it wants to be asked about the workload.
	Interested(w *model.Workload) bool
	// Ignorable reports whether the workload is to be placed without it where
	// it fails.
	Ignorable() bool
}

// FilterExtender rules out nodes that the filters have left.
type FilterExtender interface {
	Extender
	// Filter returns the nodes that will do, a subset of nodes, in any order,
	// and why the others will not.
	Filter(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (*ExtenderFilterResult, error)
}

// ExtenderFilterResult is what an extender's filter came to.
type ExtenderFilterResult struct {
	// Nodes are the names of the nodes that will do, in the order in which
	// the engine is to go on with them.
	Nodes []string
	// Failed says why other nodes will not do, by name: Unschedulable.
	Failed map[string]string
	// Unresolvable are those of them that displacing others would not help.
	Unresolvable map[string]string
}

// PrioritizeExtender adds to the scores of the feasible nodes.
type PrioritizeExtender interface {
	Extender
	// Prioritize returns points from 0 to [MaxExtenderPriority] by name of the
	// node; a node without any has 0. An error counts as no points at all.
	Prioritize(ctx context.Context, w *WorkloadInfo, nodes []*NodeInfo) (map[string]int64, error)
	// Weight multiplies the points.
	Weight() int64
}

// MaxExtenderPriority is the most points an extender gives a node. One point
// counts as MaxScore/MaxExtenderPriority of a plugin's.
const MaxExtenderPriority = 10

// PreemptExtender has a say in who is displaced to make room.
type PreemptExtender interface {
	Extender
	// Preempt returns those of the candidates that will do, by name of the
	// node, with the victims it wants there: some of the workloads on that
	// node, at least one.
	Preempt(ctx context.Context, w *WorkloadInfo, candidates map[string]*Victims, nodes Nodes) (map[string]*Victims, error)
}

// BindExtender binds workloads in place of the Bind plugins.
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
