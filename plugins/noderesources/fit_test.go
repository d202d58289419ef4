package noderesources

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

func TestContract(t *testing.T) {
	for name, args := range map[string]any{
		"defaults": nil,
		"packing":  FitArgs{Strategy: Strategy{Type: MostAllocated, Resources: []ResourceWeight{{Name: "example.com/gpu", Weight: 5}, {Name: model.EphemeralStorage}}}},
		"curve": &FitArgs{Strategy: Strategy{Type: RequestedToCapacityRatio, Shape: []helper.ShapePoint{
			{Utilization: 0, Score: 0}, {Utilization: 70, Score: 10}, {Utilization: 100, Score: 3},
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(NewFit), Args: args})
		})
	}
}

func TestContractWithIgnored(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(NewFit), Args: FitArgs{IgnoredResourceGroups: []string{"example.com"}},
		Without: map[string]string{"Hints": "as in the reference, hints do not leave out ignored resources"},
	})
}

const (
	scalarA  = "example.com/aaa"
	scalarB  = "example.com/bbb"
	ofKube   = "kubernetes.io/something"
	hugePage = "hugepages-2Mi"
)

func amounts(cpu, memory, storage int64, scalars ...model.Scalar) model.Resources {
	return model.Resources{CPU: cpu, Memory: memory, EphemeralStorage: storage, Scalars: scalars}
}

func some(name string, amount int64) model.Scalar { return model.Scalar{Name: name, Amount: amount} }

func asking(r model.Resources) *model.Workload { return &model.Workload{ID: "w", Requests: r} }

func newFit(t testing.TB, args any) *Fit {
	t.Helper()
	p, err := extpoints.FactoryOf(NewFit)(args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Fit)
}

// filter asks about one node with one workload on it, with and without a
// PreFilter before.
func filter(t *testing.T, f *Fit, want model.Resources, node *model.Node, used model.Resources) *extpoints.Status {
	t.Helper()
	s := extpointstest.NewSituation(asking(want), extpointstest.NodeWith(node, &model.Workload{ID: "other", Requests: used}))
	state := s.State()
	alone := f.Filter(state, s.Workload, s.View.NodeInfos[0])
	if result, status := f.PreFilter(state, s.Workload); result != nil || status != nil {
		t.Errorf("PreFilter: %v, %v", result, status)
	}
	got := f.Filter(state, s.Workload, s.View.NodeInfos[0])
	if got.String() != alone.String() {
		t.Errorf("%v without PreFilter, %v with", alone, got)
	}
	return got
}

func TestFilter(t *testing.T) {
	const (
		now   = "Unschedulable: "
		never = "UnschedulableAndUnresolvable: "
	)
	for _, c := range []struct {
		name       string
		want, used model.Resources
		args       FitArgs
		status     string
	}{
		{"nothing asked for always fits", amounts(0, 0, 0), amounts(10, 20, 20), FitArgs{}, "Success"},
		{"both full", amounts(1, 1, 0), amounts(10, 20, 0), FitArgs{}, now + "Insufficient cpu, Insufficient memory"},
		{"both fit", amounts(1, 1, 0), amounts(5, 5, 0), FitArgs{}, "Success"},
		{"memory fits", amounts(2, 1, 0), amounts(9, 5, 0), FitArgs{}, now + "Insufficient cpu"},
		{"CPU fits", amounts(1, 2, 0), amounts(5, 19, 0), FitArgs{}, now + "Insufficient memory"},
		{"just fits", amounts(5, 1, 0), amounts(5, 19, 0), FitArgs{}, "Success"},
		{"more than the whole node", amounts(11, 1, 0), amounts(0, 0, 0), FitArgs{}, never + "Insufficient cpu"},
		{"one for good, one for now", amounts(11, 20, 0), amounts(0, 1, 0), FitArgs{}, never + "Insufficient cpu, Insufficient memory"},
		{"for good in memory only", amounts(6, 21, 0), amounts(5, 1, 0), FitArgs{}, never + "Insufficient cpu, Insufficient memory"},
		{"disk fits", amounts(0, 0, 10), amounts(0, 0, 10), FitArgs{}, "Success"},
		{"disk full", amounts(0, 0, 10), amounts(0, 0, 20), FitArgs{}, now + "Insufficient ephemeral-storage"},
		{"disk too small", amounts(0, 0, 25), amounts(0, 0, 0), FitArgs{}, never + "Insufficient ephemeral-storage"},
		{"scalar fits", amounts(0, 0, 0, some(scalarA, 1)), amounts(0, 0, 0), FitArgs{}, "Success"},
		{"scalar too small", amounts(1, 1, 0, some(scalarA, 10)), amounts(0, 0, 0), FitArgs{}, never + "Insufficient " + scalarA},
		{"scalar full", amounts(1, 1, 0, some(scalarA, 1)), amounts(0, 0, 0, some(scalarA, 5)), FitArgs{}, now + "Insufficient " + scalarA},
		{"unknown scalar", amounts(1, 1, 0, some(scalarB, 1)), amounts(0, 0, 0), FitArgs{}, never + "Insufficient " + scalarB},
		{"two scalars, by name", amounts(0, 0, 0, some(scalarB, 1), some(scalarA, 6)), amounts(0, 0, 0), FitArgs{}, never + "Insufficient " + scalarA + ", Insufficient " + scalarB},
		{"none of a scalar", amounts(1, 1, 0, some(scalarA, 0)), amounts(0, 0, 0, some(scalarA, 6)), FitArgs{}, "Success"},
		{"nothing but none of a scalar", amounts(0, 0, 0, some(scalarB, 0)), amounts(20, 30, 0), FitArgs{}, "Success"},
		{"overcommitted, but not asked for", amounts(0, 0, 0, some(scalarA, 1)), amounts(20, 30, 30), FitArgs{}, "Success"},
		{"huge pages fit", amounts(0, 0, 0, some(hugePage, 3)), amounts(0, 0, 0, some(hugePage, 2)), FitArgs{}, "Success"},
		{"huge pages full", amounts(0, 0, 0, some(hugePage, 3)), amounts(0, 0, 0, some(hugePage, 3)), FitArgs{}, now + "Insufficient " + hugePage},
		{"ignored scalar", amounts(1, 1, 0, some(scalarB, 1)), amounts(0, 0, 0), FitArgs{IgnoredResources: []string{scalarB}}, "Success"},
		{"another one ignored", amounts(1, 1, 0, some(scalarB, 1)), amounts(0, 0, 0), FitArgs{IgnoredResources: []string{scalarA}}, never + "Insufficient " + scalarB},
		{"ignored group", amounts(1, 1, 0, some(scalarB, 1), some(ofKube, 1)), amounts(0, 0, 0), FitArgs{IgnoredResourceGroups: []string{"example.com"}}, never + "Insufficient " + ofKube},
		{"Kubernetes' own cannot be ignored", amounts(0, 0, 0, some(ofKube, 1), some(hugePage, 9)), amounts(0, 0, 0),
			FitArgs{IgnoredResources: []string{ofKube, hugePage}, IgnoredResourceGroups: []string{"kubernetes.io"}}, never + "Insufficient " + hugePage + ", Insufficient " + ofKube},
		{"a plain name can be ignored", amounts(0, 0, 0, some("licences", 9)), amounts(0, 0, 0), FitArgs{IgnoredResources: []string{"licences"}}, "Success"},
		{"a plain name is no group", amounts(0, 0, 0, some("licences", 9)), amounts(0, 0, 0), FitArgs{IgnoredResourceGroups: []string{"licences"}}, never + "Insufficient licences"},
		{"everything", amounts(11, 21, 21, some(scalarA, 6)), amounts(1, 1, 1), FitArgs{},
			never + "Insufficient cpu, Insufficient memory, Insufficient ephemeral-storage, Insufficient " + scalarA},
		{"many scalars", amounts(0, 0, 0, some("a", 1), some("b", 1), some("c", 1), some("d", 1), some("e", 1)), amounts(0, 0, 0), FitArgs{},
			never + "Insufficient a, Insufficient b, Insufficient c, Insufficient d, Insufficient e"},
	} {
		node := &model.Node{Name: "n", Allocatable: amounts(10, 20, 20, some(scalarA, 5), some(hugePage, 5))}
		if got := filter(t, newFit(t, c.args), c.want, node, c.used); got.String() != c.status {
			t.Errorf("%s: %v, want %s", c.name, got, c.status)
		}
	}
}

// A node that is full of workloads is no reason to call it hopeless, unless
// something else is.
// TestKnownOvercommitment: amounts that Koordinator's manager computes of what is requested and not used (slo-controller/noderesource,
// batchresource/plugin_test.go, commit a7a1b76b) are amounts of the node like others: the first of its tables reports 22 cores and 25 GB for batch
// workloads. They take nothing from the others, who have all cores, and when the amounts shrink nothing more is placed.
func TestKnownOvercommitment(t *testing.T) {
	const batchCPU, batchMemory = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
	batch := func(cpu, memory int64) model.Resources {
		return amounts(0, 0, 0, some(batchCPU, cpu), some(batchMemory, memory))
	}
	node := func(cpu, memory int64) *model.Node {
		return &model.Node{Name: "n", Allocatable: amounts(100_000, 120, 0, some(batchCPU, cpu), some(batchMemory, memory))}
	}
	for _, c := range []struct {
		name         string
		node         *model.Node
		wanted, used model.Resources
		want         string
	}{
		{"what is left of batch", node(22_000, 25), batch(2_000, 5), batch(20_000, 20), "Success"},
		{"more of batch CPU", node(22_000, 25), batch(2_001, 5), batch(20_000, 20), "Unschedulable: Insufficient " + batchCPU},
		{"more of batch memory", node(22_000, 25), batch(2_000, 6), batch(20_000, 20), "Unschedulable: Insufficient " + batchMemory},
		{"all cores beside batch", node(22_000, 25), amounts(100_000, 120, 0), batch(22_000, 25), "Success"},
		{"the amounts have shrunk below what is used", node(10_000, 10), batch(1, 1), batch(20_000, 20), "Unschedulable: Insufficient " + batchCPU + ", Insufficient " + batchMemory},
		{"they are not reported any more", node(0, 0), batch(1, 0), batch(20_000, 20), "UnschedulableAndUnresolvable: Insufficient " + batchCPU},
	} {
		if got := filter(t, newFit(t, nil), c.wanted, c.node, c.used).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestFilterPlaces(t *testing.T) {
	for _, c := range []struct {
		most   int64
		want   model.Resources
		status string
	}{
		{model.Unlimited, amounts(1, 1, 0), "Success"},
		{2, amounts(1, 1, 0), "Success"},
		{1, amounts(0, 0, 0), "Unschedulable: Too many workloads"},
		{1, amounts(10, 1, 0), "Unschedulable: Too many workloads, Insufficient cpu"},
		{1, amounts(11, 1, 0), "UnschedulableAndUnresolvable: Too many workloads, Insufficient cpu"},
		{model.NoWorkloads, amounts(0, 0, 0), "Unschedulable: Too many workloads"},
	} {
		node := &model.Node{Name: "n", Allocatable: amounts(10, 20, 20), MaxWorkloads: c.most}
		if got := filter(t, newFit(t, nil), c.want, node, amounts(1, 1, 0)); got.String() != c.status {
			t.Errorf("at most %d, %+v: %v, want %s", c.most, c.want, got, c.status)
		}
	}
}

// Equal rejections are the same value, so that thousands of full nodes cost
// nothing.
func TestRejectionsAreKept(t *testing.T) {
	f := newFit(t, nil)
	node := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: amounts(10, 20, 20)})
	for _, w := range []*model.Workload{asking(amounts(11, 0, 0)), asking(amounts(0, 0, 0, some("a", 1))), asking(amounts(11, 21, 21, some("a", 1), some("b", 1), some("c", 1)))} {
		s := extpointstest.NewSituation(w, node)
		state := s.State()
		f.PreFilter(state, s.Workload)
		first := f.Filter(state, s.Workload, node)
		if allocs := testing.AllocsPerRun(100, func() { f.Filter(state, s.Workload, node) }); allocs != 0 {
			t.Errorf("%v: %v allocations", first, allocs)
		}
		again := s.State()
		f.PreFilter(again, s.Workload)
		if f.Filter(again, s.Workload, node) != first {
			t.Errorf("%v: another value in another cycle", first)
		}
	}
}

// The number of kept tables is bounded, and what is beyond works all the same.
func TestRejectionTablesAreBounded(t *testing.T) {
	tables := newRejectionTables()
	for i := range 2 * maxTables {
		name := string(rune('A' + i))
		if got := tables.of([]string{name}).get(firstScalar, false).String(); got != "Unschedulable: Insufficient "+name {
			t.Fatal(got)
		}
	}
	kept := 0
	tables.tables.Range(func(any, any) bool { kept++; return true })
	if kept != maxTables {
		t.Errorf("%d tables are kept", kept)
	}
}

func BenchmarkFitFilter(b *testing.B) {
	f := newFit(b, nil)
	for name, want := range map[string]model.Resources{
		"accepted": amounts(1, 1, 0), "rejected": amounts(11, 1, 0), "scalarAccepted": amounts(1, 1, 0, some(scalarA, 1)), "scalarRejected": amounts(1, 1, 0, some(scalarA, 6)),
	} {
		s := extpointstest.NewSituation(asking(want), extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: amounts(10, 20, 20, some(scalarA, 5))}))
		state := s.State()
		f.PreFilter(state, s.Workload)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
