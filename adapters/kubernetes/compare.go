package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// comparePeriod is how often the engine's record is compared with what the informers
// know.
const comparePeriod = time.Minute

// mendsAtOnce is how many differences are mended after one comparison: the API server
// is asked about each, and meanwhile the engine is told nothing.
const mendsAtOnce = 100

// difference is something about which the engine's record and the informers do not
// agree.
type difference struct {
	text string
	// mend makes the changes that the engine has to be told. It asks the API server
	// first: where the informers are what is behind there are none. Only the
	// goroutine that tells the engine calls it.
	mend func(context.Context) ([]engine.Change, error)
}

// Compare lists what the engine's record and the informers do not agree about, pods
// and nodes, sorted. Something that happens at this moment may be known to one of
// them only: what is there twice in a row, some time apart, is a fault. The adapter
// compares by itself every minute, and mends such faults. It may be called by any
// goroutine; until the adapter is ready there is nothing to compare.
func (a *Adapter) Compare() []string {
	select {
	case <-a.ready:
	default:
		return nil
	}
	found := a.compare()
	list := make([]string, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key].text)
	}
	return list
}

// mend compares, and tells the engine what it has missed for as long as from one
// comparison to the next. It returns what is to be looked at the next time.
func (a *Adapter) mend(ctx context.Context, before map[string]difference) map[string]difference {
	found, mended := a.compare(), 0
	for _, key := range slices.Sorted(maps.Keys(found)) {
		d := found[key]
		if before[key].text != d.text || mended == mendsAtOnce {
			continue
		}
		mended++
		changes, err := d.mend(ctx)
		switch {
		case err != nil:
			a.log.Error(err, "Cannot see whether the engine's record is wrong", "difference", d.text)
		case len(changes) == 0:
			a.log.Info("The informers are behind the API server", "difference", d.text)
		default:
			a.log.Error(nil, "The engine's record is mended", "difference", d.text)
			a.apply(changes)
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
			found["node/"+n.Name] = a.nodeDiffers(n.Name, fmt.Sprintf("node %s is missing in the engine", n.Name), false)
		}
	}
	for n := range view.Nodes() {
		if !there[n.Name] {
			found["node/"+n.Name] = a.nodeDiffers(n.Name, fmt.Sprintf("node %s is only there for the engine", n.Name), true)
		}
	}
}

// nodeDiffers is the difference that only the informers, or only the engine, have the
// node.
func (a *Adapter) nodeDiffers(name, text string, engines bool) difference {
	return difference{text, func(ctx context.Context) ([]engine.Change, error) {
		n, err := a.opts.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			return nil, err
		case engines == (err == nil): // the informers will hear of it
			return nil, nil
		}
		delete(a.nodes, name)
		if engines {
			return []engine.Change{engine.RemoveNode(name)}, nil
		}
		return a.newNodes().changed(nil, n), nil
	}}
}

func (a *Adapter) comparePods(view *engine.View, found map[string]difference) {
	list, _ := a.listers.pods.List(labels.Everything())
	there := make(map[string]bool, len(list))
	for _, p := range list {
		if !a.counts(p) || a.pods.isUnreadable(convert.ID(p)) {
			continue
		}
		id := convert.ID(p)
		there[id] = true
		w, known := view.Workload(id)
		if text := differs(p, &w, known); text != "" {
			found["pod/"+id] = a.podDiffers(p.Namespace, p.Name, id, text)
		}
	}
	for w := range view.Workloads() {
		if !there[w.ID] {
			found["pod/"+w.ID] = a.podDiffers(w.Namespace, w.Name, w.ID, fmt.Sprintf("pod %s (%s) is only there for the engine", w.DisplayName(), w.ID))
		}
	}
}

// counts reports whether the pod is one that the engine is to know.
func (a *Adapter) counts(p *v1.Pod) bool {
	status := convert.Status(p)
	return !status.Finished && (status.Node != "" || !status.Terminating && a.ours(p.Spec.SchedulerName))
}

// podDiffers is a difference about a pod.
func (a *Adapter) podDiffers(namespace, name, id, text string) difference {
	return difference{text, func(ctx context.Context) ([]engine.Change, error) {
		p, err := a.opts.Client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		w, known := a.engine.View().Workload(id)
		switch {
		case err != nil || convert.ID(p) != id || !a.counts(p):
			a.pods.forget(id)
			if !known {
				return nil, nil
			}
			return []engine.Change{engine.Remove(id)}, nil
		case differs(p, &w, known) == "":
			return nil, nil
		}
		return a.pods.anew(p, known), nil
	}}
}

// differs says how the engine's record of a pod differs from the pod; empty for not
// at all. What the engine is about to bind may be ahead of the pod.
func differs(p *v1.Pod, w *model.WorkloadRecord, known bool) string {
	name, node := p.Namespace+"/"+p.Name, p.Spec.NodeName
	switch {
	case !known:
		return fmt.Sprintf("pod %s (%s) is missing in the engine", name, p.UID)
	case node != "" && w.Node != node:
		return fmt.Sprintf("pod %s (%s) is on %s, and on %q for the engine", name, p.UID, node, w.Node)
	case node == "" && (w.Phase == model.Confirmed || w.Phase == model.Terminating):
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
		changes = append(changes, engine.Remove(id))
	}
	p.forget(id)
	return append(changes, p.found(o, &status)...)
}
