package extpointstest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/hashicorp/go-hclog"
)

// View is an [extpoints.ClusterView] over plain lists. It looks things up by going
// through them, and is meant to be obviously right rather than fast.
type View struct {
	NodeInfos  []*extpoints.NodeInfo                // in visiting order
	Nominating map[string][]*extpoints.WorkloadInfo // by node: what Nominated answers
	Namespaces []*model.Namespace                   // in any order
	// GroupList, BudgetList and Objects are in any order. PendingMembers are
	// the members of groups that are on no node.
	GroupList      []*model.Group
	PendingMembers []*model.Workload // each with its Group
	BudgetList     []*model.Budget   // sorted by ID where a plugin sees it
	Objects        []model.Object    // all other kinds, such as volumes, loads and holds

	memo *deviceMemo // of Put; nil: none
}

// NewView makes a view of the nodes, in that order, and of nothing else.
func NewView(nodes ...*extpoints.NodeInfo) *View {
	v := &View{NodeInfos: nodes}
	v.Number()
	return v
}

// Number gives the nodes of the view slots, in order. NewView has done so; call
// it after the list was changed by hand.
func (v *View) Number() {
	for i, n := range v.NodeInfos {
		n.Slot = int32(i)
	}
}

// Nodes implements [extpoints.ClusterView].
func (v *View) Nodes() extpoints.Nodes { return (*nodes)(v) }

// Nominated implements [extpoints.ClusterView].
func (v *View) Nominated(node string) []*extpoints.WorkloadInfo { return v.Nominating[node] }

// Namespace implements [extpoints.ClusterView].
func (v *View) Namespace(name string) *model.Namespace {
	return find(v.Namespaces, func(n *model.Namespace) bool { return n.Name == name })
}

// Budgets implements [extpoints.ClusterView].
func (v *View) Budgets() []*model.Budget {
	return slices.SortedFunc(slices.Values(v.BudgetList), func(a, b *model.Budget) int { return strings.Compare(a.ID, b.ID) })
}

// NodeLoad implements [extpoints.ClusterView].
func (v *View) NodeLoad(node string) *model.NodeLoad {
	return only(v, func(l *model.NodeLoad) bool { return l.Node == node })
}

// NodeTopology implements [extpoints.ClusterView].
func (v *View) NodeTopology(node string) *model.NodeTopology {
	return only(v, func(t *model.NodeTopology) bool { return t.Node == node })
}

// AppGraph implements [extpoints.ClusterView].
func (v *View) AppGraph(id string) *model.AppGraph {
	return only(v, func(g *model.AppGraph) bool { return g.ID == id })
}

// NetworkCosts implements [extpoints.ClusterView].
func (v *View) NetworkCosts(name string) *model.NetworkCosts {
	return only(v, func(n *model.NetworkCosts) bool { return n.Name == name })
}

// only is the object of the type that will do, nil where there is none.
func only[T model.Object](v *View, will func(T) bool) (none T) {
	if list := objects(v, will); len(list) > 0 {
		return list[0]
	}
	return none
}

// Holds implements [extpoints.ClusterView].
func (v *View) Holds() []*model.Hold { return objects(v, func(*model.Hold) bool { return true }) }

// nodes is the view as a list of nodes. (A pointer, so that asking for it does
// not allocate and disturb benchmarks.)
type nodes View

func (l *nodes) Len() int                     { return len(l.NodeInfos) }
func (l *nodes) At(i int) *extpoints.NodeInfo { return l.NodeInfos[i] }

func (l *nodes) Get(name string) *extpoints.NodeInfo {
	return find(l.NodeInfos, func(n *extpoints.NodeInfo) bool { return n.Node.Name == name })
}

func (l *nodes) WithAffinity() []*extpoints.NodeInfo {
	return keep(l.NodeInfos, func(n *extpoints.NodeInfo) bool { return len(n.WithAffinity) > 0 })
}

func (l *nodes) WithRequiredAntiAffinity() []*extpoints.NodeInfo {
	return keep(l.NodeInfos, func(n *extpoints.NodeInfo) bool { return len(n.WithRequiredAntiAffinity) > 0 })
}

// find returns the first item that will do, nil where there is none.
func find[T any](list []*T, will func(*T) bool) *T {
	if i := slices.IndexFunc(list, will); i >= 0 {
		return list[i]
	}
	return nil
}

// keep returns the items that will do, in a list of its own.
func keep[T any](list []*T, will func(*T) bool) []*T {
	var kept []*T
	for _, item := range list {
		if will(item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// Handle is an [extpoints.Handle] for tests. Its methods may be called from any
// goroutine; its fields must be set before.
type Handle struct {
	Log         hclog.Logger // what Logger returns; must not be nil where the plugin logs
	ProfileName string       // what Profile returns; "test" from NewHandle
	// Mode is Compat.
	Mode extpoints.Compat
	// World is the Orchestrator; NewHandle has one that accepts everything.
	World extpoints.Orchestrator
	// Wait are the workloads that wait on Permit.
	Wait extpoints.WaitingWorkloads
	// Preempting is Preemption; nil is a [Preemption] that accepts everything.
	Preempting extpoints.Preemption
	// Cluster is View; nil is an empty one.
	Cluster extpoints.ClusterView

	mu        sync.Mutex
	activated []string
}

// NewHandle makes a handle that logs nothing, has an [Orchestrator] that takes
// everything, and knows of no waiting workload.
func NewHandle() *Handle {
	return &Handle{
		Log:         hclog.NewNullLogger(),
		ProfileName: "test",
		World:       &Orchestrator{},
		Wait:        noneWaiting{},
	}
}

// Logger implements [extpoints.Handle].
func (h *Handle) Logger() hclog.Logger { return h.Log }

// Profile implements [extpoints.Handle].
func (h *Handle) Profile() string { return h.ProfileName }

// Compat implements [extpoints.Handle].
func (h *Handle) Compat() extpoints.Compat { return h.Mode }

// Orchestrator implements [extpoints.Handle].
func (h *Handle) Orchestrator() extpoints.Orchestrator { return h.World }

// Waiting implements [extpoints.Handle].
func (h *Handle) Waiting() extpoints.WaitingWorkloads { return h.Wait }

// Activate implements [extpoints.Handle].
func (h *Handle) Activate(ids ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.activated = append(h.activated, ids...)
}

// Activated lists the IDs given to Activate so far.
func (h *Handle) Activated() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.activated)
}

// Preemption implements [extpoints.Handle].
func (h *Handle) Preemption() extpoints.Preemption {
	if h.Preempting == nil {
		return &Preemption{}
	}
	return h.Preempting
}

// View implements [extpoints.Handle].
func (h *Handle) View() extpoints.ClusterView {
	if h.Cluster == nil {
		return NewView()
	}
	return h.Cluster
}

// Preemption is an [extpoints.Preemption] for tests. Its fields must be set
// before it is used.
type Preemption struct {
	// Filters is RunFilters; nil accepts everything.
	Filters func(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status
	// Extensions is AddWorkload and, where added is nil, RemoveWorkload; nil
	// does nothing.
	Extensions func(s *extpoints.CycleState, w, added, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status
	// Outside are the extenders; their Interested and Preempt must be set.
	Outside []extpoints.Extender
	// Evicting has the IDs of workloads for which evictions are under way.
	Evicting map[string]bool
}

// RunFilters implements [extpoints.Preemption].
func (p *Preemption) RunFilters(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if p.Filters == nil {
		return nil
	}
	return p.Filters(s, w, node)
}

// AddWorkload implements [extpoints.Preemption].
func (p *Preemption) AddWorkload(s *extpoints.CycleState, w, added *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if p.Extensions == nil {
		return nil
	}
	return p.Extensions(s, w, added, nil, node)
}

// RemoveWorkload implements [extpoints.Preemption].
func (p *Preemption) RemoveWorkload(s *extpoints.CycleState, w, removed *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if p.Extensions == nil {
		return nil
	}
	return p.Extensions(s, w, nil, removed, node)
}

// Extenders implements [extpoints.Preemption].
func (p *Preemption) Extenders() []extpoints.Extender { return p.Outside }

// UnderWay implements [extpoints.Preemption].
func (p *Preemption) UnderWay(id string) bool { return p.Evicting[id] }

type noneWaiting struct{}

func (noneWaiting) Each(func(extpoints.WaitingWorkload) bool) {}
func (noneWaiting) Get(id string) extpoints.WaitingWorkload   { return nil }

// Orchestrator is an [extpoints.Orchestrator] that writes down what it is asked
// for. Its methods may be called from any goroutine.
type Orchestrator struct {
	// Refuse, where not nil, is asked for the error of each call.
	Refuse func(w *model.Workload) error

	mu      sync.Mutex
	bound   []model.Binding
	evicted []string
}

// Bind implements [extpoints.Orchestrator].
func (o *Orchestrator) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	return o.do(ctx, w, func() { o.bound = append(o.bound, b) })
}

// Evict implements [extpoints.Orchestrator].
func (o *Orchestrator) Evict(ctx context.Context, w *model.Workload, _ string) error {
	return o.do(ctx, w, func() { o.evicted = append(o.evicted, w.ID) })
}

func (o *Orchestrator) do(ctx context.Context, w *model.Workload, note func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.Refuse != nil {
		if err := o.Refuse(w); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	note()
	return nil
}

// Bound lists the bindings accepted so far.
func (o *Orchestrator) Bound() []model.Binding {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.bound)
}

// Evicted lists the IDs of the workloads whose eviction was accepted so far.
func (o *Orchestrator) Evicted() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.evicted)
}

var (
	_ extpoints.ClusterView  = (*View)(nil)
	_ extpoints.Nodes        = (*nodes)(nil)
	_ extpoints.Handle       = (*Handle)(nil)
	_ extpoints.Preemption   = (*Preemption)(nil)
	_ extpoints.Orchestrator = (*Orchestrator)(nil)
)
