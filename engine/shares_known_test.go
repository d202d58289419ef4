package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// sharesLeftOut are the known answers about shares and quotas that the engine has no policy for.
var sharesLeftOut = map[string]string{
	"DRF4": "where one does not fit the engine goes on with the next", "DRF5": "asset fairness divides without whole tasks",
	"DRF6": "competitive equilibrium divides without whole tasks", "YQ5": "shares are of the cluster, not of an amount of one's own",
	"KD1": "queues at the top have shares, too", "KD9": "there are no flavours of a resource",
	"KD14": "shares are of the cluster, not of what the queue above may use", "KD16": "it is about what is printed", "KD17": "nobody asks whether a queue borrows",
}

// The known answers of dominant resource fairness (queue/share/testdata/drf.txt), with a principal for each member.
func TestKnownDRFInTheEngine(t *testing.T) {
	t.Parallel()
	knownCases(t, "drf.txt", sharesLeftOut, func(t *testing.T, lines [][]string) {
		k := newKnownShares(t)
		var order []string
		for _, f := range lines {
			switch f[0] {
			case "capacity":
				k.capacity(f[1], f[2])
			case "member":
				k.apply(engine.PutObject(&model.Principal{Name: f[1], Shares: k.number(f[3])}))
				k.tasks = append(k.tasks, &model.Workload{Principal: f[1], Requests: k.request(f[5], f[6])})
			case "order":
				order = f[1:]
			}
		}
		require.Equal(t, order, k.fill(func(w *model.Workload) string { return w.Principal }))
	})
}

// Those of hierarchical DRF (hdrf.txt). The engine's policy is another, which comes to the same in these.
func TestKnownHierarchiesInTheEngine(t *testing.T) {
	t.Parallel()
	knownCases(t, "hdrf.txt", sharesLeftOut, func(t *testing.T, lines [][]string) {
		k := newKnownShares(t)
		want, got := map[string]int64{}, map[string]int64{}
		for _, f := range lines {
			switch f[0] {
			case "capacity":
				k.capacity(f[1], f[2])
			case "leaf":
				k.tasks = append(k.tasks, &model.Workload{Queue: f[1], Requests: k.request(f[3], f[4])})
				fallthrough
			case "group":
				k.apply(engine.PutObject(&model.Queue{Name: f[1], Parent: strings.TrimPrefix(f[2], "-"), Weight: 1}))
			case "want":
				want[f[1]] = k.number(f[2])
			}
		}
		for _, name := range k.fill(func(w *model.Workload) string { return w.Queue }) {
			got[name]++
		}
		require.Equal(t, want, got)
	})
}

// Those of quotas with lending (quota.txt): so much more can be placed in a queue, and not one more; and so much where
// nothing is. What is at the top of the source and has nothing below it has nobody to borrow from.
func TestKnownQuotasInTheEngine(t *testing.T) {
	t.Parallel()
	knownCases(t, "quota.txt", sharesLeftOut, func(t *testing.T, lines [][]string) {
		tree := newQuotaTree(t, lines)
		for _, f := range lines {
			if f[0] != "want" {
				continue
			}
			for i, used := range []bool{true, false} {
				most := tree.number(f[2+i])
				require.False(t, tree.placed(used, f[1], most+1), "%s, used %v", f[1], used)
				if most > 0 {
					require.True(t, tree.placed(used, f[1], most), "%s, used %v", f[1], used)
				}
			}
		}
	})
}

// Those of shares of what is borrowed (borrowed.txt), which are said in thousandths, rounded up: a queue has its turn before one beside it
// that has a little more, and after one that has a thousandth less.
func TestKnownBorrowedSharesInTheEngine(t *testing.T) {
	t.Parallel()
	knownCases(t, "borrowed.txt", sharesLeftOut, func(t *testing.T, lines [][]string) {
		tree := newQuotaTree(t, lines)
		for _, f := range lines {
			if f[0] != "share" || tree.queues[f[1]] == nil { // the cohort itself
				continue
			}
			if f[2] == "max" {
				require.Equal(t, "beside", tree.first(f[1], probes))
				continue
			}
			thousandths := tree.number(f[2])
			require.Equal(t, f[1], tree.first(f[1], thousandths*probes/1000+1))
			if thousandths > 0 {
				require.Equal(t, "beside", tree.first(f[1], (thousandths-1)*probes/1000))
			}
		}
	})
}

// knownShares is an engine that orders by queues, with one node.
type knownShares struct {
	t     *testing.T
	raw   *engine.Raw
	tasks []*model.Workload // of whom as many come as there is room for
}

func newKnownShares(t *testing.T) *knownShares {
	cfg := config(&world{})
	cfg.Order = engine.OrderByQueues
	raw, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	return &knownShares{t: t, raw: raw}
}

func (k *knownShares) number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(k.t, err)
	return n
}

func (k *knownShares) apply(changes ...engine.Change) {
	require.NoError(k.t, k.raw.Apply(epoch, changes...))
}

func (k *knownShares) request(cpu, memory string) model.Resources {
	return model.Resources{CPU: k.number(cpu), Memory: k.number(memory)}
}

func (k *knownShares) capacity(cpu, memory string) {
	k.apply(engine.PutNode(&model.Node{Name: "n", Allocatable: k.request(cpu, memory), MaxWorkloads: model.Unlimited}))
}

// fill submits as many tasks of each kind as could ever fit, so that of equal shares the first kind goes first, and says in which order they are placed.
func (k *knownShares) fill(name func(*model.Workload) string) (order []string) {
	for _, of := range k.tasks {
		for i := range 60 {
			w := of.Clone()
			w.ID = fmt.Sprint(name(of), "/", i)
			k.apply(engine.Submit(w))
		}
	}
	var placed []string
	for k.raw.Schedule(epoch) {
		for row := range k.raw.View().WorkloadsIn(model.Assumed) {
			if !slices.Contains(placed, row.ID) {
				placed = append(placed, row.ID)
				order = append(order, name(row.Workload))
			}
		}
	}
	return order
}

// quotaTree is a tree of quotas of the source, as queues. There the quota of a cohort is on top of those below it, and it
// lends what they lend; here it contains them, and says so itself.
type quotaTree struct {
	*knownShares
	cells  []string // the names of the resources
	queues map[string]*model.Queue
	roots  map[string]bool
	size   model.Resources
	uses   map[string]model.Resources
}

func newQuotaTree(t *testing.T, lines [][]string) *quotaTree {
	q := &quotaTree{
		knownShares: newKnownShares(t), cells: []string{model.CPU}, queues: map[string]*model.Queue{}, roots: map[string]bool{}, uses: map[string]model.Resources{},
	}
	var nodes [][]string
	for _, f := range lines {
		switch f[0] {
		case "cells":
			q.cells = f[1:]
		case "node":
			nodes = append(nodes, f)
		case "use", "request":
			q.use(f[1], f[2:])
		}
	}
	for _, f := range nodes {
		q.add(f, slices.ContainsFunc(nodes, func(below []string) bool { return below[2] == f[1] }))
	}
	for _, f := range nodes {
		if queue := q.queues[f[1]]; queue != nil && queue.Parent == "" {
			q.contain(queue)
		}
	}
	return q
}

// use adds to what is used in the queue, by resource.
func (q *quotaTree) use(name string, amounts []string) {
	sum := q.uses[name]
	for i, n := range amounts {
		sum.Set(q.cells[i], sum.Get(q.cells[i])+q.number(n))
	}
	q.uses[name] = sum
}

// add adds a queue for a line "node name parent nominal... [borrow=] [lend=] [weight=] [use=]". What is at the top and has
// others below it is the cluster.
func (q *quotaTree) add(f []string, parent bool) {
	queue := &model.Queue{Name: f[1], Parent: f[2], Weight: 1_000_000, Guaranteed: map[string]int64{}}
	if q.roots[f[2]] || f[2] == "-" {
		queue.Parent = ""
	}
	for i, cell := range q.cells {
		n := q.number(f[3+i])
		queue.Guaranteed[cell] = n
		q.size.Set(cell, q.size.Get(cell)+n)
	}
	if f[2] == "-" && parent {
		q.roots[f[1]] = true
		return
	}
	if f[2] == "-" {
		queue.Max = queue.Guaranteed
	}
	q.queues[f[1]] = queue
	for _, option := range f[3+len(q.cells):] {
		switch key, value, _ := strings.Cut(option, "="); key {
		case "borrow":
			queue.Borrow = q.amounts(value)
		case "lend":
			queue.Lend = q.amounts(value)
		case "weight":
			queue.Weight = q.number(value)
		case "use":
			q.use(f[1], []string{value})
		}
	}
}

// amounts reads amounts by resource; "-" is no limit.
func (q *quotaTree) amounts(list string) map[string]int64 {
	m := map[string]int64{}
	for i, n := range strings.Split(list, ",") {
		if n != "-" {
			m[q.cells[i]] = q.number(n)
		}
	}
	return m
}

// contain has the queue guarantee what those below it are guaranteed, too, and lend no more than they lend.
func (q *quotaTree) contain(queue *model.Queue) {
	lends := maps.Clone(queue.Guaranteed)
	for _, below := range q.queues {
		if below.Parent != queue.Name {
			continue
		}
		q.contain(below)
		for cell, n := range below.Guaranteed {
			queue.Guaranteed[cell] += n
			if lend, said := below.Lend[cell]; said {
				n = lend
			}
			lends[cell] += n
		}
	}
	for cell, n := range lends {
		if lend, said := queue.Lend[cell]; said {
			n = min(n, lend)
		}
		if n < queue.Guaranteed[cell] {
			if queue.Lend == nil {
				queue.Lend = map[string]int64{}
			}
			queue.Lend[cell] = n
		}
	}
}

// engine makes an engine with the queues, and what is used in them where that is wanted.
func (q *quotaTree) engine(used bool, more map[string]int64) {
	q.raw = newKnownShares(q.t).raw
	size := q.size.Clone()
	for name, n := range more {
		size.Set(name, n)
	}
	q.apply(engine.PutNode(&model.Node{Name: "n", Allocatable: size, MaxWorkloads: model.Unlimited}))
	for _, queue := range q.queues {
		q.apply(engine.PutObject(queue))
	}
	for name, use := range q.uses {
		if used {
			q.apply(engine.Adopt(&model.Workload{ID: "use/" + name, Queue: name, Requests: use}, model.Binding{Node: "n"}))
		}
	}
}

// placed reports whether so much more could be placed in the queue.
func (q *quotaTree) placed(used bool, queue string, amount int64) bool {
	q.engine(used, nil)
	q.apply(engine.Submit(&model.Workload{ID: "ask", Queue: queue, Requests: model.Resources{CPU: amount}}))
	q.raw.Schedule(epoch)
	row, _ := q.raw.View().Workload("ask")
	return row.Phase == model.Assumed
}

// probes is how much there is of a resource that nothing else asks for.
const probes = 1_000_000_000

// first says which has its turn first: the queue, or one beside it that uses so much of that resource.
func (q *quotaTree) first(queue string, uses int64) string {
	q.engine(true, map[string]int64{"probe": probes})
	beside := &model.Queue{Name: "beside", Parent: q.queues[queue].Parent, Weight: 1_000_000}
	use := &model.Workload{ID: "use/beside", Queue: "beside"}
	use.Requests.Set("probe", uses)
	q.apply(engine.PutObject(beside), engine.Adopt(use, model.Binding{Node: "n"}))
	q.apply(engine.Submit(&model.Workload{ID: "1", Queue: queue}), engine.Submit(&model.Workload{ID: "2", Queue: "beside"}))
	require.True(q.t, q.raw.Schedule(epoch))
	for row := range q.raw.View().WorkloadsIn(model.Assumed) {
		return row.Queue
	}
	return ""
}
