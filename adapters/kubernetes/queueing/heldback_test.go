package queueing_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// started are the pods that get a node, of a queue "q" in which a pod of the namespace "a" uses three
// cores of a node's ten. They come in their order; a pod's namespace is what is in front of the slash.
func started(t *testing.T, document string, pods ...*model.Workload) (names []string) {
	t.Helper()
	c := load(t, header+document)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: &quotas{t: t}, Order: c.Order()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var changes []engine.Change
	for _, o := range c.Objects() {
		changes = append(changes, engine.PutObject(o))
	}
	for _, namespace := range []string{"a", "b"} {
		changes = append(changes, engine.PutObject(&model.Principal{Name: namespace, Queue: "q"}))
	}
	changes = append(changes, engine.PutNode(&model.Node{Name: "n", Allocatable: model.Resources{CPU: 10_000}}),
		engine.Adopt(cores("a/running", 3), model.Binding{Node: "n", Since: now}))
	if err := raw.Apply(now, changes...); err != nil {
		t.Fatal(err)
	}
	for i, w := range pods {
		if err := raw.Apply(now.Add(time.Duration(i+1)*time.Second), engine.Submit(w)); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	for raw.Schedule(now) {
		for task := raw.NextTask(); task != nil; task = raw.NextTask() {
			task.Run(context.Background())
			raw.Finish(now, task)
		}
	}
	for _, w := range pods {
		if row, _ := raw.View().Workload(w.ID); row.Node != "" {
			names = append(names, w.ID)
		}
	}
	return names
}

func cores(id string, n int64) *model.Workload { return podOf(id, amounts{1000 * n}) }

// What the reference says of pods that wait behind one that is held back.
func TestWhoWaitsBehindWhom(t *testing.T) {
	const queue = "queues: [{name: q, policy: FIFO, max: {cpu: 4}}]"
	for _, c := range []struct {
		name, document string
		pods           []*model.Workload
		want           []string
	}{
		{"a quota holds up the queue", queue, []*model.Workload{cores("a/large", 2), cores("a/small", 1), cores("b/small", 1)}, nil},
		{"but for a pod that is too large by itself", queue, []*model.Workload{cores("a/large", 5), cores("a/small", 1)}, []string{"a/small"}},
		{"or too large for the node", "queues: [{name: q, policy: FIFO, max: {cpu: 40}}]", []*model.Workload{cores("a/large", 12), cores("a/small", 1)}, []string{"a/small"}},
		{"a limit on the subtree holds up the queue", "queues: [{name: q, policy: FIFO}]\nlimits: [{name: l, queue: q, scope: Subtree, resource: cpu, amount: 4}]",
			[]*model.Workload{cores("a/large", 2), cores("a/small", 1), cores("b/small", 1)}, nil},
		{"another limit holds up the namespace", "queues: [{name: q, policy: FIFO}]\nlimits: [{name: l, queue: q, scope: Own, resource: cpu, amount: 4}]",
			[]*model.Workload{cores("a/large", 2), cores("a/small", 1), cores("b/small", 1)}, []string{"b/small"}},
		{"as one on each namespace", "queues: [{name: q, policy: FIFO}]\nlimits: [{name: l, queue: q, scope: EachNamespace, resource: cpu, amount: 4}]",
			[]*model.Workload{cores("a/large", 2), cores("a/small", 1), cores("b/large", 2)}, []string{"b/large"}},
		{"a limit on each pod holds up nobody", "queues: [{name: q, policy: FIFO}]\nlimits: [{name: l, queue: q, scope: EachPod, resource: cpu, amount: 1}]",
			[]*model.Workload{cores("a/large", 2), cores("a/small", 1)}, []string{"a/small"}},
	} {
		if got := started(t, c.document, c.pods...); !slices.Equal(got, c.want) {
			t.Errorf("%s: started are %q, want %q", c.name, got, c.want)
		}
	}
}

// One queue with policy Priority, as the error about limits without queues proposes, has pods placed by
// priority, whatever their namespaces use; without it the top shares among namespaces.
func TestOneQueueByPriority(t *testing.T) {
	important := cores("a/important", 7)
	important.Priority = 5
	pods := []*model.Workload{cores("b/first", 7), important}
	if got := started(t, "queues: [{name: q, policy: Priority}]", pods...); !slices.Equal(got, []string{"a/important"}) {
		t.Errorf("by priority: %q", got)
	}
	pods[0], pods[1] = cores("b/first", 7), pods[1].Clone()
	if got := started(t, "queues: [{name: q, policy: Share}]", pods...); !slices.Equal(got, []string{"b/first"}) {
		t.Errorf("by share: %q", got)
	}
}
