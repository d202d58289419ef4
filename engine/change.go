package engine

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/model"
)

// Change is one thing that happened outside, or that somebody wants. The functions
// that return one make it; what they are given belongs to the engine from then on.
// [Raw.Apply] refuses the zero Change, a nil pointer and an empty name.
//
// As JSON a change is an object with one field, whose name is that of the function.
// Reading it is strict: what is not known is an error.
type Change struct{ c record.Change }

// PutNode adds a node, or replaces the one of the same name.
func PutNode(n *model.Node) Change { return Change{record.PutNode.Of(n)} }

// RemoveNode removes the node with the name. Bindings to it that are under way are
// cancelled with ErrNodeRemoved as the cause (not with [extpoints.KubeScheduler137]):
// where that fails them, their workloads are placed again. What is on the node stays
// there as far as the engine knows, until it is removed or requeued: see [LoseNode],
// which does that too, and [View.Stranded].
func RemoveNode(name string) Change { return Change{record.RemoveNode.Of(name)} }

// LoseNode says that the node with the name is gone with all that was on it. In one
// transaction it removes the node and takes everything recorded there off it:
//
//   - what was being bound to it, bound or confirmed there is requeued: bindings under
//     way are cancelled, and the workload is placed again;
//   - what was terminating (see [Terminate]) is finished: it shall not run again. [Remove]
//     forgets it, as after [Finish].
//
// Listeners are told as if RemoveNode, Requeue and Finish had been applied one by one,
// in this order, the workloads by phase and ID. Nominations to the node stay until the
// next attempt of their workloads, as with RemoveNode.
func LoseNode(name string) Change { return Change{record.LoseNode.Of(name)} }

// Drain empties the node with the name: it is Unschedulable from now on, and all that is
// on it is evicted, as if [Raw.Evict] were called for each, with the reason.
//
//   - A workload that is still being bound to it is called off and placed elsewhere.
//   - For each that is bound or confirmed there the orchestrator's Evict is called; it
//     stays where it is until the orchestrator reports what has become of it.
//   - If Evict returns an error, Listener.Failed is told, and the workload stays;
//     the engine does not ask again by itself, but another Drain does.
//   - Budgets are not consulted, no more than by Raw.Evict: they limit what the engine
//     displaces for other workloads. An orchestrator that wants them honoured refuses.
//   - What is adopted onto the node, or confirmed there, later is not evicted.
//
// A PutNode of the node that is not Unschedulable opens it again; evictions under way
// go on. On a [Branch] nothing is evicted; the node is closed.
func Drain(name, reason string) Change {
	return Change{record.DrainNode.Of(record.Drain{Node: name, Reason: reason})}
}

// Submit submits a new workload to be placed. What it names need not be there: until its node
// (NodeName), its profile, its group and, in an order by queues, its queue are, it waits, and
// [Raw.Explain] says for what.
func Submit(w *model.Workload) Change { return Change{record.Submit.Of(w)} }

// Adopt submits a workload that already is on a node: on that of the binding, with
// its devices, since when it says (zero: now). The binding need not repeat the
// workload's ID; else it must be valid, see [model.Binding.Validate]. The node need not
// be known yet: an engine that starts is told of nodes and workloads in whatever order
// they come; see [View.Stranded].
func Adopt(w *model.Workload, b model.Binding) Change { return Change{record.Adopt(w, b)} }

// Update replaces the workload of the same ID, whatever its phase. What the new one names need
// not be there, as with [Submit].
func Update(w *model.Workload) Change { return Change{record.Update.Of(w)} }

// Confirm says that a workload has been seen on its node: the one that was
// chosen for it, or, if that was somebody else's choice, another. Since may
// say when it started, also later, of one that is confirmed already. The node need
// not be known, as with [Adopt]. The binding must be valid, see [model.Binding.Validate].
func Confirm(b model.Binding) Change { return Change{record.Confirm.Of(b)} }

// Nominate says which node the workload with the ID waits for, where somebody else
// decided that: an earlier engine, or another program. Room is kept for it there, and
// the node is looked at first. Without a node it waits for none any more. Of one that
// does not wait for a node it changes nothing.
func Nominate(workload, node string) Change { return Change{record.Nominate(workload, node)} }

// Terminate says that the workload with the ID is terminating; it keeps
// its room until it is finished or removed. It may be repeated, and may come
// after the engine had it from the orchestrator that evicted the workload.
func Terminate(id string) Change { return Change{record.Terminate.Of(id)} }

// Displace is Terminate, or comes after it, and says besides that the
// workload has to make room for another. It may be repeated too: what the
// engine evicts for that it knows by itself.
func Displace(id string) Change { return Change{record.Displace.Of(id)} }

// Finish says that the workload with the ID has ended; its room is free. The record, about 1.5 KiB,
// and the ID stay until Remove. It may be repeated.
func Finish(id string) Change { return Change{record.Finish.Of(id)} }

// Requeue says that the workload with the ID has lost its node and must be placed
// again. Of one that waits for a node already it changes nothing.
func Requeue(id string) Change { return Change{record.Requeue.Of(id)} }

// Remove forgets the workload with the ID, in whatever phase it is.
func Remove(id string) Change { return Change{record.Remove.Of(id)} }

// PutGroup adds a group, or replaces the one of the same ID.
func PutGroup(g *model.Group) Change { return Change{record.PutGroup.Of(g)} }

// RemoveGroup removes the group with the ID. Its members stay its members.
func RemoveGroup(id string) Change { return Change{record.RemoveGroup.Of(id)} }

// PutBudget adds a budget, or replaces the one of the same ID.
func PutBudget(b *model.Budget) Change { return Change{record.PutBudget.Of(b)} }

// RemoveBudget removes the budget with the ID.
func RemoveBudget(id string) Change { return Change{record.RemoveBudget.Of(id)} }

// PutNamespace adds a namespace, or replaces the one of the same name.
func PutNamespace(n *model.Namespace) Change { return Change{record.PutNamespace.Of(n)} }

// RemoveNamespace removes the namespace with the name. The workloads in it stay.
func RemoveNamespace(name string) Change { return Change{record.RemoveNamespace.Of(name)} }

// PutObject adds an object of storage, devices or queues, or a hold, or replaces the one of
// the same kind and ID. What has been decided about it (which volume or
// devices a claim has, for which claim a volume is) is kept, as far as the new one
// does not say it.
func PutObject(o model.Object) Change { return Change{record.PutObject(o)} }

// RemoveObject removes the object.
func RemoveObject(ref model.ObjectRef) Change { return Change{record.RemoveObject(ref)} }

// ChargeUsage says what workloads of the principal, or of none, in the queue have used until a
// time (zero: now) that the engine does not know of, because an earlier engine had them: by
// resource, in its unit times seconds. It counts where a queue above goes by usage, and for
// limits on resource-seconds, and decays from that time on; see [model.Queue]. The queue and the
// principal must be there with all above them. What an adopted workload has used since it was placed
// is known from [Adopt]. On a [Branch], and where the order is not by queues, nothing is charged.
func ChargeUsage(queue, principal string, used map[string]int64, until time.Time) Change {
	return Change{record.ChargeUsage.Of(record.Usage{Queue: queue, Principal: principal, Used: used, Until: until})}
}

// Verb is what the change does, in words: "put node" for PutNode, "put VolumeClaim"
// for PutObject of a claim; empty for the zero Change.
func (ch Change) Verb() string { return ch.c.Verb() }

// ID is the ID or name of what the change is about; empty where it names nothing.
func (ch Change) ID() string { return ch.c.ID() }

// Value is what the change submits: the *model.Node, *model.Workload (of Submit,
// Adopt and Update), *model.Group, *model.Budget, *model.Namespace or model.Object, or
// the model.Binding of Confirm; nil where it only names something.
func (ch Change) Value() any { return ch.c.Value() }

// String says what the change is, for messages: its verb and, quoted, its ID.
func (ch Change) String() string {
	if ch.Verb() == "" {
		return "the zero Change"
	}
	return fmt.Sprintf("%s %q", ch.Verb(), ch.ID())
}

// MarshalJSON implements [json.Marshaler].
func (ch Change) MarshalJSON() ([]byte, error) { return ch.c.MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler].
func (ch *Change) UnmarshalJSON(text []byte) error { return ch.c.UnmarshalJSON(text) }
