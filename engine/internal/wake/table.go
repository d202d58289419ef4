package wake

import (
	"cmp"
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// table says what facts mean that are not about workloads.
var table = map[store.Kind]func(w *Waker, now time.Time, fact *store.Change){
	store.NodeKind:      (*Waker).node,
	store.GroupKind:     (*Waker).group,
	store.BudgetKind:    (*Waker).budget,
	store.NamespaceKind: (*Waker).namespace,
	store.ObjectKind:    (*Waker).object,
}

// Fact offers what the fact means, which is not about a workload.
func (w *Waker) Fact(now time.Time, fact *store.Change) { table[fact.Kind](w, now, fact) }

func (w *Waker) node(now time.Time, fact *store.Change) {
	before, after := fact.OldNode, fact.NewNode
	switch {
	case after == nil:
		w.offer(now, &extpoints.Event{ClusterEvent: event(extpoints.NodeResource, true, false), OldNode: before.Node}, nil)
	case before == nil:
		w.offer(now, &extpoints.Event{ClusterEvent: event(extpoints.NodeResource, false, true), NewNode: after.Node}, nil)
	case before.Seq != after.Seq: // removed and put again
		w.node(now, &store.Change{OldNode: before})
		w.node(now, &store.Change{NewNode: after})
	default:
		for _, e := range extpoints.EventsForNodeUpdate(before.Node, after.Node) {
			w.offer(now, &extpoints.Event{ClusterEvent: e, OldNode: before.Node, NewNode: after.Node}, nil)
		}
	}
}

func (w *Waker) group(now time.Time, fact *store.Change) {
	change := extpoints.Event{ClusterEvent: event(extpoints.GroupResource, fact.OldGroup != nil, fact.NewGroup != nil)}
	if fact.OldGroup != nil {
		change.OldGroup = fact.OldGroup.Group
	}
	if fact.NewGroup != nil {
		change.NewGroup = fact.NewGroup.Group
	}
	w.offer(now, &change, nil)
}

func (w *Waker) budget(now time.Time, fact *store.Change) {
	if fact.OldBudget != nil && fact.NewBudget != nil && fact.OldBudget.Budget == fact.NewBudget.Budget {
		return // it was not reported
	}
	w.offer(now, &extpoints.Event{ClusterEvent: event(extpoints.BudgetResource, fact.OldBudget != nil, fact.NewBudget != nil)}, nil)
}

func (w *Waker) namespace(now time.Time, fact *store.Change) {
	change := extpoints.Event{ClusterEvent: event(extpoints.NamespaceResource, fact.OldNamespace != nil, fact.NewNamespace != nil)}
	if fact.OldNamespace != nil {
		change.OldNamespace = fact.OldNamespace.Namespace
	}
	if fact.NewNamespace != nil {
		change.NewNamespace = fact.NewNamespace.Namespace
	}
	w.offer(now, &change, nil)
}

func (w *Waker) object(now time.Time, fact *store.Change) { w.Object(now, fact, "") }

// Object offers an object that was reported, or about which something was decided or
// taken back: to those who wait it is the same. The workload with the ID is not woken,
// empty for none.
func (w *Waker) Object(now time.Time, fact *store.Change, but string) {
	change := extpoints.Event{OldObject: fact.OldObject.Current(), NewObject: fact.NewObject.Current()}
	if change.OldObject == change.NewObject {
		return
	}
	kind := model.RefOf(cmp.Or(change.NewObject, change.OldObject)).Kind
	if kind == model.DeviceTaintRuleKind {
		w.taintRule(now, &change)
		return
	}
	change.ClusterEvent = event(kind, fact.OldObject != nil, fact.NewObject != nil)
	var others func(*model.Workload) bool
	if but != "" {
		others = func(w *model.Workload) bool { return w.ID != but }
	}
	w.offer(now, &change, others)
}

// Hold offers a hold that begins or ends: as an update, with what it was and is the same.
func (w *Waker) Hold(now time.Time, h *model.Hold) {
	w.offer(now, &extpoints.Event{ClusterEvent: event(model.HoldKind, true, true), OldObject: h, NewObject: h}, nil)
}

// SharedClaims offers the claims to devices that a decision gave something, as far as
// it still holds: others that use them can go where the devices are. That a volume is
// taken helps nobody.
func (w *Waker) SharedClaims(now time.Time, objects []store.Change) {
	for i := range objects {
		after := objects[i].NewObject
		if claim, ok := after.Current().(*model.DeviceClaim); ok && w.rec.Store.Object(after.Ref()).Current() == model.Object(claim) {
			w.Object(now, &objects[i], "")
		}
	}
}

// taintRule offers the slices whose devices have other taints because of a rule. What
// the rule itself says is of no interest to anybody. (kube-scheduler:
// k8s.io/dynamic-resource-allocation resourceslice/tracker, 0.37.1.)
func (w *Waker) taintRule(now time.Time, rule *extpoints.Event) {
	before, after := extpoints.ObjectsOf[*model.DeviceTaintRule](rule)
	for _, s := range w.rec.View.Devices().Slices().List {
		if retaints(s, before, after) {
			w.offer(now, &extpoints.Event{
				ClusterEvent: extpoints.ClusterEvent{Resource: model.DeviceSliceKind, Action: extpoints.Update},
				OldObject:    s, NewObject: s,
			}, nil)
		}
	}
}

// retaints reports whether the change of a rule gives some device of the slice
// other taints; nil is no rule.
func retaints(s *model.DeviceSlice, before, after *model.DeviceTaintRule) bool {
	for i := range s.Devices {
		was, is := before.AppliesTo(s, i), after.AppliesTo(s, i)
		if was != is || was && before.Taint != after.Taint {
			return true
		}
	}
	return false
}
