package record

import (
	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// The table of changes: the name of the constructor in package engine, where it is
// said what it means; what it needs; what it is about; how it is checked and written.
var (
	PutNode    = newOp("PutNode", "a node", about(func(n *model.Node) string { return n.Name }), valid((*store.Txn).PutNode))
	RemoveNode = newOp("RemoveNode", "the name of a node", named, plain((*store.Txn).DeleteNode))

	LoseNode  = newOp("LoseNode", "the name of a node", named, (*Intake).loseNode)
	DrainNode = newOp("Drain", "the name of a node", Drain.id, (*Intake).drain)

	Submit    = newOp("Submit", "a workload", about(workloadID), (*Intake).submit)
	adopt     = newOp("Adopt", "a workload, and a binding with the name of its node", adoption.id, (*Intake).adopt)
	Update    = newOp("Update", "a workload", about(workloadID), (*Intake).update)
	Confirm   = newOp("Confirm", "a binding with the ID of a workload and the name of its node", bound, (*Intake).confirm)
	nominate  = newOp("Nominate", "the ID of a workload", nomination.id, (*Intake).nominate)
	Terminate = newOp("Terminate", "the ID of a workload", named, (*Intake).terminate)
	Displace  = newOp("Displace", "the ID of a workload", named, (*Intake).displace)
	Finish    = newOp("Finish", "the ID of a workload", named, (*Intake).finish)
	Requeue   = newOp("Requeue", "the ID of a workload", named, (*Intake).requeue)
	Remove    = newOp("Remove", "the ID of a workload", named, plain((*store.Txn).DeleteWorkload))

	PutGroup        = newOp("PutGroup", "a group", about(func(g *model.Group) string { return g.ID }), (*Intake).putGroup)
	RemoveGroup     = newOp("RemoveGroup", "the ID of a group", named, (*Intake).removeGroup)
	PutBudget       = newOp("PutBudget", "a budget", about(func(b *model.Budget) string { return b.ID }), valid((*store.Txn).PutBudget))
	RemoveBudget    = newOp("RemoveBudget", "the ID of a budget", named, plain((*store.Txn).DeleteBudget))
	PutNamespace    = newOp("PutNamespace", "a namespace", about(func(n *model.Namespace) string { return n.Name }), valid((*store.Txn).PutNamespace))
	RemoveNamespace = newOp("RemoveNamespace", "the name of a namespace", named, plain((*store.Txn).DeleteNamespace))

	putObject    = newOp("PutObject", "an object", object.id, (*Intake).putObject)
	ChargeUsage  = newOp("ChargeUsage", "the name of a queue", Usage.id, (*Intake).chargeUsage)
	removeObject = newOp("RemoveObject", "the kind and the ID of an object", objectRef.id, (*Intake).removeObject)
)

// Adopt is the change that takes in a workload on its node.
func Adopt(w *model.Workload, b model.Binding) Change { return adopt.Of(adoption{w, b}) }

// Nominate is the change that says which node a workload waits for.
func Nominate(workload, node string) Change { return nominate.Of(nomination{workload, node}) }

// PutObject is the change that reports an object of storage or devices.
func PutObject(o model.Object) Change { return putObject.Of(object{o}) }

// RemoveObject is the change that reports that such an object is no more.
func RemoveObject(ref model.ObjectRef) Change { return removeObject.Of(objectRef(ref)) }

// about is what a change is about that hands something in.
func about[T any](id func(*T) string) func(*T) (string, bool) {
	return func(value *T) (string, bool) {
		if value == nil {
			return "", false
		}
		return id(value), true
	}
}

func named(id string) (string, bool) { return id, id != "" }

func workloadID(w *model.Workload) string { return w.ID }

func bound(b model.Binding) (string, bool) { return b.Workload, b.Workload != "" && b.Node != "" }

// plain is what an op does that needs no check.
func plain(verb func(*store.Txn, string, ...store.Expect) error) func(*Intake, string) error {
	return func(in *Intake, id string) error { return verb(in.Txn, id) }
}

// valid is what an op does whose value is checked by itself.
func valid[T interface{ Validate() error }](verb func(*store.Txn, T, ...store.Expect) error) func(*Intake, T) error {
	return func(in *Intake, value T) error {
		if err := value.Validate(); err != nil {
			return err
		}
		return verb(in.Txn, value)
	}
}
