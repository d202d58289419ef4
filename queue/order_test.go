package queue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// byPriorityAndAge is the order of the default profile.
func byPriorityAndAge(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.Timestamp.Before(b.Timestamp)
}

func newOrdered(t testing.TB) *Queue {
	q, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriorityAndAge, ByQueues: true, Hopeless: hopeless, Hints: map[string][]PluginHints{
		"": {{Plugin: "Fit", Events: []extpoints.EventHint{{Event: nodeAdded}}}},
	}})
	require.NoError(t, err)
	return q
}

// hopeless is what no node could take in these tests.
func hopeless(list []*extpoints.WorkloadInfo) bool { return list[0].Labels["hopeless"] != "" }

// noEnd is that of workloads without a time limit.
var noEnd time.Time

// orderRun is a random history of the order by queues, beside its twin.
type orderRun struct {
	t    *testing.T
	r    *rand.Rand
	seed uint64
	step int
	now  time.Time
	q    *Queue
	twin orderTwin
	made int
	// byUsage: nearly all depends on what has been used. Definitions are few, as they count
	// everything anew.
	byUsage bool
}

var (
	runQueues     = []string{"a", "b", "c", "d", "e"}
	runPrincipals = []string{"u", "v", "w", "x"}
	runLimits     = []string{"l", "m", "n"}
	runNodes      = []string{"n1", "n2"}
	// In the shortest the unit of what is remembered changes every 27 s, within an interval, in the longest an
	// interval has several steps.
	runHalfLives = map[string]time.Duration{"a": 3333 * time.Millisecond, "b": 100 * time.Second, "c": 2 * time.Hour, "d": 4 * time.Hour, "e": time.Hour}
	runPrices    = map[string]map[string]int64{"d": {model.CPU: 2, model.Memory: 1 << 23, "gpu": 1}}
)

func pickOne[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// orNone is one of the names, or sometimes none of them.
func (o *orderRun) orNone(list []string) string {
	if o.r.IntN(4) == 0 {
		return ""
	}
	return pickOne(o.r, list)
}

func (o *orderRun) amounts() map[string]int64 {
	m := map[string]int64{}
	for _, r := range twinResources {
		if o.r.IntN(5) == 0 {
			m[r] = o.r.Int64N(12) * 1000
		}
	}
	return m
}

// define changes one definition, or takes it away.
func (o *orderRun) define() {
	gone := o.r.IntN(8) == 0
	what := o.r.IntN(5)
	if o.byUsage && (what == 3 || o.step > 0 && o.r.IntN(8) > 0) {
		return
	}
	switch what {
	case 0, 1:
		q := &model.Queue{
			Name: pickOne(o.r, runQueues), Weight: o.r.Int64N(4), Priority: o.r.Int32N(2), Guaranteed: o.amounts(), Max: o.amounts(),
			Lend: o.amounts(), Borrow: o.amounts(), Policy: pickOne(o.r, []model.OrderPolicy{"", model.OrderFIFO, model.OrderPriority, model.OrderShare, model.OrderUsage, model.OrderUsage}),
		}
		if o.r.IntN(3) == 0 { // so little that it is used up
			q.Guaranteed[model.CPU], q.Lend[model.CPU] = 1000*(1+o.r.Int64N(3)), 0
		}
		if o.byUsage {
			q = &model.Queue{Name: q.Name, Weight: q.Weight, Policy: model.OrderUsage}
		}
		if q.Policy == model.OrderUsage {
			q.HalfLife, q.Prices = runHalfLives[q.Name], runPrices[q.Name]
		}
		if parent := o.orNone(runQueues); parent < q.Name { // so that there is no circle
			q.Parent = parent
		}
		old := o.twin.queues[q.Name]
		o.replace(orNil(old, old != nil), orNil(q, !gone))
		redefine(o.twin.queues, q.Name, q, gone)
	case 2:
		p := &model.Principal{Name: pickOne(o.r, runPrincipals), Queue: o.orNone(runQueues), Shares: o.r.Int64N(4)}
		if parent := o.orNone(runPrincipals); parent < p.Name {
			p.Parent = parent
		}
		old := o.twin.principals[p.Name]
		o.replace(orNil(old, old != nil), orNil(p, !gone))
		redefine(o.twin.principals, p.Name, p, gone)
	case 3:
		l := o.limit()
		old := o.twin.limits[l.Name]
		o.replace(orNil(old, old != nil), orNil(l, !gone))
		redefine(o.twin.limits, l.Name, l, gone)
	default:
		n := &model.Node{Name: pickOne(o.r, runNodes), Allocatable: model.Resources{CPU: o.r.Int64N(40) * 1000, Memory: o.r.Int64N(40) * 1000}}
		for range o.r.IntN(8) {
			n.Devices = append(n.Devices, model.Device{Class: "gpu"})
		}
		after := n
		if gone {
			after = nil
		}
		o.q.NodeChanged(o.twin.nodes[n.Name], after)
		redefine(o.twin.nodes, n.Name, n, gone)
	}
}

func (o *orderRun) limit() *model.Limit {
	l := &model.Limit{Name: pickOne(o.r, runLimits), Measure: pickOne(o.r, []model.LimitMeasure{model.LimitRunning, model.LimitResource})}
	l.Scope = pickOne(o.r, []model.LimitScope{model.LimitEachWorkload, model.LimitEachPrincipal, model.LimitOwn, model.LimitSubtree})
	if l.Scope == model.LimitEachWorkload {
		l.Measure = model.LimitResource
	}
	l.Amount = o.r.Int64N(4)
	if l.Measure == model.LimitResource {
		l.Resource, l.Amount = pickOne(o.r, twinResources), o.r.Int64N(12)*1000
	}
	if l.Queue = pickOne(o.r, runQueues); l.Scope != model.LimitEachPrincipal && o.r.IntN(2) == 0 {
		l.Queue, l.Principal = "", pickOne(o.r, runPrincipals)
	}
	return l
}

func orNil(m model.Object, there bool) model.Object {
	if !there {
		return nil
	}
	return m
}

func redefine[T any](m map[string]T, name string, o T, gone bool) {
	if gone {
		delete(m, name)
		return
	}
	m[name] = o
}

func (o *orderRun) replace(before, after model.Object) {
	if before != nil || after != nil {
		o.q.DefinitionChanged(before, after)
	}
}

func (o *orderRun) workload() *extpoints.WorkloadInfo {
	o.made++
	w := &model.Workload{
		ID: fmt.Sprintf("w%d", o.made), Queue: o.orNone(runQueues), Principal: o.orNone(runPrincipals), Priority: o.r.Int32N(3),
		Requests: model.Resources{CPU: o.r.Int64N(4) * 1000, Memory: o.r.Int64N(4) * 500},
	}
	if o.byUsage && o.r.IntN(2) == 0 {
		w.Queue = pickOne(o.r, []string{"b", "c", "d"})
	}
	if o.r.IntN(3) == 0 {
		w.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1 + o.r.Int64N(2), Share: model.WholeDevice}}
	}
	if o.r.IntN(8) == 0 {
		w.Labels = map[string]string{"hopeless": "yes"}
	}
	return &extpoints.WorkloadInfo{Workload: w}
}

// waiting lists the items in the place, by ID.
func (o *orderRun) waiting(p Place) (list []*Item) {
	for _, it := range o.q.waiting {
		if it.place == p {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, func(a, b *Item) int { return cmp.Compare(a.submitted, b.submitted) })
	return list
}

func (o *orderRun) fail(format string, args ...any) {
	o.t.Helper()
	o.t.Fatalf("seed %d (use -seed), step %d: %s", o.seed, o.step, fmt.Sprintf(format, args...))
}

// pop pops one, compares, and places it or rejects it.
func (o *orderRun) pop() {
	o.reorder()
	want := o.twin.next(o.waiting(Active))
	it, ok := o.q.Pop(o.now)
	if ok != (want != nil) || ok && it != want {
		o.fail("popped %v, want %v", name(it), name(want))
	}
	if !ok {
		return
	}
	o.twin.settle(o.waiting(Active))
	if part, _ := o.twin.against(it.Workload, false); it.Hopeless != (part != nil) {
		o.fail("%s was popped, hopeless: %v, and is held back by %v", it.ID(), it.Hopeless, part)
	}
	if it.Hopeless || o.r.IntN(4) == 0 {
		o.q.AddUnschedulable(o.now, it, []string{"Fit"}, nil)
		return
	}
	o.twin.started(it.Workload)
	defer o.remember()
	o.q.Charge(o.now, o.now, noEnd, it.Workload)
	o.q.Done(it.ID())
}

// reorder carries out definitions. Then nothing is held any more that was.
func (o *orderRun) reorder() {
	if o.q.tree.stale {
		clear(o.twin.held)
	}
	o.q.Reorder(o.now)
	o.remember()
}

// remember has the twin remember what has been used until now.
func (o *orderRun) remember() { o.twin.remember(tickOf(o.now)) }

func name(it *Item) string {
	if it == nil {
		return "nothing"
	}
	return it.ID()
}

func (o *orderRun) oneStep() {
	o.step++
	o.now = o.now.Add(time.Second)
	if o.r.IntN(20) == 0 {
		o.now = o.now.Add(time.Duration(o.r.Int64N(int64(time.Hour))))
	}
	o.reorder()
	o.twin.settle(o.waiting(Active))
	active := o.waiting(Active)
	switch n := o.r.IntN(20); {
	case n < 6:
		o.q.Add(o.now, o.workload())
	case n < 12:
		o.pop()
	case n < 15 && len(o.twin.running) > 0:
		i := o.r.IntN(len(o.twin.running))
		o.q.Discharge(o.now, o.twin.running[i])
		o.twin.ended(i)
		o.remember()
	case n < 16 && len(active) > 0:
		o.q.Delete(pickOne(o.r, active).ID())
	case n < 17 && len(active) > 0:
		it := pickOne(o.r, active)
		old, others := it.Info, slices.DeleteFunc(slices.Clone(active), func(o *Item) bool { return o == it })
		changed := o.workload()
		changed.ID = old.ID
		if keyOf(old.Workload) == keyOf(changed.Workload) { // it may ask for less
			maps.DeleteFunc(o.twin.held, func(_ string, h twinHold) bool { return o.twin.inside(h.part, changed.Workload) })
		} else { // it leaves its queue first
			o.twin.settle(others)
		}
		o.q.Update(o.now, old, changed)
		o.twin.settle(append(others, it)) // it is in the other queue before it may be gated
	case n < 18:
		o.q.Move(o.now, &extpoints.Event{ClusterEvent: nodeAdded}, nil)
	case n < 19:
		o.define()
	default:
		o.resume()
	}
	o.reorder()
	o.twin.settle(o.waiting(Active))
}

// resume goes on with a new queue, which is told all that there is and resumes the state of the other.
func (o *orderRun) resume() {
	s, all := o.q.State()
	text, err := json.Marshal(s)
	if err != nil || !all {
		o.fail("its state is whole: %v; %v", all, err)
	}
	items := o.q.waiting
	o.q = newOrdered(o.t)
	for _, name := range slices.Sorted(maps.Keys(o.twin.queues)) {
		o.replace(nil, o.twin.queues[name])
	}
	for _, name := range slices.Sorted(maps.Keys(o.twin.principals)) {
		o.replace(nil, o.twin.principals[name])
	}
	for _, name := range slices.Sorted(maps.Keys(o.twin.limits)) {
		o.replace(nil, o.twin.limits[name])
	}
	for _, n := range o.twin.nodes {
		o.q.NodeChanged(nil, n)
	}
	for _, w := range o.twin.running {
		o.q.Charge(o.now, o.now, noEnd, w)
	}
	o.q.Reorder(o.now)
	var written State
	if err := json.Unmarshal(text, &written); err != nil {
		o.fail("%v", err)
	}
	if err := o.q.Resume(&written, func(id string) *extpoints.WorkloadInfo { return items[id].Info }); err != nil {
		o.fail("resume: %v", err)
	}
	for part, h := range o.twin.held {
		h.item = o.q.waiting[h.item.ID()]
		o.twin.held[part] = h
	}
	again, _ := o.q.State() // of parts beside each other the order is that in which they came to be
	if !slices.Equal(byItem(again.Holds), byItem(s.Holds)) {
		o.fail("the holds are %v and were %v", again.Holds, s.Holds)
	}
}

func byItem(list []HoldState) []HoldState {
	return slices.SortedFunc(slices.Values(list), func(a, b HoldState) int { return cmp.Compare(a.Item, b.Item) })
}

// check checks that what is charged to each part is what runs in it, and that those that
// are gated are those that can never be placed.
func (o *orderRun) check() {
	tr := o.q.tree
	if tr.stale {
		return
	}
	for _, r := range twinResources {
		n := tr.numberOf(r)
		for name, p := range tr.parts {
			if got, want := p.usedOf(n), o.twin.used(r, o.twin.in(name)); got != want {
				o.fail("%d of %s are charged to queue %s, %d run in it", got, r, name, want)
			}
		}
		if got, want := tr.top.usedOf(n), o.twin.used(r, o.twin.in("")); got != want {
			o.fail("%d of %s are charged to the top, %d run", got, r, want)
		}
	}
	for _, it := range o.waiting(Gated) {
		_, queues := o.twin.above(it.Workload)
		_, accounts := o.twin.accounts(it.Workload)
		if part, _ := o.twin.against(it.Workload, true); part == nil && queues && accounts {
			o.fail("%s is gated, and nothing is against it: %v", it.ID(), it.Gate)
		}
	}
	if got, want := o.q.Counts().Active, len(o.waiting(Active)); got != want {
		o.fail("%d active are counted, there are %d", got, want)
	}
	for _, it := range o.waiting(Active) {
		if s := o.q.tree.standing(it); s.Before < 0 || s.Before >= tr.len() {
			o.fail("%s has %d before it, of %d", it.ID(), s.Before, tr.len())
		}
	}
}

func newOrderRun(t *testing.T, seed uint64) *orderRun {
	o := &orderRun{t: t, seed: seed, now: start, q: newOrdered(t), r: rand.New(rand.NewPCG(seed, 0)), twin: orderTwin{
		queues: map[string]*model.Queue{}, principals: map[string]*model.Principal{},
		limits: map[string]*model.Limit{}, nodes: map[string]*model.Node{}, held: map[string]twinHold{},
		usage: map[string]*twinUsage{},
	}}
	defines := 8
	if o.byUsage = seed%2 == 0; o.byUsage {
		defines = 40
	}
	for range defines {
		o.define()
	}
	return o
}

// TestOrderTwin: whatever is defined, placed and changed, the tree of heaps pops what a
// full count and sort would.
func TestOrderTwin(t *testing.T) {
	for _, s := range seeds(t, 40) {
		o := newOrderRun(t, s)
		for range 250 {
			o.oneStep()
			o.check()
		}
	}
}
