package store

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

// fleet is a store with workloads bound evenly to nodes, or pending; every
// other workload may be of a group of eight.
type fleet struct {
	workloads int
	perNode   int
	pending   bool
	grouped   bool
	batch     int
	// ownLabels: each workload has a label map of its own, not one that all
	// share.
	ownLabels bool
}

// many is the size of a large fleet; under -short only the code is exercised.
func many() int {
	if testing.Short() {
		return 10_000
	}
	return 500_000
}

func benchID(i int) string { return fmt.Sprintf("%08x-58cc-4372-a567-%012x", uint32(i)*2654435761, i) }

func benchNode(i int) string { return fmt.Sprintf("node-%05d", i) }

func (f fleet) workload(i int, shared map[string]string) *model.Workload {
	w := &model.Workload{ID: benchID(i), Namespace: "default", Name: fmt.Sprintf("job-%07d", i), Labels: shared}
	w.Requests.CPU, w.Requests.Memory = 500, 1<<30
	if f.ownLabels {
		w.Labels = map[string]string{"app": fmt.Sprintf("app-%d", i%997), "tier": "batch", "run": fmt.Sprintf("run-%d", i)}
	}
	if f.grouped {
		w.Group = fmt.Sprintf("group-%06d", i/8)
	}
	return w
}

// build makes the specs first, so that the cost of the store can be told from
// theirs: between is called when they are there.
func (f fleet) build(tb testing.TB, between func()) (*Store, []*model.Workload) {
	if f.batch == 0 {
		f.batch = BatchSize
	}
	shared := map[string]string{"app": "app-1", "tier": "batch", "run": "run-1"}
	specs := make([]*model.Workload, f.workloads)
	for i := range specs {
		specs[i] = f.workload(i, shared)
	}
	s := New()
	t := s.Begin()
	for i := range f.workloads / f.perNode {
		must(tb, t.PutNode(&model.Node{Name: benchNode(i)}))
	}
	t.Commit()
	if between != nil {
		between()
	}
	for i := 0; i < len(specs); {
		t := s.Begin()
		for end := min(i+f.batch, len(specs)); i < end; i++ {
			must(tb, t.Submit(specs[i]))
		}
		t.Commit()
	}
	for i := 0; i < len(specs) && !f.pending; {
		t := s.Begin()
		for end := min(i+f.batch, len(specs)); i < end; i++ {
			_, err := t.Assume(f.binding(i, specs), time.Unix(1, 0))
			must(tb, err)
			must(tb, t.Bind(specs[i].ID))
		}
		t.Commit()
	}
	return s, specs
}

func (f fleet) binding(i int, specs []*model.Workload) model.Binding {
	return model.Binding{Workload: specs[i].ID, Node: benchNode(i % (f.workloads / f.perNode))}
}

func must(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

type namedFleet struct {
	name string
	fleet
}

func benchFleets() []namedFleet {
	return []namedFleet{
		{"10k", fleet{workloads: 10_000, perNode: 50, pending: true}},
		{"10k-grouped", fleet{workloads: 10_000, perNode: 50, pending: true, grouped: true}},
		{"500k", fleet{workloads: many(), perNode: 50, pending: true}},
		{"500k-grouped", fleet{workloads: many(), perNode: 50, pending: true, grouped: true}},
	}
}

// BenchmarkCycle is the three transactions of a workload that is placed, with
// one row each.
func BenchmarkCycle(b *testing.B) {
	for _, bf := range benchFleets() {
		s, specs := bf.build(b, nil)
		step := func(name string, start func(t *Txn, i int), one func(t *Txn, i int)) {
			b.Run(bf.name+"/"+name, func(b *testing.B) {
				from := s.Snapshot()
				b.ReportAllocs()
				for n := 0; b.Loop(); n++ {
					i := n * 7919 % len(specs)
					if n%1000 == 0 { // so that no workload comes up twice
						b.StopTimer()
						from = s.Snapshot()
						t := from.Begin()
						for k := range 1000 {
							start(t, (n+k)*7919%len(specs))
						}
						t.Commit()
						b.StartTimer()
					}
					t := from.Begin()
					one(t, i)
					t.Commit()
				}
			})
		}
		assume := func(t *Txn, i int) { _, err := t.Assume(bf.binding(i, specs), time.Unix(1, 0)); must(b, err) }
		bind := func(t *Txn, i int) { must(b, t.Bind(specs[i].ID)) }
		confirm := func(t *Txn, i int) {
			must(b, t.Confirm(specs[i].ID, bf.binding(i, specs).Node, nil, time.Time{}))
		}
		step("Assume", func(*Txn, int) {}, assume)
		step("Bind", assume, bind)
		step("Confirm", func(t *Txn, i int) { assume(t, i); bind(t, i) }, confirm)
		b.Run(bf.name+"/Assume-batch-1000", func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				from := s.Snapshot()
				t := from.Begin()
				for k := range 1000 {
					assume(t, (n*1000+k)*7919%len(specs))
				}
				t.Commit()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
		})
	}
}

func BenchmarkReads(b *testing.B) {
	s, specs := fleet{workloads: many(), perNode: 50}.build(b, nil)
	b.Run("Snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Snapshot()
		}
	})
	b.Run("Workload", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			s.Workload(specs[n*7919%len(specs)].ID)
		}
	})
	b.Run("WorkloadsOn-50", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			for range s.WorkloadsOn(benchNode(n % (many() / 50))) {
			}
		}
	})
	b.Run("WorkloadsIn-500k", func(b *testing.B) {
		for b.Loop() {
			for range s.WorkloadsIn(model.Bound) {
			}
		}
	})
}

// BenchmarkMemory reports the heap of a bound workload: the store's own share,
// and the spec's, which the store does not make.
func BenchmarkMemory(b *testing.B) {
	for _, f := range []fleet{
		{workloads: many(), perNode: 50},
		{workloads: many(), perNode: 50, ownLabels: true},
		{workloads: many(), perNode: 50, grouped: true},
	} {
		b.Run(fmt.Sprintf("grouped=%v/ownLabels=%v", f.grouped, f.ownLabels), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				var specs uint64
				s, list := f.build(b, func() { specs = heap() })
				after := heap()
				b.ReportMetric(float64(after-specs)/float64(f.workloads), "store-B/row")
				b.ReportMetric(float64(specs-before)/float64(f.workloads), "spec-B/row")
				runtime.KeepAlive(s)
				runtime.KeepAlive(list)
			}
		})
	}
}

// BenchmarkLoad is Submit, Assume and Bind of 500,000 workloads, by the size of
// the transactions.
func BenchmarkLoad(b *testing.B) {
	for _, batch := range []int{100, 1000, BatchSize, 16_000, 500_000} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			for b.Loop() {
				fleet{workloads: many(), perNode: 50, batch: batch}.build(b, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(many()), "ns/row")
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
