package queue

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	policy "github.com/berth-project/berth/queue/share"
)

// oneRoom is a cluster of one node, on which only the CPU counts.
type oneRoom struct {
	q       *Queue
	size    int64
	running []*extpoints.WorkloadInfo
}

func newOneRoom(t testing.TB, size int64, definitions ...model.Object) *oneRoom {
	r := &oneRoom{q: newOrdered(t), size: size}
	for _, o := range definitions {
		r.q.DefinitionChanged(nil, o)
	}
	r.q.NodeChanged(nil, r.node())
	r.q.Reorder(runStart)
	return r
}

var runStart = time.Unix(1_000_000, 0).UTC()

func (r *oneRoom) node() *model.Node {
	return &model.Node{Name: "n", Allocatable: model.Resources{CPU: r.size}}
}

func (r *oneRoom) run(w *extpoints.WorkloadInfo) {
	r.running = append(r.running, w)
	r.q.Charge(start, start, noEnd, w.Workload)
}

func (r *oneRoom) free() int64 {
	free := r.size
	for _, w := range r.running {
		free -= w.Requests.CPU
	}
	return free
}

func at(id, queue string, cpu int64, priority int32) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Queue: queue, Priority: priority, Requests: model.Resources{CPU: cpu}}, PlacedAt: runStart}
}

// view has the node with what runs on it.
func (r *oneRoom) view() *extpointstest.View {
	n := extpoints.NewNodeInfo(r.node())
	for _, w := range r.running {
		n.AddWorkload(w)
	}
	return extpointstest.NewView(n)
}

// makeRoom does what a plugin does: it takes all who may leave, and spares them as long as
// the workload fits. It lists the IDs of the rest, in the order of their names; nil where
// it does not fit.
func (r *oneRoom) makeRoom(now time.Time, w *extpoints.WorkloadInfo) (victims []string, lasts bool) {
	reclaim := r.q.Reclaim(r.view(), now, nil, w.Priority, []*extpoints.WorkloadInfo{w})
	var list []extpoints.Leaver
	for _, v := range r.running {
		list = append(list, extpoints.Leaver{Workloads: []*extpoints.WorkloadInfo{v}, Priority: v.Priority, Since: v.PlacedAt})
	}
	chosen, free := reclaim.Choose(list), r.free()-w.Requests.CPU
	for _, i := range chosen {
		free += r.running[i].Requests.CPU
	}
	if free < 0 {
		return nil, true
	}
	victims = []string{}
	for _, i := range slices.Backward(chosen) {
		if cpu := r.running[i].Requests.CPU; free >= cpu && reclaim.Spare(i) {
			free -= cpu
			continue
		}
		victims = append(victims, r.running[i].ID)
	}
	slices.Sort(victims)
	return victims, reclaim.Lasts()
}

// The known answers of fair preemption (queue/share/testdata) hold for one node: there the
// room of the node is what the quota of the cohort is there.
func TestKnownReclaims(t *testing.T) {
	t.Parallel()
	for _, k := range knownReclaims(t) {
		t.Run(k.name, func(t *testing.T) {
			if k.left != "" {
				t.Skip(k.left)
			}
			r := newOneRoom(t, k.size, k.queues...)
			for _, w := range k.running {
				r.run(w)
			}
			got, lasts := r.makeRoom(runStart, k.ask)
			require.Equal(t, k.want, got)
			require.True(t, lasts)
		})
	}
}

type knownReclaim struct {
	name, left string
	size       int64
	queues     []model.Object
	running    []*extpoints.WorkloadInfo
	ask        *extpoints.WorkloadInfo
	want       []string // nil where it does not fit
}

// leftOut are the answers that do not apply, with the reason.
var leftOut = map[string]string{
	"KP17": "the tests of shares cannot be chosen", "KP18": "the tests of shares cannot be chosen",
	"KP22": "there are no flavours of a resource", "giving-back": "of two resources, with amounts that no test of a node has",
}

// knownReclaims reads them. In a cohort of the source the quota of a queue is on top of those
// below it; here it contains them.
func knownReclaims(t *testing.T) (list []knownReclaim) {
	t.Helper()
	text, err := os.ReadFile("share/testdata/preempt.txt")
	require.NoError(t, err)
	for _, block := range strings.Split(string(text), "\ncase ")[1:] {
		lines := strings.Split(block, "\n")
		k := knownReclaim{name: lines[0], left: leftOut[lines[0]]}
		list = append(list, k)
		if k.left == "" {
			list[len(list)-1].read(t, lines[1:])
		}
	}
	require.Greater(t, len(list), 28)
	return list
}

func (k *knownReclaim) read(t *testing.T, lines []string) {
	reclaim, queues := model.ReclaimAny, map[string]*model.Queue{}
	add := func(name, parent string, nominal, weight int64) {
		q := &model.Queue{Name: name, Parent: parent, Weight: weight, Guaranteed: map[string]int64{model.CPU: nominal}}
		queues[name] = q
		for above := queues[parent]; above != nil; above = queues[above.Parent] {
			above.Guaranteed[model.CPU] += nominal
		}
		k.size += nominal
		k.queues = append(k.queues, q)
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		require.NoError(t, err)
		return n
	}
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0] == "#":
		case f[0] == "cohort":
			for _, q := range f[1:] {
				name, quota, _ := strings.Cut(q, "=")
				nominal, weight, weighted := strings.Cut(quota, ",")
				if !weighted {
					weight = fmt.Sprint(policy.PPM)
				}
				add(name, "", number(nominal), number(weight))
			}
		case f[0] == "node" && f[2] == "-": // the top
			k.size += number(f[3])
		case f[0] == "node":
			parent, weight := f[2], int64(policy.PPM)
			if queues[parent] == nil {
				parent = ""
			}
			if len(f) > 4 {
				weight = number(strings.TrimPrefix(f[4], "weight="))
			}
			add(f[1], parent, number(f[3]), weight)
		case f[0] == "run":
			w := at(f[1], f[2], number(f[3]), 0)
			if len(f) > 4 {
				w.Priority = int32(number(f[4]))
			}
			k.running = append(k.running, w)
		case f[0] == "reclaim":
			reclaim = model.ReclaimLower
		case f[0] == "ask":
			k.ask = at("ask", f[1], number(f[2]), 0)
		case f[0] == "want":
			k.want = append(k.want, f[1])
		}
	}
	for _, q := range queues {
		q.Reclaim = reclaim
	}
	slices.Sort(k.want)
}

// On one node, with one resource, whoever is chosen is whom the quotas of package share
// choose, unless it would not last.
func TestReclaimIsFairPreemptionOnOneNode(t *testing.T) {
	t.Parallel()
	seed := seeds(t, 1)[0]
	rng := rand.New(rand.NewPCG(seed, 1))
	made, brief := 0, 0
	for n := range 6000 {
		nodes := []policy.QuotaNode{{Name: "top", Parent: policy.Root, Nominal: []int64{rng.Int64N(4)}}}
		var ends []int
		if n%2 == 0 {
			for i := range 2 + rng.IntN(3) {
				nodes = append(nodes, policy.QuotaNode{Name: fmt.Sprint("q", i), Parent: 0, Nominal: []int64{rng.Int64N(10)}, Weight: rng.Int64N(3) * policy.PPM})
				ends = append(ends, 1+i)
			}
		} else {
			for i := range 3 {
				nodes = append(nodes, policy.QuotaNode{Name: fmt.Sprint("c", i), Parent: 0, Nominal: []int64{rng.Int64N(4)}, Weight: (1 + rng.Int64N(2)) * policy.PPM})
			}
			for i := range 6 {
				nodes = append(nodes, policy.QuotaNode{Name: fmt.Sprint("q", i), Parent: 1 + i/2, Nominal: []int64{rng.Int64N(8)}, Weight: rng.Int64N(3) * policy.PPM})
				ends = append(ends, 4+i)
			}
		}
		quota, err := policy.NewQuota(nodes, []int{0})
		require.NoError(t, err)
		r := newOneRoom(t, sizeOf(nodes), queuesOf(nodes)...)
		var running []policy.Running
		for i := range 20 {
			w := policy.Running{Name: fmt.Sprintf("w%02d", i), Queue: ends[rng.IntN(len(ends))], Amounts: []int64{1 + rng.Int64N(4)}, Priority: rng.Int64N(3)}
			if quota.Available(w.Queue, 0) >= w.Amounts[0] {
				require.NoError(t, quota.Add(w.Queue, w.Amounts))
				running = append(running, w)
				r.run(at(w.Name, nodes[w.Queue].Name, w.Amounts[0], int32(w.Priority)))
			}
		}
		p := policy.Preemptor{Queue: ends[rng.IntN(len(ends))], Amounts: []int64{1 + rng.Int64N(6)}, Priority: rng.Int64N(3), Within: policy.LowerPriority, Reclaim: policy.AnyPriority}
		if r.free() >= p.Amounts[0] {
			continue
		}
		victims, fits, err := quota.Victims(p, running)
		require.NoError(t, err)
		var want []string
		for _, v := range victims {
			want = append(want, running[v.Index].Name)
		}
		slices.Sort(want)
		got, lasts := r.makeRoom(runStart, at("p", nodes[p.Queue].Name, p.Amounts[0], int32(p.Priority)))
		require.Equal(t, fits, got != nil, "seed %d, case %d: %v, want %v", seed, n, got, want)
		require.Equal(t, want, got, "seed %d, case %d", seed, n)
		if len(got) > 0 {
			made++
		}
		if !lasts {
			brief++
		}
	}
	t.Logf("%d times room was made; %d times it would not have lasted", made, brief)
	require.Greater(t, made, 500, "seed %d", seed)
}

func sizeOf(nodes []policy.QuotaNode) (size int64) {
	for _, n := range nodes {
		size += n.Nominal[0]
	}
	return size
}

// queuesOf are the nodes but the top as queues, whose guarantees contain what is below them.
func queuesOf(nodes []policy.QuotaNode) (list []model.Object) {
	queues := make([]*model.Queue, len(nodes))
	for i, n := range nodes[1:] {
		q := &model.Queue{Name: n.Name, Weight: n.Weight, Guaranteed: map[string]int64{}, Reclaim: model.ReclaimAny}
		if n.Parent > 0 {
			q.Parent = nodes[n.Parent].Name
		}
		queues[i+1] = q
		for above := i + 1; above > 0; above = nodes[above].Parent {
			queues[above].Guaranteed[model.CPU] += n.Nominal[0]
		}
		list = append(list, q)
	}
	return list
}
