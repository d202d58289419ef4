package queueing_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// quotas is an engine with elastic quotas, as the adapter tells it of them.
type quotas struct {
	t       *testing.T
	text    strings.Builder
	room    model.Resources // of the node
	running []*model.Workload
	asking  *model.Workload
	evicted []string
}

func (q *quotas) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

func (q *quotas) Evict(_ context.Context, w *model.Workload, _ string) error {
	q.evicted = append(q.evicted, w.ID)
	return nil
}

func (q *quotas) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		q.t.Fatal(err)
	}
	return n
}

func (q *quotas) workload(f []string) *model.Workload {
	namespace, _, _ := strings.Cut(f[0], "/")
	return &model.Workload{ID: f[0], Namespace: namespace, Principal: namespace, Priority: int32(q.number(f[2])), Requests: model.Resources{CPU: 1000 * q.number(f[1])}}
}

func (q *quotas) read(f []string) {
	switch f[0] {
	case "quota":
		fmt.Fprintf(&q.text, "- {namespace: %s, min: {cpu: %q}, max: {cpu: %q}}\n", f[1], f[2], f[3])
		q.room.CPU += 1000 * q.number(f[2])
	case "others":
		q.room.CPU += 1000 * q.number(f[1])
	case "runs":
		q.running = append(q.running, q.workload(f[1:]))
	case "asks":
		q.asking = q.workload(f[1:])
	}
}

// outcome places everything, and says what happens to the one that asks.
func (q *quotas) outcome() string {
	c := load(q.t, header+"elasticQuotas:\n"+q.text.String())
	if err := c.Validate(); err != nil {
		q.t.Fatal(err)
	}
	raw, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: q, Order: c.Order()})
	if err != nil {
		q.t.Fatal(err)
	}
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var changes []engine.Change
	for _, o := range c.Objects() {
		changes = append(changes, engine.PutObject(o))
	}
	changes = append(changes, engine.PutNode(&model.Node{Name: "n", Allocatable: q.room}))
	told := map[string]bool{}
	for i, w := range append(slices.Clone(q.running), q.asking) {
		if !told[w.Namespace] {
			told[w.Namespace] = true
			changes = append(changes, engine.PutObject(&model.Principal{Name: w.Namespace, Queue: c.QueueOf(w.Namespace, nil, false)}))
		}
		if w == q.asking {
			changes = append(changes, engine.Submit(w))
			continue
		}
		changes = append(changes, engine.Adopt(w, model.Binding{Node: "n", Since: now.Add(time.Duration(i) * time.Minute).Add(-time.Hour)}))
	}
	if err := raw.Apply(now, changes...); err != nil {
		q.t.Fatal(err)
	}
	for raw.Schedule(now) {
		for task := raw.NextTask(); task != nil; task = raw.NextTask() {
			task.Run(context.Background())
			raw.Finish(now, task)
		}
	}
	row, _ := raw.View().Workload(q.asking.ID)
	switch {
	case len(q.evicted) > 0:
		return "evicts " + strings.Join(q.evicted, " ")
	case row.Node != "":
		return "runs"
	}
	return "waits"
}

// The known answers about elastic quotas, through the engine.
func TestKnownElasticQuotas(t *testing.T) {
	text, err := os.ReadFile("testdata/elasticquota.txt")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\ncase ")[1:]
	if len(blocks) != 14 {
		t.Errorf("%d cases", len(blocks))
	}
	for _, block := range blocks {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		t.Run(lines[0], func(t *testing.T) {
			q, want := &quotas{t: t}, ""
			for _, line := range lines[1:] {
				if answer, is := strings.CutPrefix(line, "want "); is {
					want = answer
					continue
				}
				q.read(strings.Fields(line))
			}
			if got := q.outcome(); got != want {
				t.Errorf("it %s, want %s", got, want)
			}
		})
	}
}

func TestElasticQuotasThatAreWrong(t *testing.T) {
	c := load(t, header+"queues: [{name: elasticquotas/b}]\nelasticQuotas:\n- {namespace: a, min: {cpu: 2}, max: {cpu: 1}}\n- {namespace: a}\n- {min: {cpu: 1}}\n- {namespace: b}\n")
	err := c.Validate()
	for _, want := range []string{
		`elasticQuotas[0].max[cpu]: Invalid value: "1": is less than min, "2"`,
		`elasticQuotas[1].namespace: Duplicate value: "a"`, `elasticQuotas[2].namespace: Required value`, `elasticQuotas[3].namespace: Duplicate value: "b"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nhas no %s", err, want)
		}
	}
}

func TestQueueOf(t *testing.T) {
	c := load(t, header+"defaultQueue: rest\nqueues: [{name: rest}]\nelasticQuotas: [{namespace: a}]")
	named := map[string]string{queueing.NamespaceLabel: "rest"}
	for _, q := range []struct {
		namespace string
		labels    map[string]string
		object    bool
		want      string
	}{{"a", nil, false, "elasticquotas/a"}, {"b", nil, false, "rest"}, {"b", nil, true, "elasticquotas/b"}, {"a", named, false, "rest"}, {"b", named, true, "rest"}} {
		if got := c.QueueOf(q.namespace, q.labels, q.object); got != q.want {
			t.Errorf("%s is in %q", q.namespace, got)
		}
	}
}
