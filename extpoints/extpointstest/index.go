package extpointstest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Index implements [extpoints.ClusterView]. The nodes must have slots, see Number.
func (v *View) Index() extpoints.Index { return &index{v} }

// index is an [extpoints.Index] that goes through all nodes and workloads each
// time it is asked.
type index struct{ view *View }

func (x *index) Slots() int {
	slots := 0
	seen := map[int32]bool{}
	for _, n := range x.view.NodeInfos {
		if seen[n.Slot] {
			panic(fmt.Sprintf("extpointstest: two nodes have the slot %d: call View.Number", n.Slot))
		}
		seen[n.Slot] = true
		slots = max(slots, int(n.Slot)+1)
	}
	return slots
}

func (x *index) Topology(key string) *extpoints.Topology {
	t := &extpoints.Topology{Key: key, Of: make([]int32, x.Slots()), Values: []string{""}, Nodes: []int32{0}}
	for _, n := range x.view.NodeInfos {
		value, ok := n.Node.TopologyValue(key)
		if !ok {
			continue
		}
		i := slices.Index(t.Values[1:], value) + 1
		if i == 0 {
			i = len(t.Values)
			t.Values, t.Nodes = append(t.Values, value), append(t.Nodes, 0)
		}
		t.Of[n.Slot] = int32(i)
		t.Nodes[i]++
	}
	return t
}

func (x *index) Classes(namespace string, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	x.ClassesWhere(func(name string) bool { return name == namespace }, selector, f)
}

func (x *index) ClassesWhere(in func(string) bool, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	var classes []*extpoints.WorkloadClass
	asked := map[string]bool{}
	for _, n := range x.view.NodeInfos {
		for _, w := range n.Workloads {
			is, known := asked[w.Namespace]
			if !known {
				is = in(w.Namespace)
				asked[w.Namespace] = is
			}
			if !is || !selector.Matches(w.Labels) {
				continue
			}
			same := func(c *extpoints.WorkloadClass) bool {
				return c.Namespace == w.Namespace && c.Terminating == w.Terminating && maps.Equal(c.Labels, w.Labels)
			}
			i := slices.IndexFunc(classes, same)
			if i < 0 {
				i = len(classes)
				classes = append(classes, &extpoints.WorkloadClass{Namespace: w.Namespace, Labels: w.Labels, Terminating: w.Terminating, Counts: counts{}})
			}
			classes[i].Counts.(counts)[n.Slot]++
		}
	}
	for _, c := range classes {
		f(c)
	}
}

// Terms makes a class for each term of each workload, which is allowed, if
// wasteful.
func (x *index) Terms(kind extpoints.TermKind, labels map[string]string, f func(*extpoints.TermClass)) {
	for _, n := range x.view.NodeInfos {
		for _, w := range n.Workloads {
			EachTerm(w.Workload, func(k extpoints.TermKind, weight int32, term *model.AffinityTerm) {
				if k == kind && term.Selector.Matches(labels) {
					f(&extpoints.TermClass{Term: term, Weight: weight, Counts: counts{n.Slot: 1}})
				}
			})
		}
	}
}

// EachTerm calls f for every affinity term of the workload, with the namespaces
// filled in as in [extpoints.TermClass].
func EachTerm(w *model.Workload, f func(kind extpoints.TermKind, weight int32, term *model.AffinityTerm)) {
	each := func(a *model.WorkloadAffinity, required, preferred extpoints.TermKind) {
		if a == nil {
			return
		}
		for i := range a.Required {
			f(required, 0, named(&a.Required[i], w.Namespace))
		}
		for i := range a.Preferred {
			f(preferred, a.Preferred[i].Weight, named(&a.Preferred[i].AffinityTerm, w.Namespace))
		}
	}
	each(w.Affinity, extpoints.RequiredAffinityTerm, extpoints.PreferredAffinityTerm)
	each(w.AntiAffinity, extpoints.RequiredAntiAffinityTerm, extpoints.PreferredAntiAffinityTerm)
}

// named fills in the namespace of a term that names none.
func named(t *model.AffinityTerm, namespace string) *model.AffinityTerm {
	if len(t.Namespaces) > 0 || t.NamespaceSelector != nil {
		return t
	}
	c := *t
	c.Namespaces = []string{namespace}
	return &c
}

// counts are counts by slot.
type counts map[int32]int32

func (c counts) Total() int {
	total := 0
	for _, n := range c {
		total += int(n)
	}
	return total
}

func (c counts) AddTo(sums []int32) {
	for slot, n := range c {
		sums[slot] += n
	}
}

func (c counts) Each(f func(slot, count int32)) {
	for slot, n := range c {
		f(slot, n)
	}
}
