package fast

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// fleet is a version of some nodes: the blocks as a view has them.
type fleet struct {
	size   int
	blocks []*snapshot.Block
}

func (f *fleet) Len() int                    { return f.size }
func (f *fleet) Block(i int) *snapshot.Block { return f.blocks[i] }
func (f *fleet) at(i int) *extpoints.NodeInfo {
	return f.blocks[i/snapshot.BlockSize][i%snapshot.BlockSize]
}

// verdictsOf are what a node can be: feasible, rejected for one of two reasons, or failing.
var rejections = []*extpoints.Status{
	nil, extpoints.NewStatus(extpoints.Unschedulable, "full"), extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "tainted"),
}

// forgotten is said of nodes of which nothing has been reported for long.
var forgotten = extpoints.NewStatus(extpoints.Unschedulable, "forgotten")

// crowded is said by slot.
var crowded = extpoints.NewStatus(extpoints.Unschedulable, "crowded")

// node makes a node that the numbers say everything of.
func node(name string, verdict int, score, preferred int64) *extpoints.NodeInfo {
	return extpoints.NewNodeInfo(&model.Node{Name: name, MaxWorkloads: int64(verdict), Allocatable: model.Resources{CPU: score, Memory: preferred}})
}

// at returns the node with its place for a slot.
func at(i int, n *extpoints.NodeInfo) *extpoints.NodeInfo {
	n.Slot = int32(i)
	return n
}

// change returns the fleet with another node at the place, as a branch of a view has it.
func (f *fleet) change(i int, n *extpoints.NodeInfo) *fleet {
	own := &fleet{f.size, slices.Clone(f.blocks)}
	block := *own.blocks[i/snapshot.BlockSize]
	block[i%snapshot.BlockSize] = n
	own.blocks[i/snapshot.BlockSize] = &block
	return own
}

// asked stands for a profile with a score of weight 1, and one of weight 2 that normalises.
type asked struct {
	filtered, scored int
	scores           framework.Scores
	// claimed nodes, by place, have another verdict in the next decision, unless they are
	// infeasible anyway.
	claimed map[int32]int
	// counts are what the plugins go by that are asked by slot, by slot, and most of one: they
	// change with every decision. nil: there are none.
	counts []int64
	most   int64
	skip   bool // they do not score
	// part are the nodes that the search is about, by block; nil: all.
	part []uint64
	// cycle says when the decision is made. nil: nothing is reported of the nodes.
	cycle *extpoints.Cycle
}

// has reports whether the search is about the node at the place.
func (a *asked) has(place int) bool {
	return a.part == nil || a.part[place/snapshot.BlockSize]>>(place%snapshot.BlockSize)&1 != 0
}

func (a *asked) Present() time.Time {
	if a.cycle == nil {
		return time.Time{}
	}
	return a.cycle.State().Present()
}

func (a *asked) Ages() (after, before time.Time) {
	if a.cycle == nil {
		return after, before
	}
	return a.cycle.AgesHold()
}

// old reports whether what is reported of the node, at so many nanoseconds, is older than the age.
func (a *asked) old(n *extpoints.NodeInfo, age time.Duration) bool {
	return a.cycle != nil && a.cycle.State().TooOld(time.Unix(0, n.Node.Allocatable.EphemeralStorage), age)
}

// local is what is said of the node by itself.
func (a *asked) local(n *extpoints.NodeInfo) *extpoints.Status {
	if n.Node.MaxWorkloads == 0 && a.old(n, 100) {
		return forgotten
	}
	return rejections[n.Node.MaxWorkloads]
}

// score is less where the report is not new.
func (a *asked) score(n *extpoints.NodeInfo) int64 {
	if a.old(n, 50) {
		return n.Node.Allocatable.CPU / 2
	}
	return n.Node.Allocatable.CPU
}

func (a *asked) BySlot() (filters, scores bool) { return a.counts != nil, a.counts != nil }

func (a *asked) FilterSlots(slots []int32) (accepted uint64, ok bool) {
	for i, slot := range slots {
		if a.counts[slot] <= a.most {
			accepted |= 1 << i
		}
	}
	return accepted, true
}

// FilterBySlot comes before what makes a node full, and after what makes it tainted.
func (a *asked) FilterBySlot(n *extpoints.NodeInfo, local framework.Verdict) framework.Verdict {
	if local.Status != rejections[2] && a.counts[n.Slot] > a.most {
		return framework.Verdict{Status: crowded}
	}
	return local
}

func (a *asked) ScoreSlots(slots []int32, scores []int64, add func([]int64, int64)) (framework.Skips, bool) {
	if a.skip {
		return framework.Skips{}, true
	}
	for i, slot := range slots {
		scores[i] = a.counts[slot]
	}
	add(scores, 5)
	a.Normalize(2, nil, scores)
	add(scores, 3)
	return framework.Skips{}, true
}

func (a *asked) Claimed() []int32 { return slices.Sorted(maps.Keys(a.claimed)) }

func (a *asked) FilterClaimed(n *extpoints.NodeInfo) framework.Verdict {
	return framework.Verdict{Status: a.verdict(n.Slot, n)}
}

// verdict is what is said of the node at the place.
func (a *asked) verdict(place int32, n *extpoints.NodeInfo) *extpoints.Status {
	if claimed := a.claimed[place]; claimed > 0 {
		return rejections[claimed]
	}
	local := a.local(n)
	if local != rejections[2] && a.counts != nil && a.counts[place] > a.most {
		return crowded
	}
	return local
}

func (a *asked) Filter(n *extpoints.NodeInfo) framework.Verdict {
	a.filtered++
	return framework.Verdict{Status: a.local(n)}
}

func (a *asked) Score(nodes []*extpoints.NodeInfo) (*framework.Scores, framework.Skips, bool) {
	a.scored += len(nodes)
	a.scores = framework.Scores{Normalized: [][]int64{nil, nil}, Totals: make([]int64, len(nodes))}
	for _, n := range nodes {
		a.scores.Normalized[0] = append(a.scores.Normalized[0], a.score(n))
		a.scores.Normalized[1] = append(a.scores.Normalized[1], n.Node.Allocatable.Memory)
	}
	return &a.scores, framework.Skips{}, true
}

func (*asked) Weights() []int64  { return []int64{1, 2} }
func (*asked) Normalized() []int { return []int{1} }

// Normalize turns scores round, as TaintToleration does.
func (*asked) Normalize(_ int, _ []*extpoints.NodeInfo, scores []int64) bool {
	most := slices.Max(scores)
	for i := range scores {
		if most == 0 {
			scores[i] = 100
		} else {
			scores[i] = 100 - 100*scores[i]/most
		}
	}
	return true
}

// outcome is what comes of a decision.
type outcome struct {
	evaluated, feasible int
	first               string
	total               int64
	ties                string
	heap, lowest        string
	rejected            string
	twice               int
}

// twin decides by looking at every node.
func twin(f *fleet, start, want int, a *asked) (o outcome) {
	var feasible []*extpoints.NodeInfo
	var places []int
	rejected := ""
	for i := range f.size {
		at := (start + i) % f.size
		if !a.has(at) {
			continue
		}
		n := f.at(at)
		st := a.verdict(int32(at), n)
		if _, claimed := a.claimed[int32(at)]; claimed && st == nil {
			o.twice++
		}
		if st != nil {
			rejected += fmt.Sprint(n.Node.Name, st, " ")
		} else if len(feasible) == want {
			break
		} else {
			feasible, places = append(feasible, n), append(places, at)
		}
		o.evaluated++
	}
	o.rejected = rejected
	if o.feasible = len(feasible); o.feasible == 0 {
		return o
	}
	o.first = feasible[0].Node.Name
	if o.feasible == 1 {
		return o
	}
	var totals, preferred []int64
	for _, n := range feasible {
		totals, preferred = append(totals, a.score(n)), append(preferred, n.Node.Allocatable.Memory)
	}
	(&asked{}).Normalize(1, nil, preferred)
	for i := range totals {
		totals[i] += 2 * preferred[i]
	}
	if a.counts != nil && !a.skip {
		var counts []int64
		for _, place := range places {
			counts = append(counts, a.counts[place])
		}
		raw := slices.Clone(counts)
		(&asked{}).Normalize(2, nil, counts)
		for i := range totals {
			totals[i] += 3*counts[i] + 5*raw[i]
		}
	}
	o.total = slices.Max(totals)
	lowest := f.size
	for i, total := range totals {
		if total == o.total {
			o.ties += fmt.Sprint(feasible[i].Node.Name, i, places[i], " ")
			if places[i] < lowest {
				lowest, o.lowest = places[i], feasible[i].Node.Name
			}
		}
	}
	var descend func(i int) string
	descend = func(i int) string {
		if i >= len(totals) {
			return ""
		}
		if totals[i] == o.total {
			return feasible[i].Node.Name
		}
		if found := descend(2*i + 1); found != "" {
			return found
		}
		return descend(2*i + 2)
	}
	o.heap = descend(0)
	return o
}

// remembered decides by what the class knows.
func remembered(t testing.TB, c *Class, f *fleet, start, want int, a *asked) (o outcome) {
	var found Found
	if !c.Search(f, a.part, start, want, a, &found) {
		t.Fatal("a filter has failed")
	}
	o.evaluated, o.feasible, o.twice = found.Evaluated, found.Feasible, found.Twice
	found.Rejected(func(n *extpoints.NodeInfo, v *framework.Verdict) {
		o.rejected += fmt.Sprint(n.Node.Name, v.Status, " ")
	})
	if o.feasible == 0 {
		d := found.Diagnosis(nil, start)
		rejected := ""
		for _, r := range d.Rejections() {
			rejected += fmt.Sprint(r.Node.Node.Name, r.Status, " ")
		}
		if rejected != o.rejected {
			t.Fatalf("the diagnosis has %s, the search %s", rejected, o.rejected)
		}
		return o
	}
	o.first = found.First().Node.Name
	if o.feasible == 1 {
		return o
	}
	var best Best
	if !found.Score(a, &best) {
		t.Fatal("scores are not known")
	}
	o.total = best.Total
	n := 0
	best.each(func(node *extpoints.NodeInfo, rank, place int) bool {
		o.ties += fmt.Sprint(node.Node.Name, rank, place, " ")
		if best.Nth(n) != node {
			t.Fatalf("tie %d is %s and not %s", n, best.Nth(n).Node.Name, node.Node.Name)
		}
		n++
		return true
	})
	if n != best.Ties {
		t.Fatalf("%d ties, and %d are counted", n, best.Ties)
	}
	o.heap, o.lowest = best.InHeap().Node.Name, best.Lowest().Node.Name
	return o
}

// history makes decisions over versions of a fleet, which come and go like branches.
func history(t testing.TB, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 17))
	size := 1 + r.IntN(4*snapshot.BlockSize)
	f := &fleet{size: size, blocks: make([]*snapshot.Block, snapshot.Blocks(size))}
	for i := range f.blocks {
		f.blocks[i] = &snapshot.Block{}
	}
	// One in so many is feasible; so many scores there are, and so many preferences.
	rare, scores, preferences := 1+r.IntN(12), 1+r.IntN(5), 1+r.IntN(2)*r.IntN(3)
	now := int64(10_000) // nanoseconds
	draw := func(i int) *extpoints.NodeInfo {
		verdict := 0
		if r.IntN(rare) > 0 {
			verdict = 1 + r.IntN(2)
		}
		preferred := 0
		if seed%2 == 0 || r.IntN(40) == 0 { // else mostly all nodes of a search have the same
			preferred = r.IntN(preferences)
		}
		n := node(fmt.Sprint("n", i, "-"), verdict, int64(r.IntN(scores)), int64(preferred))
		n.Node.Allocatable.EphemeralStorage = now + int64(r.IntN(200)) - 150
		return at(i, n)
	}
	for i := range size {
		f = f.change(i, draw(i))
	}
	versions := []*fleet{f}
	var cache Cache
	a := &asked{}
	for step := range steps {
		at := r.IntN(len(versions))
		for range r.IntN(4) {
			i := r.IntN(size)
			versions[at] = versions[at].change(i, draw(i))
		}
		if r.IntN(8) == 0 && len(versions) < 6 {
			versions = append(versions, versions[at])
		}
		start, want := r.IntN(size), 1+r.IntN(size+2)
		if a.cycle = nil; seed%4 > 0 {
			now += int64(r.IntN(30) - 8) // branches may be of another time
			a.cycle = extpoints.NewCycle(extpoints.CycleOptions{Now: time.Unix(0, now)})
		}
		a.claimed = map[int32]int{}
		for range r.IntN(3) * r.IntN(size+1) {
			a.claimed[int32(r.IntN(size))] = r.IntN(len(rejections))
		}
		a.counts = nil
		if seed%3 > 0 {
			for range size {
				a.counts = append(a.counts, int64(r.IntN(1+int(seed%7))))
			}
			a.most, a.skip = int64(r.IntN(1+int(seed%7))), r.IntN(4) == 0
		}
		a.part = nil
		if r.IntN(2) == 0 {
			start = a.drawPart(r, size, start)
		}
		got, is := remembered(t, cache.Of(nil, []byte("class"), size, true), versions[at], start, want, a), twin(versions[at], start, want, a)
		if got != is {
			t.Fatalf("seed %d, step %d, %d nodes, start %d, want %d:\n got %+v\nwant %+v", seed, step, size, start, want, got, is)
		}
	}
}

// drawPart draws what the search is about, from one node to all of them, and returns where it
// starts: at the first of its nodes from the place on.
func (a *asked) drawPart(r *rand.Rand, size, start int) int {
	a.part = make([]uint64, snapshot.Blocks(size))
	add := func(place int) { a.part[place/snapshot.BlockSize] |= 1 << (place % snapshot.BlockSize) }
	add(r.IntN(size))
	rare := 1 + r.IntN(5)
	from := r.IntN(size)
	for place := from; place < min(size, from+1+r.IntN(size)); place++ {
		if r.IntN(rare) == 0 {
			add(place)
		}
	}
	for !a.has(start) {
		start = (start + 1) % size
	}
	return start
}

func TestAgainstTwin(t *testing.T) {
	for seed := range uint64(50) {
		history(t, seed, 40)
	}
	t.Log("seeds 0 to 49")
}

func FuzzAgainstTwin(f *testing.F) {
	f.Add(uint64(1), uint8(40))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) { history(t, seed, int(steps)) })
}
