package snapshot

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Index finds the workloads on the nodes by what they are. It settles v.
func (v *View) Index() extpoints.Index {
	v.Settle()
	return (*index)(v)
}

// index is the View as [extpoints.Index]. It is settled.
type index View

func (x *index) Slots() int { return len(x.layout.place) }

func (x *index) Topology(key string) *extpoints.Topology {
	if t := x.topologies.get(key); t != nil {
		return t
	}
	if f := x.topologies.before(key); f != nil {
		return x.topologies.keep((*View)(x).renew(f))
	}
	return x.topologies.keep((*View)(x).topology(key))
}

func (x *index) Classes(namespace string, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	if selector == nil {
		return
	}
	if s, ok := x.spaces.of(namespace); ok {
		s.each(selector, f)
	}
}

func (x *index) ClassesWhere(in func(namespace string) bool, selector *model.Selector, f func(*extpoints.WorkloadClass)) {
	if selector == nil {
		return
	}
	x.spaces.each(func(s *space) {
		if in(s.namespace) {
			s.each(selector, f)
		}
	})
}

func (x *index) Terms(kind extpoints.TermKind, labels map[string]string, f func(*extpoints.TermClass)) {
	if c := x.terms[kind]; c != nil {
		c.each(labels, f)
	}
}

// count adds to what the index knows of the workload, which comes to the node
// in the slot (by is 1) or leaves it (-1).
func (v *View) count(w *extpoints.WorkloadInfo, slot, by int32) {
	tok := v.own()
	v.spaces.count(tok, w, slot, by)
	if w.Affinity != nil || w.AntiAffinity != nil {
		v.terms.count(tok, w, slot, by)
	}
	if len(w.VolumeClaims) > 0 {
		v.storage.countUsers(tok, w, by)
	}
}

// countAll does that for all workloads on the node.
func (v *View) countAll(info *extpoints.NodeInfo, by int32) {
	for _, w := range info.Workloads {
		v.count(w, info.Slot, by)
	}
}

// countsAlike reports whether the index has two workloads in the same place.
func countsAlike(a, b *extpoints.WorkloadInfo) bool {
	if a.Workload != b.Workload && (a.Namespace != b.Namespace || a.Affinity != b.Affinity || a.AntiAffinity != b.AntiAffinity ||
		!slices.Equal(a.VolumeClaims, b.VolumeClaims)) {
		return false
	}
	return sameClass(a, b)
}

// topology makes the topology of the key. Values have their numbers from the
// visiting order, so whoever goes through them does so in an order that everybody
// can know.
func (v *View) topology(key string) *extpoints.Topology {
	t := &extpoints.Topology{Key: key, Of: make([]int32, len(v.layout.place)), Values: []string{""}, Nodes: []int32{0}}
	numbers := map[string]int32{}
	for place := range v.live {
		info := v.info(place)
		value, ok := info.Node.TopologyValue(key)
		if !ok {
			continue
		}
		number, known := numbers[value]
		if !known {
			number = int32(len(t.Values))
			numbers[value] = number
			t.Values, t.Nodes = append(t.Values, value), append(t.Nodes, 0)
		}
		t.Of[info.Slot] = number
		t.Nodes[number]++
	}
	return t
}
