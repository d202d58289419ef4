package snapshot

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// crowd is workloads on nodes.
type crowd struct {
	nodes, workloads int
	classes          int  // as many as workloads: a label of its own for each
	terms            bool // every workload has an anti-affinity term, one for each class
}

func (c crowd) String() string {
	return fmt.Sprintf("nodes=%d/workloads=%d/classes=%d/terms=%v", c.nodes, c.workloads, c.classes, c.terms)
}

// short makes the crowd small where tests are to be short.
func (c crowd) short() crowd {
	if testing.Short() {
		return crowd{c.nodes / 50, c.workloads / 50, max(c.classes/50, 1), c.terms}
	}
	return c
}

var crowds = []crowd{
	{5000, 50_000, 1, false},
	{5000, 50_000, 1000, false},
	{5000, 50_000, 50_000, false},
	{5000, 50_000, 1000, true},
	{20_000, 500_000, 1, false},
	{20_000, 500_000, 1000, false},
	{20_000, 500_000, 500_000, false},
}

func eachCrowd(b *testing.B, f func(b *testing.B, c crowd)) {
	for _, c := range crowds {
		c = c.short()
		b.Run(c.String(), func(b *testing.B) { f(b, c) })
	}
}

// workload makes workload i with three labels of which one says its class.
func (c crowd) workload(i int) *extpoints.WorkloadInfo {
	w := benchWorkload(fmt.Sprint("w", i))
	w.Namespace = "default"
	if c.classes < c.workloads {
		i %= c.classes
	}
	w.Labels = map[string]string{"app": "web", "tier": "front", "replica": fmt.Sprint(i)}
	if c.terms {
		w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{
			Selector:    model.SelectLabels(w.Labels),
			TopologyKey: "hostname",
		}}}
	}
	return w
}

func (c crowd) list() []*extpoints.WorkloadInfo {
	list := make([]*extpoints.WorkloadInfo, c.workloads)
	for i := range list {
		list[i] = c.workload(i)
	}
	return list
}

func (c crowd) view(list []*extpoints.WorkloadInfo) *View {
	v := New()
	names := nodeNames(c.nodes)
	for i, name := range names {
		zone := fmt.Sprint(i % 3)
		v.PutNode(&model.Node{Name: name, Zone: zone, Labels: map[string]string{"zone": zone, "hostname": name}})
	}
	for i, w := range list {
		v.Place(w, names[i*7919%c.nodes])
	}
	v.Settle()
	runtime.GC()
	return v
}

// BenchmarkPlace puts a workload on a node and takes it off again, once with a
// branch kept before each, as a decision does, and once without.
func BenchmarkPlace(b *testing.B) {
	eachCrowd(b, func(b *testing.B, c crowd) {
		v, names := c.view(c.list()), nodeNames(c.nodes)
		for _, branch := range []bool{true, false} {
			b.Run(fmt.Sprintf("branch=%v", branch), func(b *testing.B) {
				b.ReportAllocs()
				w := c.workload(c.workloads)
				for i := 0; b.Loop(); i++ {
					name := names[i*7919%c.nodes]
					if branch {
						v.Branch()
					}
					v.Place(w, name)
					if branch {
						v.Branch()
					}
					v.Unplace(w.ID, name)
				}
			})
		}
	})
}

// BenchmarkCrowdMemory reports what the View takes for each workload, the
// objects that are put into it left out, and how long it takes to fill it.
func BenchmarkCrowdMemory(b *testing.B) {
	eachCrowd(b, func(b *testing.B, c crowd) {
		list := c.list()
		for b.Loop() {
			before := heap()
			v := c.view(list)
			b.ReportMetric(float64(heap()-before)/float64(c.workloads), "B/workload")
			runtime.KeepAlive(v)
		}
	})
}

// BenchmarkAddTo adds up the counts of a class that is on every node.
func BenchmarkAddTo(b *testing.B) {
	c := crowd{5000, 50_000, 1, false}.short()
	x := c.view(c.list()).Index()
	sums := make([]int32, x.Slots())
	b.ReportAllocs()
	for b.Loop() {
		x.Classes("default", &model.Selector{}, func(c *extpoints.WorkloadClass) { c.Counts.AddTo(sums) })
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.nodes), "ns/node")
}

// BenchmarkClasses finds classes by labels: the one of a replica, and all of
// them, one after the other.
func BenchmarkClasses(b *testing.B) {
	c := crowd{5000, 50_000, 50_000, false}.short()
	x := c.view(c.list()).Index()
	for name, selector := range map[string]*model.Selector{
		"one": model.SelectLabels(map[string]string{"app": "web", "replica": "7"}),
		"all": model.SelectLabels(map[string]string{"app": "web"}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			found := 0
			for b.Loop() {
				x.Classes("default", selector, func(*extpoints.WorkloadClass) { found++ })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(found), "ns/class")
		})
	}
}

// BenchmarkTerms finds the term that selects a workload, among one for each of
// 1,000 classes.
func BenchmarkTerms(b *testing.B) {
	c := crowd{5000, 50_000, 1000, true}.short()
	x := c.view(c.list()).Index()
	labels := c.workload(7).Labels
	b.ReportAllocs()
	for b.Loop() {
		found := 0
		x.Terms(extpoints.RequiredAntiAffinityTerm, labels, func(*extpoints.TermClass) { found++ })
		if found != 1 {
			b.Fatal(found)
		}
	}
}

// BenchmarkTopology asks for a topology that is remembered, and for one that is
// not because a label changes.
func BenchmarkTopology(b *testing.B) {
	c := crowd{nodes: 20_000}.short()
	for _, key := range []string{"zone", "hostname"} {
		v := c.view(nil)
		b.Run(key+"/remembered", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.Index().Topology(key)
			}
		})
		b.Run(key+"/made", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v.PutNode(&model.Node{Name: "node-7", Zone: "1", Labels: map[string]string{"zone": "1", "hostname": fmt.Sprint(i)}})
				v.Index().Topology(key)
			}
		})
	}
}
