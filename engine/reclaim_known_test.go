package engine_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// knownLeftOut are the known answers of fair preemption that the engine has no policy for.
var knownLeftOut = map[string]string{
	"KP17": "the tests of shares cannot be chosen", "KP18": "the tests of shares cannot be chosen",
	"KP22": "there are no flavours of a resource", "giving-back": "of two resources, with amounts that no test of a node has",
}

// The known answers of fair preemption of package share (queue/share/testdata/preempt.txt), through the
// engine: on one node that is as large as the cohort. In a cohort of the source the quota of a
// queue is on top of those below it; here it contains them.
func TestKnownReclaimsInTheEngine(t *testing.T) {
	t.Parallel()
	knownCases(t, "preempt.txt", knownLeftOut, func(t *testing.T, lines [][]string) {
		k := &knownReclaim{t: t, reclaim: model.ReclaimAny, queues: map[string]*model.Queue{}}
		for _, line := range lines {
			k.read(line)
		}
		k.check()
	})
}

// knownCases runs the known answers of a file of package share, each by the fields of its lines, but those that are left out for
// a reason.
func knownCases(t *testing.T, file string, leftOut map[string]string, check func(t *testing.T, lines [][]string)) {
	t.Helper()
	text, err := os.ReadFile("../queue/share/testdata/" + file)
	require.NoError(t, err)
	cases := strings.Split(string(text), "\ncase ")[1:]
	require.NotEmpty(t, cases)
	for _, block := range cases {
		name, rest, _ := strings.Cut(block, "\n")
		t.Run(name, func(t *testing.T) {
			if reason := leftOut[name]; reason != "" {
				t.Skip(reason)
			}
			var lines [][]string
			for line := range strings.Lines(rest) {
				if f := strings.Fields(line); len(f) > 0 && f[0] != "#" {
					lines = append(lines, f)
				}
			}
			check(t, lines)
		})
	}
}

// knownReclaim is one of them.
type knownReclaim struct {
	t       *testing.T
	reclaim model.ReclaimPolicy
	size    int64
	queues  map[string]*model.Queue
	adopted []engine.Change
	ask     *model.Workload
	want    []string
}

func (k *knownReclaim) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(k.t, err)
	return n
}

func (k *knownReclaim) add(name, parent string, nominal, weight int64) {
	if k.queues[parent] == nil {
		parent = "" // the cohort itself
	}
	k.queues[name] = &model.Queue{Name: name, Parent: parent, Weight: weight, Guaranteed: map[string]int64{}}
	for q := k.queues[name]; q != nil; q = k.queues[q.Parent] {
		q.Guaranteed[model.CPU] += nominal
	}
	k.size += nominal
}

func (k *knownReclaim) read(f []string) {
	const whole = 1_000_000 // a weight in the data
	switch {
	case f[0] == "cohort":
		for _, q := range f[1:] {
			name, quota, _ := strings.Cut(q, "=")
			nominal, weight, weighted := strings.Cut(quota, ",")
			if !weighted {
				weight = fmt.Sprint(whole)
			}
			k.add(name, "", k.number(nominal), k.number(weight))
		}
	case f[0] == "node" && f[2] == "-":
		k.size += k.number(f[3])
	case f[0] == "node":
		weight := int64(whole)
		if len(f) > 4 {
			weight = k.number(strings.TrimPrefix(f[4], "weight="))
		}
		k.add(f[1], f[2], k.number(f[3]), weight)
	case f[0] == "run":
		w := &model.Workload{ID: f[1], Queue: f[2], Requests: model.Resources{CPU: k.number(f[3])}}
		if len(f) > 4 {
			w.Priority = int32(k.number(f[4]))
		}
		k.adopted = append(k.adopted, engine.Adopt(w, model.Binding{Node: "n"}))
	case f[0] == "reclaim":
		k.reclaim = model.ReclaimLower
	case f[0] == "ask":
		k.ask = &model.Workload{ID: "ask", Queue: f[1], Requests: model.Resources{CPU: k.number(f[2])}}
	case f[0] == "want":
		k.want = append(k.want, f[1])
	}
}

// check lets the engine make room, and the workload start.
func (k *knownReclaim) check() {
	o := &world{}
	cfg := config(o)
	cfg.Order = engine.OrderByQueues
	r, err := engine.NewRaw(cfg)
	require.NoError(k.t, err)
	changes := []engine.Change{node("n", k.size)}
	for _, q := range k.queues {
		q.Reclaim = k.reclaim
		changes = append(changes, engine.PutObject(q))
	}
	require.NoError(k.t, r.Apply(epoch, append(changes, k.adopted...)...))
	require.NoError(k.t, r.Apply(epoch, engine.Submit(k.ask)))
	require.True(k.t, r.Schedule(epoch))
	for task := r.NextTask(); task != nil; task = r.NextTask() {
		task.Run(context.Background())
		r.Finish(epoch, task)
	}
	slices.Sort(o.evicted)
	slices.Sort(k.want)
	require.Equal(k.t, k.want, o.evicted)
	if len(k.want) == 0 {
		return
	}
	for _, id := range o.evicted {
		require.NoError(k.t, r.Apply(epoch, engine.Finish(id)))
	}
	settle(r, epoch)
	row, _ := r.View().Workload("ask")
	require.Equal(k.t, model.Bound, row.Phase)
}
