package cluster

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Ledger keeps books of all pods, by every change that the API server tells of: where
// each was bound, and what the nodes have taken on. It notes what must never be, be it
// for a moment: a pod that changes its node, and a node that has taken on too much. Its
// methods may be called from any goroutine.
type Ledger struct {
	cluster *Cluster
	limit   resource.Quantity // CPUs of every node

	mu       sync.Mutex // guards what follows
	nodes    map[types.UID]string
	taken    map[string]resource.Quantity // CPUs, by node
	bindings int
	problems []string
}

// Keep keeps books until the end of the test, of nodes that have so many CPUs each,
// also while they are away.
func (c *Cluster) Keep(t testing.TB, cpus string) *Ledger {
	t.Helper()
	l := &Ledger{cluster: c, limit: resource.MustParse(cpus), nodes: map[types.UID]string{}, taken: map[string]resource.Quantity{}}
	informer := c.informers.Core().V1().Pods().Informer()
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { l.seen(nil, o) },
		UpdateFunc: l.seen,
		DeleteFunc: func(o any) { l.seen(o, nil) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := informer.RemoveEventHandler(registration); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Bindings is how many pods have been bound since the books were begun.
func (l *Ledger) Bindings() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bindings
}

// Check reports what must never have been, and events that speak of a binding that
// was not, or twice of one that was.
func (l *Ledger) Check(t testing.TB) {
	t.Helper()
	l.cluster.Await(t, "the books have every pod", l.complete)
	events, err := l.cluster.informers.Events().V1().Events().Lister().Events(Namespace).List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	told := map[types.UID]bool{}
	for _, e := range events {
		if e.Reason != "Scheduled" || e.Regarding.Kind != "Pod" {
			continue
		}
		uid := e.Regarding.UID
		if node := l.nodes[uid]; node == "" || !strings.HasSuffix(e.Note, " to "+node) {
			t.Errorf("an event says %q; the pod was bound to %q", e.Note, node)
		}
		if told[uid] || e.Series != nil {
			t.Errorf("more than one event says %q", e.Note)
		}
		told[uid] = true
	}
	for _, p := range l.problems {
		t.Error(p)
	}
}

// complete reports which of the pods that the informer has is not in the books.
func (l *Ledger) complete() error {
	pods, err := l.cluster.informers.Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range pods {
		if got := l.nodes[p.UID]; got != p.Spec.NodeName {
			return fmt.Errorf("pod %s is on %q, and %q is in the books", p.Name, p.Spec.NodeName, got)
		}
	}
	return nil
}

// seen enters a change of a pod. Either may be nil, and they may be different pods of
// one name.
func (l *Ledger) seen(before, after any) {
	l.mu.Lock()
	l.leave(podOf(before))
	l.enter(podOf(after))
	l.mu.Unlock()
	l.cluster.changes.happened() // for those who wait for the books
}

func podOf(o any) *corev1.Pod {
	if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = unknown.Obj
	}
	pod, _ := o.(*corev1.Pod) // nil where there is none
	return pod
}

func (l *Ledger) leave(p *corev1.Pod) {
	if p == nil || p.Spec.NodeName == "" {
		return
	}
	taken := l.taken[p.Spec.NodeName]
	taken.Sub(cpus(p))
	l.taken[p.Spec.NodeName] = taken
}

func (l *Ledger) enter(p *corev1.Pod) {
	if p == nil || p.Spec.NodeName == "" {
		return
	}
	node := p.Spec.NodeName
	taken := l.taken[node]
	taken.Add(cpus(p))
	l.taken[node] = taken
	switch l.nodes[p.UID] {
	case node:
		return
	case "":
		l.bindings++
	default:
		l.problems = append(l.problems, fmt.Sprintf("pod %s was bound to %s, and then to %s", p.Name, l.nodes[p.UID], node))
	}
	l.nodes[p.UID] = node
	if taken.Cmp(l.limit) > 0 {
		l.problems = append(l.problems, fmt.Sprintf("with pod %s node %s has taken on %s CPUs of %s", p.Name, node, &taken, &l.limit))
	}
}

// cpus is what the containers of a pod ask for.
func cpus(p *corev1.Pod) resource.Quantity {
	var sum resource.Quantity
	for _, c := range p.Spec.Containers {
		sum.Add(*c.Resources.Requests.Cpu())
	}
	return sum
}
