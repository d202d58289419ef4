package backfill_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/scheduler/backfill"
	"github.com/berth-project/berth/model"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }

// machine is a node with so many cores, in a rack, with GPUs of models.
func machine(name string, cores int64, rack string, gpus ...string) *model.Node {
	n := &model.Node{Name: name, Allocatable: model.Resources{CPU: cores, Scalars: []model.Scalar{{Name: "licence", Amount: 2}}}}
	if rack != "" {
		n.Labels = map[string]string{"rack": rack}
	}
	for _, m := range gpus {
		n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: m})
	}
	return n
}

// until is a task of so many cores that ends, or with 0 does not, and has devices.
func until(minutes int, cores int64, devices ...int) backfill.Running {
	k := backfill.Running{Requests: &model.Resources{CPU: cores}}
	if minutes > 0 {
		k.Ends = at(minutes)
	}
	for _, d := range devices {
		k.Shares = append(k.Shares, model.DeviceShare{Device: d, Share: model.WholeDevice})
	}
	return k
}

func node(n *model.Node, running ...backfill.Running) backfill.Candidate {
	return backfill.Candidate{Timeline: backfill.NewTimeline(n, running)}
}

func closing(minutes int, c backfill.Candidate) backfill.Candidate {
	c.Closes = at(minutes)
	return c
}

func gpus(count, share int64, models ...string) *model.DeviceRequest {
	return &model.DeviceRequest{Class: "gpu", Count: count, Share: share, Models: models}
}

func cores(tasks, each int64) backfill.Want {
	return backfill.Want{Tasks: tasks, Requests: model.Resources{CPU: each}}
}

func TestEarliest(t *testing.T) {
	full := machine("full", 4, "")
	full.MaxWorkloads = 1
	together := cores(2, 4)
	together.SameLabel = "rack"
	devices := func(tasks int64, d *model.DeviceRequest) backfill.Want { return backfill.Want{Tasks: tasks, Device: d} }
	licences := backfill.Want{Tasks: 3, Requests: model.Resources{Scalars: []model.Scalar{{Name: "licence", Amount: 1}}}}
	for name, c := range map[string]struct {
		want  backfill.Want
		nodes []backfill.Candidate
		plan  string
	}{
		"nothing runs":        {cores(2, 4), []backfill.Candidate{node(machine("a", 8, ""))}, "0: a*2"},
		"no nodes":            {cores(1, 1), nil, "never"},
		"larger than any":     {cores(1, 8), []backfill.Candidate{node(machine("a", 4, ""))}, "never"},
		"after one has ended": {cores(1, 4), []backfill.Candidate{node(machine("a", 4, ""), until(7, 1))}, "7: a*1"},
		"no limit, never":     {cores(1, 4), []backfill.Candidate{node(machine("a", 4, ""), until(0, 1))}, "never"},
		"beside no limit":     {cores(1, 3), []backfill.Candidate{node(machine("a", 4, ""), until(0, 1), until(5, 3))}, "5: a*1"},
		"the last of three counts": {cores(3, 4), []backfill.Candidate{
			node(machine("a", 4, ""), until(3, 4)), node(machine("b", 4, ""), until(9, 4)), node(machine("c", 4, ""))}, "9: a*1 b*1 c*1"},
		"of two that are alike the first by name": {cores(1, 4), []backfill.Candidate{
			node(machine("a", 4, "")), node(machine("b", 4, ""))}, "0: a*1"},
		"what is free by now is left to others": {cores(2, 4), []backfill.Candidate{
			node(machine("a", 4, "")), node(machine("b", 4, ""), until(5, 4)), node(machine("c", 4, ""), until(5, 4))}, "5: b*1 c*1"},
		"in one rack": {together, []backfill.Candidate{
			node(machine("a", 4, "r1")), node(machine("b", 4, "r1"), until(8, 4)),
			node(machine("c", 4, "r2"), until(6, 4)), node(machine("d", 4, "r2"), until(5, 4)), node(machine("e", 4, ""))}, "6: c*1 d*1"},
		"the first rack of two":   {together, []backfill.Candidate{node(machine("a", 8, "r2")), node(machine("b", 8, "r1"))}, "0: b*2"},
		"places":                  {cores(1, 1), []backfill.Candidate{node(full, until(4, 1))}, "4: full*1"},
		"whole devices":           {devices(1, gpus(2, 1000)), []backfill.Candidate{node(machine("a", 1, "", "x", "x", "x"), until(2, 0, 0), until(4, 0, 2))}, "2: a*1"},
		"devices of a model":      {devices(1, gpus(1, 1000, "y")), []backfill.Candidate{node(machine("a", 1, "", "x", "y"), until(2, 0, 1))}, "2: a*1"},
		"shares":                  {devices(5, gpus(1, 500)), []backfill.Candidate{node(machine("a", 1, "", "x", "x", "x"), until(2, 0, 0))}, "2: a*5"},
		"scalars":                 {licences, []backfill.Candidate{node(machine("a", 1, "")), node(machine("b", 1, ""))}, "0: a*2 b*1"},
		"closes before it fits":   {cores(1, 4), []backfill.Candidate{closing(6, node(machine("a", 4, ""), until(7, 1)))}, "never"},
		"closes when it fits":     {cores(1, 4), []backfill.Candidate{closing(7, node(machine("a", 4, ""), until(7, 1)))}, "7: a*1"},
		"closes before the other": {cores(2, 4), []backfill.Candidate{closing(6, node(machine("a", 4, ""))), node(machine("b", 4, ""), until(7, 1))}, "never"},
		"has closed":              {cores(1, 4), []backfill.Candidate{closing(-1, node(machine("a", 4, "")))}, "never"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.plan, show(backfill.Earliest(&c.want, epoch, c.nodes))) })
	}
}

func show(p backfill.Plan, ok bool) string {
	if !ok {
		return "never"
	}
	s := fmt.Sprintf("%d:", int(p.At.Sub(epoch)/time.Minute))
	for _, part := range p.Parts {
		s += fmt.Sprintf(" %s*%d", part.Node, part.Tasks)
	}
	return s
}

// What a task would take of devices is taken where it hurts the most.
func TestTakeWorst(t *testing.T) {
	n := machine("a", 8, "", "x", "y", "y", "y")
	now := backfill.NewRoom(n)
	now.Take(&model.Resources{}, []model.DeviceShare{{Device: 3, Share: 800}})
	for _, c := range []struct {
		task, want *model.DeviceRequest
		fits       int64
	}{
		{gpus(1, 1000), gpus(1, 1000, "y"), 2},      // one of those that are free
		{gpus(1, 1000, "x"), gpus(1, 1000, "y"), 3}, // not that which is not for it
		{gpus(2, 1000), gpus(1, 1000), 2},
		{gpus(1, 300, "y"), gpus(1, 1000, "y"), 2}, // a part of a whole one
		{gpus(1, 200, "y"), gpus(1, 400, "y"), 6},  // what was left over
		{gpus(1, 300, "y"), gpus(1, 400, "y"), 5},
		{nil, gpus(1, 1000), 4},
	} {
		then := backfill.NewRoom(n)
		then.TakeWorst(&now, &model.Resources{}, c.task, &backfill.Want{Tasks: 9, Device: c.want})
		require.Equal(t, c.fits, then.Fits(&backfill.Want{Tasks: 9, Device: c.want}, 9), "%+v before %+v", c.task, c.want)
	}
}

// The plan is that of a twin that places one task after the other at each moment.
func TestEarliestIsThatOfItsTwin(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	planned := 0
	for range 20_000 {
		w := randomWorld(random)
		got, ok := backfill.Earliest(&w.want, epoch, w.candidates())
		when, fits := w.twin()
		require.Equal(t, fits, ok, "seed %d: %+v", seed, w)
		if !ok {
			continue
		}
		planned++
		require.Equal(t, when, int(got.At.Sub(epoch)/time.Minute), "seed %d: %+v", seed, w)
		w.check(t, got)
	}
	require.Greater(t, planned, 2000)
}

// world is a question, in small numbers.
type world struct {
	want    backfill.Want
	nodes   []*model.Node
	running [][]backfill.Running
	closes  []int // 0: does not
}

func randomWorld(r *rand.Rand) *world {
	w := &world{want: cores(1+r.Int64N(4), r.Int64N(4))}
	if r.IntN(3) == 0 {
		w.want.SameLabel = "rack"
	}
	switch r.IntN(4) {
	case 0:
		w.want.Device = gpus(1+r.Int64N(2), model.WholeDevice)
	case 1:
		w.want.Device = gpus(1, 500, "y")
	}
	for i := range 1 + r.IntN(4) {
		n := machine(fmt.Sprint("n", i), 1+r.Int64N(8), []string{"", "r1", "r2"}[r.IntN(3)])
		for range r.IntN(3) {
			n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: []string{"x", "y"}[r.IntN(2)]})
		}
		n.MaxWorkloads = []int64{0, 0, 1, 3}[r.IntN(4)]
		var running []backfill.Running
		for range r.IntN(4) {
			k := until(r.IntN(7), r.Int64N(4))
			if len(n.Devices) > 0 && r.IntN(2) == 0 {
				k = until(r.IntN(7), r.Int64N(4), r.IntN(len(n.Devices)))
			}
			running = append(running, k)
		}
		w.nodes, w.running = append(w.nodes, n), append(w.running, running)
		w.closes = append(w.closes, max(0, r.IntN(20)-13))
	}
	return w
}

func (w *world) candidates() []backfill.Candidate {
	var out []backfill.Candidate
	for i, n := range w.nodes {
		c := node(n, w.running[i]...)
		if w.closes[i] > 0 {
			c.Closes = at(w.closes[i])
		}
		out = append(out, c)
	}
	return out
}

// fits places tasks on a node at a moment until no more goes.
func (w *world) fits(i, minute int) int64 {
	if w.closes[i] > 0 && minute > w.closes[i] {
		return 0
	}
	n := w.nodes[i]
	cpu, places := n.Allocatable.CPU, n.MaxWorkloads
	if places == 0 {
		places = 1000
	}
	free := slices.Repeat([]int64{1000}, len(n.Devices))
	for _, k := range w.running[i] {
		if !k.Ends.IsZero() && !k.Ends.After(at(minute)) {
			continue
		}
		cpu -= k.Requests.CPU
		places--
		for _, s := range k.Shares {
			free[s.Device] -= s.Share
		}
	}
	var placed int64
	for placed < w.want.Tasks && places > 0 && (w.want.Requests.CPU == 0 || cpu >= w.want.Requests.CPU) && w.device(n, free) {
		cpu -= w.want.Requests.CPU
		places--
		placed++
	}
	return placed
}

// device takes devices for a task.
func (w *world) device(n *model.Node, free []int64) bool {
	if w.want.Device == nil {
		return true
	}
	left := w.want.Device.Count
	for i := range free {
		if left > 0 && w.want.Device.Admits(&n.Devices[i]) && free[i] >= w.want.Device.Share {
			free[i] -= w.want.Device.Share
			left--
		}
	}
	return left == 0
}

func (w *world) twin() (minute int, ok bool) {
	for minute := range 10 {
		sums := map[string]int64{}
		for i, n := range w.nodes {
			rack, has := n.Labels["rack"]
			if w.want.SameLabel == "" {
				rack, has = "", true
			}
			if has {
				sums[rack] += w.fits(i, minute)
			}
			if sums[rack] >= w.want.Tasks {
				return minute, true
			}
		}
	}
	return 0, false
}

// check checks that all of a plan fits, in one rack where it must.
func (w *world) check(t *testing.T, p backfill.Plan) {
	minute, sum, racks := int(p.At.Sub(epoch)/time.Minute), int64(0), map[string]bool{}
	for _, part := range p.Parts {
		i := slices.IndexFunc(w.nodes, func(n *model.Node) bool { return n.Name == part.Node })
		require.LessOrEqual(t, part.Tasks, w.fits(i, minute), "%+v: %+v", p, w)
		sum += part.Tasks
		racks[w.nodes[i].Labels["rack"]] = true
	}
	require.Equal(t, w.want.Tasks, sum)
	require.False(t, w.want.SameLabel != "" && len(racks) > 1, "%+v: %+v", p, w)
}

// The cost of one plan in a large fleet: 5,000 nodes, 20 tasks each.
func BenchmarkEarliest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var nodes []backfill.Candidate
	for i := range 5000 {
		var running []backfill.Running
		for range 20 {
			running = append(running, until(1+r.IntN(1000), 3))
		}
		nodes = append(nodes, node(machine(fmt.Sprint("n", i), 64, ""), running...))
	}
	want := cores(4000, 60)
	b.ResetTimer()
	for range b.N {
		if _, ok := backfill.Earliest(&want, epoch, nodes); !ok {
			b.Fatal("never")
		}
	}
}
