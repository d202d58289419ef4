package volumebinding

import (
	"fmt"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// benchNodes is the number of nodes of the benchmarks. Aims: PreFilter below 2 us
// for each free volume of a claim's class, Filter and Score below 1 us a node and
// claim, without allocation.
const benchNodes = 5000

// benchView is a view whose storage is as fast as that of an engine.
type benchView struct {
	extpoints.ClusterView
	storage extpoints.Storage
}

func (v *benchView) Storage() extpoints.Storage { return v.storage }

type benchStorage struct {
	extpoints.Storage
	claims     map[string]*model.VolumeClaim
	volumes    map[string][]*model.Volume // by class
	capacities []*model.StorageCapacity
}

func (s *benchStorage) Claim(id string) *model.VolumeClaim               { return s.claims[id] }
func (s *benchStorage) Volumes(class string) []*model.Volume             { return s.volumes[class] }
func (s *benchStorage) Capacities(class string) []*model.StorageCapacity { return s.capacities }

// benchCases are workloads by the claims that they use: bound ones, and ones of
// a class with a volume on each node, or with a capacity for each.
var benchCases = map[string][]string{
	"none":          nil,
	"bound":         {"bound"},
	"local":         {"local-1"},
	"three local":   {"local-1", "local-2", "local-3"},
	"tracked":       {"tracked"},
	"local-tracked": {"local-1", "tracked"},
}

// benchSituation has three volumes and one capacity for each node.
func benchSituation(claims []string) (*extpoints.CycleState, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) {
	var nodes []*extpoints.NodeInfo
	storage := &benchStorage{claims: map[string]*model.VolumeClaim{}, volumes: map[string][]*model.Volume{}}
	for i := range benchNodes {
		name := fmt.Sprintf("node-%04d", i)
		nodes = append(nodes, extpoints.NewNodeInfo(modeltest.Node(name).Label(host, name).Label("zone", fmt.Sprint(i%3)).Build()))
		for j := range 3 {
			v := localVolume(fmt.Sprintf("volume-%04d-%d", i, j), int64(100+(i*7+j*13)%50)).On(host, name).Build()
			storage.volumes["local"] = append(storage.volumes["local"], v)
		}
		storage.capacities = append(storage.capacities, capacity(name, "tracked", onHost(name), int64(100+i%50), -1))
	}
	storage.claims["bound"] = claim("bound", "local").Bound("bound").Build()
	for i := range 3 {
		id := fmt.Sprintf("local-%d", i+1)
		storage.claims[id] = claim(id, "local").Request(90).Build()
	}
	storage.claims["tracked"] = claim("tracked", "tracked").Request(90).Build()
	s := extpointstest.NewSituation(using(claims...).Build(), nodes...)
	s.View.Put(classes...)
	s.View.Put(modeltest.Volume("bound").Class("local").On("zone", "1").Build())
	storage.Storage = s.View.Storage()
	view := &benchView{s.View, storage}
	return extpoints.NewCycle(extpoints.CycleOptions{View: view, Now: extpointstest.Now, Seed: 1}).State(), s.Workload, nodes
}

func BenchmarkPreFilter(b *testing.B) {
	for name, claims := range benchCases {
		b.Run(name, func(b *testing.B) {
			p := newPlugin(b, nil, nil)
			state, w, _ := benchSituation(claims)
			b.ReportAllocs()
			for b.Loop() {
				p.PreFilter(state, w)
			}
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, claims := range benchCases {
		b.Run(name, func(b *testing.B) {
			p := newPlugin(b, nil, nil)
			state, w, nodes := benchSituation(claims)
			p.PreFilter(state, w)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				p.Filter(state, w, nodes[i%len(nodes)])
				i++
			}
		})
	}
}

func BenchmarkScore(b *testing.B) {
	for name, claims := range benchCases {
		b.Run(name, func(b *testing.B) {
			p := newPlugin(b, nil, nil)
			state, w, nodes := benchSituation(claims)
			p.PreFilter(state, w)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				p.Score(state, w, nodes[i%len(nodes)])
				i++
			}
		})
	}
}

// Filter and Score are called for every node, and do not allocate.
func TestNoAllocation(t *testing.T) {
	for name, claims := range benchCases {
		p := newPlugin(t, nil, nil)
		state, w, nodes := benchSituation(claims)
		p.PreFilter(state, w)
		if status := p.Filter(state, w, nodes[1]); status != nil {
			t.Errorf("%s: %v", name, status)
		}
		for point, call := range map[string]func(){
			"Filter": func() { p.Filter(state, w, nodes[1]) },
			"Score":  func() { p.Score(state, w, nodes[1]) },
		} {
			if allocs := testing.AllocsPerRun(100, call); allocs != 0 {
				t.Errorf("%s: %s allocates %v times", name, point, allocs)
			}
		}
	}
}
