package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// facts are what a view has, but for what belongs to one engine: the numbers of transactions, and
// whether what is on its node was bound there or found there.
func facts(v *engine.View) (list []string) {
	for n := range v.Nodes() {
		list = append(list, fmt.Sprintf("node %+v", *n.Node))
	}
	for g := range v.Groups() {
		list = append(list, fmt.Sprintf("group %+v", *g.Group))
	}
	for b := range v.Budgets() {
		list = append(list, fmt.Sprintf("budget %+v", *b.Budget))
	}
	for n := range v.Namespaces() {
		list = append(list, fmt.Sprintf("namespace %+v", *n.Namespace))
	}
	for _, kind := range model.ObjectKinds {
		for o := range v.Objects(kind) {
			list = append(list, fmt.Sprintf("%s %+v", kind, o.Object))
		}
	}
	var order []string
	rows := slices.SortedFunc(v.Workloads(), func(a, b model.WorkloadRecord) int { return int(a.Seq) - int(b.Seq) })
	for _, w := range rows {
		phase := w.Phase
		if phase == model.Bound {
			phase = model.Confirmed
		}
		order = append(order, fmt.Sprintf("workload %s %v on %q %v since %v for %v nominated %q displaced %v",
			w.ID, phase, w.Node, w.Shares, w.PlacedAt, w.GrantedLimit, w.Nominated, w.Displaced))
	}
	return append(list, order...)
}

func TestAnEngineStartsAgainFromAView(t *testing.T) {
	r := newRaw(t, &world{})
	gpus := engine.PutNode(&model.Node{Name: "gpus", Allocatable: model.Resources{CPU: 4000, Memory: 1 << 40}, Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}}})
	share := engine.Submit(&model.Workload{ID: "share", Requests: model.Resources{CPU: 100}, Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 500}}})
	require.NoError(t, r.Apply(epoch,
		engine.PutGroup(&model.Group{ID: "a", Parent: "z"}), engine.PutGroup(&model.Group{ID: "z", Composite: true}),
		engine.PutBudget(&model.Budget{ID: "b", Namespace: "ns"}), engine.PutNamespace(&model.Namespace{Name: "ns"}),
		engine.PutObject(&model.Queue{Name: "lab"}), engine.PutObject(&model.Hold{Name: "h", From: epoch.Add(time.Hour), Nodes: []string{"n1"}}),
		gpus, node("n1", 1000), share, task("ended", 100), task("runs", 100), task("leaves", 100), task("displaced", 100), task("big", 10_000), task("waits", 10_000),
		engine.Submit(&model.Workload{ID: "member", Group: "a", Requests: model.Resources{CPU: 100}}),
	))
	settle(r, epoch)
	later := epoch.Add(time.Minute)
	require.NoError(t, r.Apply(later, engine.Finish("ended"), engine.Terminate("leaves"), engine.Displace("displaced"), engine.Nominate("waits", "gpus"),
		engine.Adopt(&model.Workload{ID: "found", Limit: time.Hour, MinLimit: time.Minute}, model.Binding{Node: "n1", Since: epoch, Limit: 10 * time.Minute}),
		task("last", 20_000)))

	again := newRaw(t, &world{})
	require.NoError(t, again.Apply(later, slices.Collect(r.View().Changes())...))
	require.Equal(t, facts(r.View()), facts(again.View()))

	one := newRaw(t, &world{})
	for ch := range r.View().Changes() {
		require.NoError(t, one.Apply(later, ch))
	}
	require.Equal(t, facts(r.View()), facts(one.View()))
	for range r.View().Changes() {
		break
	}
}

// What was decided and not bound is to be decided again, unless the orchestrator knows better.
func TestWhatWasAssumedIsSubmittedAgain(t *testing.T) {
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("a", 100)))
	require.True(t, r.Schedule(epoch))
	w, _ := r.View().Workload("a")
	require.Equal(t, model.Assumed, w.Phase)

	again := newRaw(t, &world{})
	require.NoError(t, again.Apply(epoch, slices.Collect(r.View().Changes())...))
	w, _ = again.View().Workload("a")
	require.Equal(t, model.Pending, w.Phase)
}

// What is told may name a node that is away and a profile that has another name by now. Each waits,
// says for what, and goes on when that is there; the rest is not held up.
func TestARestartWaitsForWhatIsAway(t *testing.T) {
	r := newRaw(t, &world{})
	pinned, old := task("pinned", 100), task("old", 100)
	spec(pinned).NodeName, spec(old).Profile = "n2", "renamed"
	require.NoError(t, r.Apply(epoch, node("n1", 1000), pinned, old, task("free", 100)))
	settle(r, epoch)
	require.Equal(t, "Bound@n1", phaseOf(r, "free"))
	require.Contains(t, why(t, r, "pinned"), `node "n2" is not there`)
	require.Contains(t, why(t, r, "old"), `there is no profile "renamed"; update the workload`)
	require.Equal(t, queue.Counts{Unschedulable: 1, Gated: 1}, r.QueueCounts())

	later := epoch.Add(time.Minute)
	require.NoError(t, r.Apply(later, node("n3", 1000)))
	require.Equal(t, queue.Counts{Unschedulable: 1, Gated: 1}, r.QueueCounts(), "another node is no help")
	right := *spec(old)
	right.Profile = ""
	require.NoError(t, r.Apply(later, node("n2", 1000), engine.Update(&right)))
	settle(r, later)
	require.Equal(t, "Bound@n2", phaseOf(r, "pinned"))
	require.Contains(t, phaseOf(r, "old"), "Bound@")
}

// What was accepted in some order is accepted in that of Changes, too.
func TestWhatWasAcceptedInAnotherOrderIsAcceptedAgain(t *testing.T) {
	limit := &model.Limit{Name: "few", Queue: "lab", Scope: model.LimitSubtree, Measure: model.LimitCount, Amount: 1, Breach: model.LimitRefuse}
	member := engine.Submit(&model.Workload{ID: "member", Group: "c"})
	queued := func(id string) engine.Change { return engine.Submit(&model.Workload{ID: id, Queue: "lab"}) }
	for _, c := range []struct {
		name    string
		changes []engine.Change
	}{
		{"a workload was asked to leave before it had a node", []engine.Change{task("w", 1), engine.Terminate("w")}},
		{"and to make room", []engine.Change{task("w", 1), engine.Displace("w")}},
		{"and one that has ended", []engine.Change{task("w", 1), engine.Finish("w")}},
		{"a group got groups when it had workloads", []engine.Change{member, engine.PutGroup(&model.Group{ID: "c", Composite: true})}},
		{"a parent turned out not to have groups", []engine.Change{engine.PutGroup(&model.Group{ID: "c", Parent: "p"}), engine.PutGroup(&model.Group{ID: "p"})}},
		{"a limit came when there were more", []engine.Change{engine.PutObject(&model.Queue{Name: "lab"}), queued("a"), queued("b"), engine.PutObject(limit)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(&world{})
			cfg.Order = engine.OrderByQueues
			engines := make([]*engine.Raw, 3)
			for i := range engines {
				var err error
				engines[i], err = engine.NewRaw(cfg)
				require.NoError(t, err)
			}
			for _, ch := range c.changes {
				require.NoError(t, engines[0].Apply(epoch, ch))
			}
			require.NoError(t, engines[1].Apply(epoch, slices.Collect(engines[0].View().Changes())...))
			for ch := range engines[0].View().Changes() {
				require.NoError(t, engines[2].Apply(epoch, ch))
			}
			for _, again := range engines[1:] {
				require.Equal(t, facts(engines[0].View()), facts(again.View()))
			}
		})
	}
}

// The recipe for a lost node is one batch, whatever profiles there are.
func TestALostNodeIsOneBatch(t *testing.T) {
	foreign := engine.Adopt(&model.Workload{ID: "foreign", Profile: "gone"}, model.Binding{Node: "n1"})
	for name, lost := range map[string][]engine.Change{
		"LoseNode":    {engine.LoseNode("n1")},
		"one by one":  {engine.RemoveNode("n1"), engine.Requeue("mine"), engine.Requeue("foreign")},
		"and again":   {engine.LoseNode("n1"), engine.Requeue("mine"), engine.Requeue("foreign")},
		"before that": {engine.Requeue("mine"), engine.Requeue("foreign"), engine.RemoveNode("n1")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			require.NoError(t, r.Apply(epoch, node("n1", 1000), running("mine", "n1", 1), foreign))
			require.NoError(t, r.Apply(epoch, lost...))
			require.Equal(t, "Pending Pending", phaseOf(r, "mine")+" "+phaseOf(r, "foreign"))
			require.Contains(t, why(t, r, "foreign"), `there is no profile "gone"`)
			require.NoError(t, r.Apply(epoch, node("n2", 1000)))
			settle(r, epoch)
			require.Equal(t, "Bound@n2", phaseOf(r, "mine"))
		})
	}
}
