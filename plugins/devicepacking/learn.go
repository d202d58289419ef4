package devicepacking

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// learner knows the mix from the workloads that are on nodes. It has no memory that
// makes a difference: the mix is a function of the view and of the time of the cycle, so
// that branches, explanations and replays that begin in the middle have the same one.
// What follows from that:
//
//   - Workloads that no node had room for do not count, nor do those that have ended.
//   - Time is cut in periods, which are shorter while there are few workloads. What was
//     placed in the present period does not count yet, so that most placements leave the mix
//     alone, and with it the potentials that are known.
//   - Weights are rounded down to powers of the root of two, so that the mix stays as it
//     is when a few workloads end.
//
// A workload counts half as much after every halfLife full periods, until it counts for a
// sixteenth.
type learner struct {
	from   *supply
	period time.Duration
	census atomic.Pointer[census]
}

const (
	halfLife = 24
	// fresh is what a workload of the last period counts.
	fresh int64 = 16
	// Below so many workloads the period is halved, below half as many halved again, and
	// so on down to a sixteenth.
	fullPeriod = 1024
	shortest   = 4 // halvings
)

// boundary is the beginning of the present period where there are so many workloads, in
// nanoseconds.
func (l *learner) boundary(now time.Time, workloads int) int64 {
	p := int64(l.period)
	for few := fullPeriod; workloads < few && few > fullPeriod>>shortest; few /= 2 {
		p = max(p/2, 1)
	}
	return now.UnixNano() / p * p
}

func newLearner(from *supply, period time.Duration) *learner {
	l := &learner{from: from, period: period}
	l.census.Store(&census{counts: map[kindOfShape]int64{}})
	return l
}

// kindOfShape is a shape that can be compared.
type kindOfShape struct {
	cpu, share, count int64
	models            string // sorted, separated by line feeds
}

// prior is what is expected where nothing was seen: some of everything, with as much CPU as
// nodes have for their devices. It counts as much as ten workloads.
func (c *census) prior() []weighted {
	cpu := roundDown(c.cpu / max(c.devices, 1))
	list := []weighted{
		{kindOfShape{cpu: cpu / 2}, fresh},
		{kindOfShape{cpu: cpu / 4, share: 250, count: 1}, 2 * fresh},
		{kindOfShape{cpu: cpu / 2, share: 500, count: 1}, 2 * fresh},
		{kindOfShape{cpu: cpu, share: model.WholeDevice, count: 1}, 2 * fresh},
	}
	for count := int64(2); count <= 8; count *= 2 {
		list = append(list, weighted{kindOfShape{cpu: count * cpu, share: model.WholeDevice, count: count}, fresh})
	}
	return list
}

// census counts the workloads on nodes. So that this need not be done anew for each
// decision it remembers which workloads it has counted where.
type census struct {
	mu       sync.Mutex
	boundary int64 // what was placed later does not count
	visit    uint64
	nodes    []countedNode // by slot
	counts   map[kindOfShape]int64
	// cpu and devices are what all nodes with devices have.
	cpu, devices int64
	dirty        bool
	// recent are the mixes that were made last, the present one first: there and back
	// again, as branches go, costs nothing.
	recent []*learned
}

type countedNode struct {
	workloads []*extpoints.WorkloadInfo
	visit     uint64 // 0: nothing is counted
}

type learned struct {
	signature string
	mix       *mix
}

// keptMixes is how many mixes are remembered.
const keptMixes = 4

// mix is the mix of the view.
func (l *learner) mix(view extpoints.ClusterView, now time.Time) *mix {
	c := l.census.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if boundary := l.boundary(now, c.survey(l.from, view.Nodes())); boundary != c.boundary || len(c.recent) == 0 {
		c.boundary, c.nodes, c.dirty = boundary, nil, true
		clear(c.counts)
	}
	l.count(c, view)
	if c.dirty {
		c.use(c.signature())
		c.dirty = false
	}
	return c.recent[0].mix
}

// survey counts the workloads on the nodes, and what nodes with devices have.
func (c *census) survey(from *supply, nodes extpoints.Nodes) (workloads int) {
	var cpu, devices int64
	for i := range nodes.Len() {
		n := nodes.At(i)
		workloads += len(n.Workloads)
		if count := int64(from.count(n.Node)); count > 0 {
			devices += count
			cpu += n.Node.Allocatable.CPU
		}
	}
	c.dirty = c.dirty || cpu != c.cpu || devices != c.devices
	c.cpu, c.devices = cpu, devices
	return workloads
}

// count brings the counts up to the view. Workloads in a view are frozen, so a list of the
// same ones counts the same.
func (l *learner) count(c *census, view extpoints.ClusterView) {
	c.visit++
	if more := view.Index().Slots() - len(c.nodes); more > 0 {
		c.nodes = append(c.nodes, make([]countedNode, more)...)
	}
	nodes := view.Nodes()
	for i := range nodes.Len() {
		n := nodes.At(i)
		known := &c.nodes[n.Slot]
		known.visit = c.visit
		if !slices.Equal(known.workloads, n.Workloads) {
			l.add(c, known.workloads, -1)
			l.add(c, n.Workloads, +1)
			known.workloads = append(known.workloads[:0], n.Workloads...)
		}
	}
	for i := range c.nodes {
		if gone := &c.nodes[i]; gone.visit != c.visit && len(gone.workloads) > 0 {
			l.add(c, gone.workloads, -1)
			gone.workloads = nil
		}
	}
}

// add counts workloads, or with sign -1 no longer.
func (l *learner) add(c *census, list []*extpoints.WorkloadInfo, sign int64) {
	for _, w := range list {
		weight := l.weight(c.boundary, w)
		if weight == 0 {
			continue
		}
		c.dirty = true
		for _, kind := range l.kindsOf(w) {
			if c.counts[kind] += sign * weight; c.counts[kind] == 0 {
				delete(c.counts, kind)
			}
		}
	}
}

// weight is how much a workload counts. Where it is not known since when it is on its
// node, it is old.
func (l *learner) weight(boundary int64, w *extpoints.WorkloadInfo) int64 {
	if w.PlacedAt.IsZero() {
		return 1
	}
	age := boundary - w.PlacedAt.UnixNano()
	if age <= 0 {
		return 0
	}
	return max(1, fresh>>min((age-1)/halfLife/int64(l.period), 62))
}

// kindsOf is the workload as shapes: one for each request for devices of the class, of
// which the first has the CPU.
func (l *learner) kindsOf(w *extpoints.WorkloadInfo) []kindOfShape {
	var list []kindOfShape
	for _, r := range l.from.requests(w.Workload) {
		models := slices.Clone(r.Models)
		slices.Sort(models)
		list = append(list, kindOfShape{share: r.Share, count: r.Count, models: strings.Join(slices.Compact(models), "\n")})
	}
	if len(list) == 0 {
		list = append(list, kindOfShape{})
	}
	list[0].cpu = w.Requests.CPU
	return list
}

// use makes the mix with the signature the present one.
func (c *census) use(list []weighted, signature string) {
	i := slices.IndexFunc(c.recent, func(l *learned) bool { return l.signature == signature })
	var present *learned
	if i >= 0 {
		present = c.recent[i]
		c.recent = slices.Delete(c.recent, i, i+1)
	} else {
		present = &learned{signature, newMix(typicalOf(list))}
	}
	c.recent = slices.Insert(c.recent, 0, present)
	c.recent = c.recent[:min(len(c.recent), keptMixes)]
}

// weighted is a shape and its rounded weight.
type weighted struct {
	kindOfShape
	weight int64
}

// signature rounds what was counted and adds the prior. Equal signatures are equal mixes.
func (c *census) signature() ([]weighted, string) {
	list := c.prior()
	for kind, n := range c.counts {
		list = append(list, weighted{kind, roundDown(n)})
	}
	slices.SortFunc(list, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(a.share, b.share), cmp.Compare(a.count, b.count),
			cmp.Compare(a.models, b.models), cmp.Compare(a.weight, b.weight))
	})
	return list, fmt.Sprint(list)
}

// roundDown returns the highest power of the root of two that is not above n, itself
// rounded down.
func roundDown(n int64) int64 {
	power := int64(1)
	for power <= n/2 {
		power *= 2
	}
	if above := int64(float64(power) * math.Sqrt2); above <= n {
		return above
	}
	return power
}

func typicalOf(list []weighted) []Typical {
	var sum int64
	for i := range list {
		sum += list[i].weight
	}
	typical := make([]Typical, len(list))
	for i, w := range list {
		typical[i] = Typical{CPU: w.cpu, Share: w.share, Count: w.count, Weight: float64(w.weight) / float64(sum)}
		if w.models != "" {
			typical[i].Models = strings.Split(w.models, "\n")
		}
	}
	return typical
}
