package engine

import (
	"cmp"
	"iter"
	"slices"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// Changes lists the changes by which a new engine comes to know what the view has, in an
// order in which they can be applied, in one Apply or in several. So an orchestrator that keeps no
// record of its own starts again from what [Replay] returns, or moves to an engine with another
// configuration:
//
//	replayed, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
//
//	eng, err := engine.New(cfg)
//
//	err = eng.Apply(slices.Collect(replayed.View().Changes())...)
//
// All of it is accepted, whatever is away by then: a workload waits for the node, the profile or
// the group that it names, and [Raw.Explain] says so. Limits come last, since one of breach
// [model.LimitRefuse] is about those that come after it.
//
// Workloads come in the order in which they were submitted, and keep their nodes, devices, granted
// limits and nominations; objects are as decisions have left them. One that is [model.Assumed] is submitted
// to be placed: whether its binding came through only its orchestrator knows, which adopts it
// instead. What plugins keep by themselves, times in the queue and past usage are not facts, and
// are not in it; [Raw.StartRecording] lists what else there is to an engine.
func (v *View) Changes() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for _, kind := range model.ObjectKinds {
			if kind != model.LimitKind && !each(v.Objects(kind), yield, putAgain) {
				return
			}
		}
		_ = each(v.Namespaces(), yield, func(n model.NamespaceRecord) Change { return PutNamespace(n.Namespace) }) &&
			each(v.store.Budgets(), yield, func(b *store.Budget) Change { return PutBudget(b.Left()) }) &&
			each(slices.Values(v.groupsFromTheTop()), yield, func(g model.GroupRecord) Change { return PutGroup(g.Group) }) &&
			each(v.Nodes(), yield, func(n model.NodeRecord) Change { return PutNode(n.Node) }) &&
			v.eachWorkload(yield) &&
			each(v.Objects(model.LimitKind), yield, putAgain)
	}
}

func putAgain(o model.ObjectRecord) Change { return PutObject(o.Object) }

// each yields the change of each of the rows. It reports whether more are wanted.
func each[R any](rows iter.Seq[R], yield func(Change) bool, change func(R) Change) bool {
	for row := range rows {
		if !yield(change(row)) {
			return false
		}
	}
	return true
}

// groupsFromTheTop are the groups, each behind its parent.
func (v *View) groupsFromTheTop() []model.GroupRecord {
	groups := slices.Collect(v.Groups())
	depth := func(g model.GroupRecord) (n int) {
		for parent, ok := v.Group(g.Parent); ok && n < model.MaxGroupDepth; parent, ok = v.Group(parent.Parent) {
			n++
		}
		return n
	}
	slices.SortStableFunc(groups, func(a, b model.GroupRecord) int { return cmp.Compare(depth(a), depth(b)) })
	return groups
}

// eachWorkload yields the changes of the workloads. It reports whether more are wanted.
func (v *View) eachWorkload(yield func(Change) bool) bool {
	rows := slices.SortedFunc(v.Workloads(), func(a, b model.WorkloadRecord) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, row := range rows {
		for _, ch := range changesOf(&row) {
			if !yield(ch) {
				return false
			}
		}
	}
	return true
}

// changesOf are those of one workload.
func changesOf(w *model.WorkloadRecord) []Change {
	first := Submit(w.Workload)
	if w.Node != "" {
		first = Adopt(w.Workload, model.Binding{Node: w.Node, Devices: w.Shares, Since: w.PlacedAt, Limit: w.GrantedLimit})
	}
	switch {
	case w.Phase == model.Assumed:
		first = Submit(w.Workload)
	case w.Phase == model.Terminating && w.Displaced:
		return []Change{first, Displace(w.ID)}
	case w.Phase == model.Terminating:
		return []Change{first, Terminate(w.ID)}
	case w.Phase == model.Finished:
		return []Change{first, Finish(w.ID)}
	case w.Nominated != "":
		return []Change{first, Nominate(w.ID, w.Nominated)}
	}
	return []Change{first}
}
