package generate

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
)

// Mood is what kind of objects a [Source] draws.
type Mood struct {
	// Tame: mostly feasible and mostly equal, so that ties and the search for
	// nodes matter more than odd fields.
	Tame bool
	// Huge: also amounts whose sums or hundredfolds are no int64.
	Huge bool
	// Odd: also values in node affinity that no label can have.
	Odd bool
	// Several: node affinity may name several nodes. kube-scheduler visits
	// those in the random order of a map.
	Several bool
	// Related: more affinity between pods, and more spreading.
	Related bool
	// Unrelated: no affinity between pods and no spreading.
	Unrelated bool
	// Crowded: pods of many priorities, so that there is room to be made.
	Crowded bool
	// Uniform: nodes and pods are of few sizes and priorities, so that many
	// nodes are equally good to make room on.
	Uniform bool
	// PlainChanges: requests only change from one whole amount to another, none
	// of them zero or beyond counting in thousandths.
	PlainChanges bool
	// ByContainer: what pods ask for is always said of their containers, never
	// of the pod as a whole.
	ByContainer bool
	// Storage: pods have volumes; see [Source.StorageObjects].
	Storage bool
	// Devices: pods have claims to devices; see [Source.DeviceObjects].
	Devices bool
	// Comparing: tolerations may have the operators Gt and Lt, and some values of
	// taints are numbers.
	Comparing bool
	// ComparingOff: the feature gate of the two operators is off, and pods have them
	// from when it was on.
	ComparingOff bool
	// Measured: what is in use is measured. Containers have limits, and nodes more than what
	// pods can have of it.
	Measured bool
	// Simple: what a pod asks for is the same however it is summed up. There is no overhead, no
	// sidecar and nothing said of the pod as a whole, and no pod is resized. Where what is in use
	// is measured, each pod is one container; where there are custom resources, what is not
	// guaranteed what it requests has no init containers.
	Simple bool
	// Custom: pods are such as custom resources speak of; see [Apps] and the lists beside it.
	Custom bool
	// Classed: pods are of priority classes; see [Classes].
	Classed bool
	// Nodes is how many names of nodes there are.
	Nodes int
	// Zones is how many names of zones there are; 0 stands for 4.
	Zones int
}

// Compares reports whether tolerations with Gt and Lt tolerate anything.
func (m *Mood) Compares() bool { return m.Comparing && !m.ComparingOff }

// Source draws objects. Not for use by several goroutines.
type Source struct {
	*rand.Rand
	Mood

	generation int64 // of pools of devices
	salt       uint64
}

// New makes the source of one case of a seed.
func New(seed, number uint64, mood Mood) *Source {
	if mood.Zones == 0 {
		mood.Zones = 4
	}
	return &Source{Rand: rand.New(rand.NewPCG(seed, number)), Mood: mood, generation: 1, salt: seed<<32 ^ number}
}

// PodUID is the UID of the pod of a name: in no order, as real ones are, and with
// the name at the end, for people who read reports.
func (s *Source) PodUID(name string) types.UID { return PodUID(s.salt, name) }

// PodUID is [Source.PodUID], for a salt of its own.
func PodUID(salt uint64, name string) types.UID {
	h := fnv.New64a()
	fmt.Fprint(h, salt, name)
	// The last bytes of a name hardly reach the highest bits by themselves.
	return types.UID(fmt.Sprintf("%08x-%s", uint32(h.Sum64()*0x9e3779b97f4a7c15>>32), name))
}

// Percent is true that many times in a hundred.
func (s *Source) Percent(n int) bool { return s.IntN(100) < n }

// Wild is Percent, in a tame mood four times less often.
func (s *Source) Wild(n int) bool {
	if s.Tame {
		n /= 4
	}
	return s.Percent(n)
}

// Pick draws one of the items.
func Pick[T any](s *Source, items ...T) T { return items[s.IntN(len(items))] }

// some draws up to n of the items, each at most once, in any order.
func some[T any](s *Source, n int, items ...T) []T {
	var drawn []T
	for _, i := range s.Perm(len(items))[:min(s.IntN(n+1), len(items))] {
		drawn = append(drawn, items[i])
	}
	return drawn
}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// quantities draws one of the amounts.
func (s *Source) quantities(texts ...string) resource.Quantity { return quantity(Pick(s, texts...)) }
