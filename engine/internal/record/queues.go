package record

import (
	"fmt"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// checkOrder refuses a queue, or a principal, that would be above itself. What they name may come later: until then their workloads wait.
func checkOrder(tx *store.Txn, o model.Object) error {
	switch o := o.(type) {
	case *model.Queue:
		return checkAbove("queue", o.Name, o.Parent, func(name string) (string, bool) {
			q, ok := objectIn[*model.Queue](tx, model.QueueKind, name)
			return above(q, ok, func(q *model.Queue) string { return q.Parent })
		})
	case *model.Principal:
		return checkAbove("principal", o.Name, o.Parent, func(name string) (string, bool) {
			p, ok := objectIn[*model.Principal](tx, model.PrincipalKind, name)
			return above(p, ok, func(p *model.Principal) string { return p.Parent })
		})
	}
	return nil
}

// checkAbove refuses a parent that has the object above it. What is recorded has no
// circle, so the way up ends. That an object is its own parent is for Validate to say.
func checkAbove(kind, name, parent string, up func(string) (string, bool)) error {
	for at, known := parent, true; at != "" && known; at, known = up(at) {
		if at == name && at != parent {
			return fmt.Errorf("%s %q: parent: what is above it leads back to it", kind, name)
		}
	}
	return nil
}

func above[T any](o T, known bool, parent func(T) string) (string, bool) {
	if !known {
		return "", false
	}
	return parent(o), true
}

func objectIn[T model.Object](tx *store.Txn, kind model.ObjectKind, id string) (T, bool) {
	o, ok := tx.Object(model.ObjectRef{Kind: kind, ID: id}).Current().(T)
	return o, ok
}
