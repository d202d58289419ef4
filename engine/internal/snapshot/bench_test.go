package snapshot

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func benchWorkload(id string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Requests: model.Resources{CPU: 100, Memory: 1 << 20}}}
}

// benchView has workloads on every node, none of which have affinity.
func benchView(nodes, workloads int) *View {
	v := New()
	for i := range nodes {
		v.PutNode(&model.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint(i % 3)})
	}
	for i := range nodes {
		for j := range workloads {
			v.Place(benchWorkload(fmt.Sprint("w", i, "-", j)), fmt.Sprint("node-", i))
		}
	}
	v.Settle()
	runtime.GC() // or it runs through the first thousands of patches
	return v
}

func sizes(b *testing.B, f func(b *testing.B, nodes int)) {
	for _, n := range []int{5000, 20000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) { f(b, n) })
	}
}

func nodeNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("node-", i)
	}
	return names
}

// BenchmarkBranchPlace is what the engine does for every decision: it keeps the
// state before, and puts a workload on a node.
func BenchmarkBranchPlace(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v, names, w := benchView(n, 25), nodeNames(n), benchWorkload("new")
		full := v.Branch()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if i%n == 0 {
				v = full.Branch()
			}
			v.Branch()
			v.Place(w, names[i*7919%n])
			v.Nodes()
		}
	})
}

// BenchmarkBranchReplace takes a workload off a node and puts it back.
func BenchmarkBranchReplace(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v, names, w := benchView(n, 25), nodeNames(n), benchWorkload("new")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			v.Branch()
			v.Replace(w, names[i%64*7919%n])
			v.Nodes()
		}
	})
}

// BenchmarkPlaceInPlace patches a node that is the View's own already.
func BenchmarkPlaceInPlace(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v, w := benchView(n, 25), benchWorkload("new")
		b.ReportAllocs()
		for b.Loop() {
			v.Place(w, "node-77")
			v.Unplace("new", "node-77")
		}
	})
}

// BenchmarkBranchPlaceImages is BenchmarkBranchPlace on nodes with 50 images,
// whose counts do not change.
func BenchmarkBranchPlaceImages(b *testing.B) {
	const n = 1000
	v, names, w := New(), nodeNames(n), benchWorkload("new")
	images := make([]model.NodeImage, 50)
	for i := range images {
		images[i] = model.NodeImage{Names: []string{fmt.Sprint("registry.example/image:", i)}, Size: 1}
	}
	for _, name := range names {
		v.PutNode(&model.Node{Name: name, Images: images})
	}
	v.Settle()
	runtime.GC()
	full := v.Branch()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%n == 0 {
			v = full.Branch()
		}
		v.Branch()
		v.Place(w, names[i%n])
		v.Nodes()
	}
}

// BenchmarkBranchPlaceAffinity is BenchmarkBranchPlace where every node is on
// both lists and both are read after every patch.
func BenchmarkBranchPlaceAffinity(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v, names, w := benchView(n, 5), nodeNames(n), benchWorkload("new")
		anti := benchWorkload("anti")
		anti.AntiAffinity = &model.WorkloadAffinity{Required: make([]model.AffinityTerm, 1)}
		for _, name := range names {
			v.Place(anti, name)
		}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			v.Branch()
			v.Replace(w, names[i*7919%n])
			ns := v.Nodes()
			_, _ = ns.WithAffinity(), ns.WithRequiredAntiAffinity()
		}
	})
}

func BenchmarkBranch(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v := benchView(n, 1)
		b.ReportAllocs()
		for b.Loop() {
			_ = v.Branch()
		}
	})
}

// BenchmarkNodeComes is the cost of a node that comes or goes, the making of
// the order included.
func BenchmarkNodeComes(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v := benchView(n, 1)
		node := &model.Node{Name: "new", Zone: "1"}
		b.ReportAllocs()
		for b.Loop() {
			v.Branch()
			v.PutNode(node)
			v.Branch()
			v.RemoveNode("new")
		}
	})
}

func BenchmarkGet(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		v, names := benchView(n, 1), nodeNames(n)
		ns := v.Nodes()
		for i := 0; b.Loop(); i++ {
			if ns.Get(names[i*7919%n]) == nil {
				b.Fatal("no node")
			}
		}
	})
}

// BenchmarkIterate reads every node through the interface.
func BenchmarkIterate(b *testing.B) {
	const n = 5000
	ns := benchView(n, 1).Nodes()
	for b.Loop() {
		sum := 0
		for i := range ns.Len() {
			if ns.At(i) != nil {
				sum++
			}
		}
		if sum != n {
			b.Fatal(sum)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
}

// BenchmarkBuild makes a View of 20,000 nodes with 25 workloads each; the
// objects themselves are made before.
func BenchmarkBuild(b *testing.B) {
	const n, per = 20000, 25
	nodes := make([]*model.Node, n)
	for i := range nodes {
		nodes[i] = &model.Node{Name: fmt.Sprint("node-", i), Zone: fmt.Sprint(i % 3)}
	}
	workloads := make([]*extpoints.WorkloadInfo, n*per)
	for i := range workloads {
		workloads[i] = benchWorkload(fmt.Sprint(i))
	}
	for b.Loop() {
		before := heap()
		start := time.Now()
		v := New()
		for _, node := range nodes {
			v.PutNode(node)
		}
		v.Settle()
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/nodes")
		for i, w := range workloads {
			v.Place(w, nodes[i%n].Name)
		}
		v.Settle()
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/all")
		b.ReportMetric(float64(heap()-before)/float64(n*per), "B/workload")
		runtime.KeepAlive(v)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
