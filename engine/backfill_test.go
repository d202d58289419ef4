package engine_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// batch is a batch of jobs that run for exactly as long as their limits, all submitted at
// second 0 in their order, on nodes some of which are taken.
type batch struct {
	nodes, running, jobs, holds string
}

// The lines of a batch: a node is name:cpu[,gpu]; what runs is name:cpu[,gpu]@node-until;
// a job is name:cpu[,gpu]/seconds[>least][@node], with the least limit that it takes; a hold is
// name:node/from-until.
var batches = map[string]batch{
	"T1": {nodes: "n:10", running: "R1:6@n-10 R2:2@n-4", jobs: "J1:8/5 J2:2/4 J3:2/12 J4:4/3"},
	"T2": {nodes: "n:4", running: "R1:3@n-4", jobs: "J1:2/4 J2:4/2 J3:1/10"},
	"T3": {nodes: "A:8,2 B:8", running: "R1:4,2@A-10", jobs: "J1:4,2/5 J2:4/20 J3:6/20 J4:2/20"},
	"T4": {nodes: "A:8 B:8", running: "RA:4@A-10 RB:4@B-20", jobs: "J1:8/5 J2:4/100"},
	"T5": {nodes: "A:8 B:8", running: "RA:4@A-10 RB:8@B-10", jobs: "J1:8/5 J2:4/20@A"},
	"T6": {nodes: "n:4", running: "R1:3@n-5", jobs: "J1:2/5 J2:3/2 J3:2/3 J4:1/7 J5:1/5"},
	"T7": {nodes: "n:6", running: "R1:4@n-3", jobs: "J1:3/4 J2:6/2 J3:2/9 J4:4/3 J5:1/7"},
	"T8": {nodes: "A:1 B:1", jobs: "J1:1/15 J2:1/15 J3:1/15>10", holds: "firmware:B/10-20"},
}

// Known answers: when, and on a cluster of several nodes where, each job starts.
func TestBackfillKnownAnswers(t *testing.T) {
	t.Parallel()
	fcfs := engine.Backfill{Mode: engine.InOrder}
	easy := engine.Backfill{Mode: engine.EASY}
	two := engine.Backfill{Mode: engine.Reservations, Reservations: 2}
	all := engine.Backfill{Mode: engine.Conservative}
	pinned := engine.Backfill{Mode: engine.EASY, Pinned: true}
	for _, c := range []struct {
		batch    string
		backfill []engine.Backfill
		want     string
	}{
		{"T1", []engine.Backfill{fcfs}, "J1=10 J2=10 J3=14 J4=15"},
		{"T1", []engine.Backfill{easy, two, all}, "J1=10 J2=0 J3=4 J4=15"},
		{"T2", []engine.Backfill{fcfs, two, all}, "J1=4 J2=8 J3=10"},
		{"T2", []engine.Backfill{easy}, "J1=4 J2=10 J3=0"},
		{"T3", []engine.Backfill{easy}, "J1=10@A J2=0@A J3=0@B J4=0@B"},
		{"T4", []engine.Backfill{easy}, "J1=10@A J2=0@B"},
		{"T5", []engine.Backfill{pinned}, "J1=10@A J2=15@A"},
		{"T5", []engine.Backfill{easy}, "J1=10@B J2=0@A"},
		{"T6", []engine.Backfill{fcfs}, "J1=5 J2=10 J3=12 J4=12 J5=12"},
		{"T6", []engine.Backfill{easy}, "J1=5 J2=10 J3=12 J4=0 J5=5"},
		{"T6", []engine.Backfill{two}, "J1=5 J2=10 J3=7 J4=0 J5=10"},
		{"T6", []engine.Backfill{all}, "J1=5 J2=10 J3=5 J4=8 J5=0"},
		{"T7", []engine.Backfill{fcfs}, "J1=3 J2=7 J3=9 J4=9 J5=12"},
		{"T7", []engine.Backfill{easy}, "J1=3 J2=9 J3=0 J4=11 J5=11"},
		{"T7", []engine.Backfill{two, all}, "J1=3 J2=7 J3=9 J4=9 J5=0"},
		{"T8", []engine.Backfill{easy, two, all}, "J1=0@A J2=15@A J3=0@B for 10s"},
		{"T8", []engine.Backfill{fcfs}, "J1=0@A J2=15@A J3=20@B"},
	} {
		for _, b := range c.backfill {
			t.Run(fmt.Sprintf("%s/%v pinned=%v", c.batch, b.Mode, b.Pinned), func(t *testing.T) {
				t.Parallel()
				require.Equal(t, c.want, batches[c.batch].run(t, b))
			})
		}
	}
}

// run runs the batch to its end and says when each job started.
func (b batch) run(t *testing.T, how engine.Backfill) string {
	t.Helper()
	profile := extpoints.Profile{Name: "batch"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&profile, nodeaffinity.New, nodeaffinity.Args{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&profile, holds.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	w := &world{}
	r, err := engine.NewRaw(engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: w, Backfill: how})
	require.NoError(t, err)

	ends := map[string]int{}
	limits := map[string]int{}
	var changes []engine.Change
	for _, line := range strings.Fields(b.nodes) {
		name, room, _ := strings.Cut(line, ":")
		changes = append(changes, engine.PutNode(&model.Node{Name: name, Labels: map[string]string{"name": name}, Allocatable: amounts(room)}))
	}
	for _, line := range strings.Fields(b.running) {
		name, rest, _ := strings.Cut(line, ":")
		ask, rest, _ := strings.Cut(rest, "@")
		on, end, _ := strings.Cut(rest, "-")
		ends[name] = number(end)
		job := &model.Workload{ID: name, Requests: amounts(ask), Limit: time.Duration(ends[name]) * time.Second}
		changes = append(changes, engine.Adopt(job, model.Binding{Node: on, Since: epoch}))
	}
	for _, line := range strings.Fields(b.holds) {
		name, rest, _ := strings.Cut(line, ":")
		on, times, _ := strings.Cut(rest, "/")
		from, until, _ := strings.Cut(times, "-")
		changes = append(changes, engine.PutObject(hold(name, number(from), number(until), "", on)))
	}
	var order []string
	for _, line := range strings.Fields(b.jobs) {
		name, rest, _ := strings.Cut(line, ":")
		ask, rest, _ := strings.Cut(rest, "/")
		seconds, on, _ := strings.Cut(rest, "@")
		seconds, least, shorter := strings.Cut(seconds, ">")
		order, limits[name] = append(order, name), number(seconds)
		job := &model.Workload{ID: name, Requests: amounts(ask), Limit: time.Duration(limits[name]) * time.Second}
		if shorter {
			job.MinLimit = time.Duration(number(least)) * time.Second
		}
		if on != "" {
			job.NodeSelector = map[string]string{"name": on}
		}
		changes = append(changes, engine.Submit(job))
	}

	starts := map[string]string{}
	several := len(strings.Fields(b.nodes)) > 1
	for now := 0; len(starts) < len(order); now++ {
		at := epoch.Add(time.Duration(now) * time.Second)
		for _, name := range sorted(ends) {
			if ends[name] == now {
				changes = append(changes, engine.Finish(name))
				delete(ends, name)
			}
		}
		require.NoError(t, r.Apply(at, changes...))
		changes = nil
		r.Tick(at)
		settle(r, at)
		for _, name := range order {
			nodes := w.nodesOf(name)
			if len(nodes) == 0 || starts[name] != "" {
				continue
			}
			starts[name] = fmt.Sprintf("%s=%d", name, now)
			if several {
				starts[name] += "@" + nodes[0]
			}
			ends[name] = now + limits[name]
			if row, _ := r.View().Workload(name); row.GrantedLimit > 0 {
				starts[name] += fmt.Sprint(" for ", row.GrantedLimit)
				ends[name] = now + int(row.GrantedLimit/time.Second)
			}
		}
		require.Less(t, now, 1000, "some never start")
	}
	var said []string
	for _, name := range order {
		said = append(said, starts[name])
	}
	return strings.Join(said, " ")
}

func sorted(m map[string]int) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

// amounts reads cpu[,gpu].
func amounts(s string) model.Resources {
	cpu, gpu, _ := strings.Cut(s, ",")
	r := model.Resources{CPU: 1000 * int64(number(cpu))}
	if gpu != "" {
		r.Scalars = []model.Scalar{{Name: "example.com/gpu", Amount: int64(number(gpu))}}
	}
	return r
}

func number(s string) int {
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(fmt.Sprintf("%q: %v", s, err))
	}
	return n
}
