package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
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
