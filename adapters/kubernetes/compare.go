package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// comparePeriod is how often the engine's record is compared with what the informers
// know.
const comparePeriod = time.Minute

// difference is something about which the engine's record and the informers do not
// agree.
type difference struct {
	text string
	// mend makes the changes that the engine has to be told. Only the goroutine
	// that tells the engine calls it.
	mend func() []engine.Change
}

// Compare lists what the engine's record and the informers do not agree about, pods
// and nodes, sorted. Something that happens at this moment may be known to one of
// them only: what is there twice in a row, some time apart, is a fault. The adapter
// compares by itself every minute, and mends such faults. It may be called by any
// goroutine when the adapter is ready.
func (a *Adapter) Compare() []string {
	found := a.compare()
	list := make([]string, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key].text)
	}
	return list
}

// mend compares, and tells the engine what it has missed for as long as from one
// comparison to the next. It returns what is new this time.
func (a *Adapter) mend(before map[string]difference) map[string]difference {
	found := a.compare()
	for _, key := range slices.Sorted(maps.Keys(found)) {
		if d := found[key]; before[key].text == d.text {
			a.log.Error(nil, "The engine's record is mended", "difference", d.text)
			a.apply(d.mend())
			delete(found, key)
		}
	}
	return found
}

// compare finds the differences, by a name for each.
func (a *Adapter) compare() map[string]difference {
	found := map[string]difference{}
	view := a.engine.View()
	a.compareNodes(view, found)
	a.comparePods(view, found)
	return found
}

func (a *Adapter) compareNodes(view *engine.View, found map[string]difference) {
	list, _ := a.listers.nodes.List(labels.Everything())
	there := make(map[string]bool, len(list))
	for _, n := range list {
		there[n.Name] = true
		if _, known := view.Node(n.Name); !known {
			found["node/"+n.Name] = difference{fmt.Sprintf("node %s is missing in the engine", n.Name), func() []engine.Change {
				delete(a.nodes, n.Name)
				return a.newNodes().changed(nil, n)
			}}
		}
	}
	for n := range view.Nodes() {
		if !there[n.Name] {
			found["node/"+n.Name] = difference{fmt.Sprintf("node %s is only there for the engine", n.Name), func() []engine.Change {
				delete(a.nodes, n.Name)
				return []engine.Change{{RemoveNode: n.Name}}
			}}
		}
	}
}

func (a *Adapter) comparePods(view *engine.View, found map[string]difference) {
	list, _ := a.listers.pods.List(labels.Everything())
	there := make(map[string]bool, len(list))
	for _, p := range list {
		id, status := convert.ID(p), convert.Status(p)
		if status.Finished || status.Node == "" && (status.Terminating || !a.ours(p.Spec.SchedulerName) || a.pods.isUnreadable(id)) {
			continue
		}
		there[id] = true
		w, known := view.Workload(id)
		if text := differs(p, &status, &w, known); text != "" {
			found["pod/"+id] = difference{text, func() []engine.Change { return a.pods.anew(p, known) }}
		}
	}
	for w := range view.Workloads() {
		if !there[w.ID] {
			found["pod/"+w.ID] = difference{fmt.Sprintf("pod %s (%s) is only there for the engine", w.DisplayName(), w.ID), func() []engine.Change {
				a.pods.forget(w.ID)
				return []engine.Change{{Remove: w.ID}}
			}}
		}
	}
}

// differs says how the engine's record of a pod differs from the pod; empty for not
// at all. What the engine is about to bind may be ahead of the pod.
func differs(p *v1.Pod, status *convert.PodStatus, w *model.WorkloadRecord, known bool) string {
	name := p.Namespace + "/" + p.Name
	switch {
	case !known:
		return fmt.Sprintf("pod %s (%s) is missing in the engine", name, p.UID)
	case status.Node != "" && w.Node != status.Node:
		return fmt.Sprintf("pod %s (%s) is on %s, and on %q for the engine", name, p.UID, status.Node, w.Node)
	case status.Node == "" && (w.Phase == model.Confirmed || w.Phase == model.Terminating):
		return fmt.Sprintf("pod %s (%s) waits, and is on %s for the engine", name, p.UID, w.Node)
	}
	return ""
}

// anew tells of a pod as if it had just been found, in the place of what the engine
// knows of it.
func (p *pods) anew(o *v1.Pod, known bool) []engine.Change {
	id, status := convert.ID(o), convert.Status(o)
	var changes []engine.Change
	if known {
		changes = append(changes, engine.Change{Remove: id})
	}
	p.forget(id)
	return append(changes, p.found(o, &status)...)
}
