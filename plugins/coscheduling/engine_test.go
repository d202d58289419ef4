package coscheduling_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/coscheduling"
)

func TestGangIsPlacedTogether(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 3)
	b.gang("a", 3)
	b.submit("a1", "a2")
	b.pass(time.Minute * 3)
	b.expect("|")
	require.Equal(t, `0/1 nodes are available: group "a" has 2 members of the 3 that it needs. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`, b.rejected["a1"])
	b.submit("a3")
	b.pass(time.Minute)
	b.expect("a1 a2 a3 |")
}

func TestMembersWaitForTheirGroup(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 3)
	b.submit("a1", "a2")
	b.settle()
	b.expect("|")
	b.gang("a", 2)
	b.pass(time.Minute)
	b.expect("a1 a2 |")
}

// Each gang alone would fit. With an order that lets them come one of each they
// hold what the other needs, until the first that finds no node gives way.
func TestInterleavedGangsDoNotLockEachOther(t *testing.T) {
	b := newBench(t, options{plainOrder: true})
	b.node("n", 4)
	b.gang("a", 3)
	b.gang("b", 3)
	for i := range 3 {
		for _, group := range []string{"a", "b"} {
			b.now = b.now.Add(time.Millisecond)
			b.submit(fmt.Sprint(group, i))
		}
	}
	b.settle()
	b.expect("b0 b1 b2 |")
	require.Equal(t, `0/1 nodes are available: 1 group "a" cannot have 3 members with a node: there is none for workload a2.`, b.rejected["a0"])
	for i := range 3 {
		b.apply(engine.Finish(fmt.Sprint("b", i)))
	}
	b.pass(time.Minute)
	b.expect("a0 a1 a2 |")
}

// With the plugin's own order the members of a gang are tried one after the other.
func TestMembersAreTriedTogether(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 6)
	b.gang("b", 3)
	b.now = b.now.Add(time.Second)
	b.gang("a", 3)
	for i := range 3 {
		b.submit(fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	b.settle()
	b.expect("a0 a1 a2 b0 b1 b2 |")
	require.ElementsMatch(t, []string{"b0", "b1", "b2"}, b.popped[:3], "the older group first")
	require.ElementsMatch(t, []string{"a0", "a1", "a2"}, b.popped[3:])
}

// A gang that waits for a member that does not come holds its nodes for
// PermitTimeout and no longer, that of the group where it says so.
func TestHoldingEnds(t *testing.T) {
	for group, args := range map[time.Duration]time.Duration{0: 20 * time.Second, 20 * time.Second: time.Minute} {
		holdingEnds(t, group, args)
	}
}

func holdingEnds(t *testing.T, ofGroup, ofArgs time.Duration) {
	b := newBench(t, options{args: coscheduling.Args{PermitTimeout: ofArgs}})
	b.node("n", 3)
	b.gang("a", 3)
	b.apply(engine.PutGroup(&model.Group{ID: "a", Policy: model.Gang, MinCount: 3, PermitTimeout: ofGroup, CreatedAt: b.now}))
	b.submit("a1", "a2")
	b.add(&model.Workload{ID: "a3", Gates: []string{"closed"}})
	b.now = b.now.Add(time.Second)
	b.submit("x1", "x2")
	b.pass(19 * time.Second)
	b.expect("x1 | a1 a2")
	b.pass(3 * time.Second)
	b.expect("x1 x2 |")
	// Nobody asks for the rest again before the last one comes.
	b.pass(10 * time.Minute)
	b.expect("x1 x2 |")
	b.apply(engine.Update(&model.Workload{ID: "a3", Group: "a", Requests: model.Resources{CPU: 1}}))
	b.apply(engine.Finish("x1"))
	b.apply(engine.Finish("x2"))
	b.pass(time.Minute)
	b.expect("a1 a2 a3 |")
}

// afterAFailure is a bench with a gang of three, of which a3 has found no node.
func afterAFailure(t *testing.T) *bench {
	b := newBench(t, options{args: coscheduling.Args{Backoff: 30 * time.Second}})
	b.node("n", 3)
	b.gang("a", 3)
	b.submit("a1", "a2")
	b.add(&model.Workload{ID: "a3", NodeSelector: map[string]string{"disk": "ssd"}})
	b.settle()
	b.expect("|")
	return b
}

// While a gang stands back nobody takes room, also not one that is new. What
// comes meanwhile for the member that failed is not forgotten.
func TestGangStandsBack(t *testing.T) {
	b := afterAFailure(t)
	b.apply(engine.Remove("a1"))
	b.submit("a5") // in place of a1
	b.settle()
	b.expect("|")
	require.Equal(t, `0/1 nodes are available: group "a" could not be placed and stands back for a while. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`, b.rejected["a5"])
	b.pass(10 * time.Second)
	b.apply(engine.PutNode(&model.Node{Name: "ssd", Labels: map[string]string{"disk": "ssd"}, Allocatable: model.Resources{CPU: 1, Memory: 1 << 40}}))
	b.pass(19 * time.Second)
	b.expect("|")
	b.pass(15 * time.Second)
	b.expect("a2 a3 a5 |")
}

// A new member, with which the gang can do without the one that failed, ends that.
func TestNewMemberMakesUpForOneThatFailed(t *testing.T) {
	b := afterAFailure(t)
	b.submit("a4")
	b.settle()
	b.pass(5 * time.Second)
	b.expect("a1 a2 a4 |")
}

// An old gang that never fits does not keep younger ones from their room.
func TestGangThatNeverFitsIsNoObstacle(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 3)
	b.gang("a", 4)
	b.submit("a1", "a2", "a3", "a4")
	b.pass(time.Minute)
	b.expect("|")
	b.gang("b", 3)
	b.submit("b1", "b2", "b3")
	b.pass(11 * time.Second)
	b.expect("b1 b2 b3 |")
}

// A member that is made anew goes at once: the others run already.
func TestMemberMadeAnewGoesAtOnce(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 4)
	b.gang("a", 3)
	b.submit("a1", "a2", "a3")
	b.settle()
	b.expect("a1 a2 a3 |")
	b.apply(engine.Finish("a2"))
	b.submit("a4")
	b.settle()
	b.expect("a1 a3 a4 |")
	// One that is more than needed, too; and where there is no room for one
	// nobody else suffers for it.
	b.submit("a5", "a6")
	b.settle()
	b.expect("a1 a3 a4 a5 |")
	b.apply(engine.Finish("a4"))
	b.pass(time.Minute)
	b.expect("a1 a3 a5 a6 |")
}

// The gang can do without one of its members, so the others do not wait for it.
func TestSpareMembersAreNotWaitedFor(t *testing.T) {
	b := newBench(t, options{plainOrder: true})
	b.node("n", 9)
	b.gang("a", 2)
	b.add(&model.Workload{ID: "a1", NodeSelector: map[string]string{"disk": "ssd"}})
	b.submit("a2", "a3")
	b.settle()
	b.expect("a2 a3 |")
}

// Members that wait go on when the gang is content with them, as soon as the one
// that is missing has been tried again.
func TestLowerMinCountLetsThoseThatWaitGo(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 2)
	b.gang("a", 3)
	b.submit("a1", "a2")
	b.add(&model.Workload{ID: "a3", Gates: []string{"closed"}})
	b.settle()
	b.expect("| a1 a2")
	b.apply(engine.PutGroup(&model.Group{ID: "a", Policy: model.Gang, MinCount: 2}))
	b.apply(engine.Update(&model.Workload{ID: "a3", Group: "a", Requests: model.Resources{CPU: 1}}))
	b.settle()
	b.expect("a1 a2 |")
}

// A basic group is no gang.
func TestBasicGroupDoesNotWait(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 1)
	b.apply(engine.PutGroup(&model.Group{ID: "a"}))
	b.submit("a1", "a2")
	b.settle()
	b.expect("a1 |")
}

// A branch that places a member does not touch the books of the live gang.
func TestBranchLeavesTheBooksAlone(t *testing.T) {
	b := newBench(t, options{})
	b.node("n", 2)
	b.gang("a", 3)
	b.submit("a1", "a2", "a3")
	branch := b.r.Branch()
	for _, id := range []string{"a1", "a2", "a3"} {
		_, err := branch.Schedule(b.now, id)
		require.NoError(t, err)
	}
	b.node("m", 1)
	b.settle()
	b.expect("a1 a2 a3 |")
}

// Random histories: nobody is let through before there are enough (the bench
// looks), nobody holds room longer than allowed, and when there is room for all
// at last, all get it. The same history goes the same way each time.
func TestRandomHistories(t *testing.T) {
	seed := modeltest.Seed(t)
	for i := range uint64(40) {
		b := runHistory(t, seed+i)
		if t.Failed() {
			t.Fatalf("history %d", seed+i)
		}
		if i%10 == 0 {
			require.Equal(t, b.popped, runHistory(t, seed+i).popped, "history %d goes another way the second time", seed+i)
		}
	}
}

func runHistory(t *testing.T, seed uint64) *bench {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	b := newBench(t, options{
		plainOrder: r.IntN(2) == 0,
		args: coscheduling.Args{
			PermitTimeout: 20 * time.Second, Backoff: time.Duration(1+r.IntN(20)) * time.Second,
			RejectPercentage: []int32{0, 0, 25, 50, 100}[r.IntN(5)],
		},
	})
	h := &history{bench: b, random: r, mixed: r.IntN(4) == 0}
	for range 120 {
		h.step()
		h.look()
	}
	h.end()
	return b
}

// history makes random changes.
type history struct {
	*bench
	random *rand.Rand
	made   int
	mixed  bool // the priorities within a gang differ
}

func (h *history) view() *engine.View { return h.r.View() }

var gangs = []string{"a", "b", "c"}

func (h *history) step() {
	h.made++
	group := gangs[h.random.IntN(len(gangs))]
	switch h.random.IntN(9) {
	case 0:
		h.node(fmt.Sprint("n", h.random.IntN(3)), h.random.IntN(5))
	case 1, 2, 3:
		w := &model.Workload{ID: fmt.Sprint(group, h.made)}
		switch {
		case h.mixed:
			w.Priority = h.random.Int32N(3)
		case group == "c":
			w.Priority = 1 // the last gang may displace the others
		}
		if h.random.IntN(8) == 0 {
			w.NodeSelector = map[string]string{"disk": "ssd"}
		}
		h.add(w)
	case 4:
		h.submit(fmt.Sprint("x", h.made))
	case 5:
		g := &model.Group{ID: group, Policy: model.Gang, MinCount: 1 + h.random.Int32N(4), CreatedAt: epoch.Add(time.Duration(h.random.IntN(9)) * time.Second)}
		if h.random.IntN(3) == 0 {
			g.MinResources.CPU = h.random.Int64N(8)
		}
		h.apply(engine.PutGroup(g))
	case 6, 7:
		var ids []string
		for w := range h.view().Workloads() {
			ids = append(ids, w.Workload.ID)
		}
		if len(ids) > 0 {
			h.apply(engine.Remove(ids[h.random.IntN(len(ids))]))
		}
	case 8:
		h.pass(time.Duration(h.random.IntN(30)) * time.Second)
	}
	if h.random.IntN(2) == 0 {
		h.settle()
	}
}

// look checks how long members have been waiting.
func (h *history) look() {
	for w := range h.view().WorkloadsIn(model.Assumed) {
		if held := h.now.Sub(h.waiting[w.Workload.ID]); held > 20*time.Second {
			h.Errorf("%s has been waiting for %v", w.Workload.ID, held)
		}
	}
}

// end makes room for everybody. Then each gang that has enough members runs, all
// of it, and each that has not holds nothing beyond what ran before.
func (h *history) end() {
	h.settle()
	h.apply(engine.PutNode(&model.Node{Name: "last", Labels: map[string]string{"disk": "ssd"}, Allocatable: model.Resources{CPU: 1000, Memory: 1 << 40}}))
	h.pass(2 * time.Minute)
	pending := map[string][]string{}
	for w := range h.view().Workloads() {
		if w.Phase == model.Pending || w.Phase == model.Assumed {
			pending[w.Workload.Group] = append(pending[w.Workload.Group], fmt.Sprint(w.Workload.ID, " ", w.Phase, ": ", h.rejected[w.Workload.ID]))
		}
	}
	for group, ids := range pending {
		g, ok := h.view().Group(group)
		if group != "" && (!ok || len(ids)+len(h.withNode(group)) < int(g.Group.MinCount)) {
			continue // they may wait for more
		}
		slices.Sort(ids)
		h.Errorf("group %q, %+v: left behind\n%s", group, g.Group, strings.Join(ids, "\n"))
	}
}
