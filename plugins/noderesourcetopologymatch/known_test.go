package noderesourcetopologymatch

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

//go:embed testdata
var testdata embed.FS

// read reads a file of known answers.
func read[T any](t *testing.T, name string) (known T) {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &known); err != nil {
		t.Fatal(err)
	}
	return known
}

// resources are amounts by name.
type resources map[string]int64

func (r resources) model() (list model.Resources) {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		list.Set(name, r[name])
	}
	return list
}

// workload is one of the class, with the containers.
func workload(class model.QoSClass, startup, containers []resources) *model.Workload {
	w := &model.Workload{ID: "w", QoS: class}
	var first model.Resources
	for i, r := range append(slices.Clone(startup), containers...) {
		c := model.Container{Name: string(rune('a' + i)), Startup: i < len(startup), Requests: r.model()}
		w.Containers = append(w.Containers, c)
		if !c.Startup {
			w.Requests.Add(&c.Requests)
			continue
		}
		for _, name := range c.Requests.Names() {
			first.Set(name, max(first.Get(name), c.Requests.Get(name)))
		}
	}
	for _, name := range first.Names() {
		w.Requests.Set(name, max(w.Requests.Get(name), first.Get(name)))
	}
	return w
}

// nodeOf is a node that has what its zones have, and more.
func nodeOf(name string, zones []model.NodeZone, more resources) *extpoints.NodeInfo {
	n := &model.Node{Name: name}
	for _, z := range zones {
		for _, r := range z.Resources {
			n.Allocatable.Add(new(model.Resources{}.With(r.Name, r.Allocatable)))
		}
	}
	for name, amount := range more {
		n.Allocatable.Set(name, amount)
	}
	return extpointstest.NodeWith(n)
}

// ask asks the plugin about a node with such a topology, nil for none.
func ask(t *testing.T, a Args, mode extpoints.Compat, w *model.Workload, n *extpoints.NodeInfo, topology *model.NodeTopology) (*NodeResourceTopologyMatch, *extpoints.CycleState, *extpoints.WorkloadInfo) {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = mode
	p, err := New(a, h)
	if err != nil {
		t.Fatal(err)
	}
	s := extpointstest.NewSituation(w, n)
	if topology != nil {
		if err := topology.Validate(); err != nil {
			t.Fatal(err)
		}
		s.View.Put(topology)
	}
	return p, s.State(), s.Workload
}

var bothModes = []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137}

// Known answers of the upstream plugin: filter_test.go, all rows. What upstream leaves out of
// a report, a zone with an ID beyond the largest, is left out of the data.
func TestKnownFilters(t *testing.T) {
	known := read[struct {
		Nodes []struct {
			Name  string
			Scope model.TopologyScope
			Zones []model.NodeZone
			More  resources
		}
		Rows []struct {
			Name, Node, Want string
			QoS              model.QoSClass
			Init, Containers []resources
		}
	}](t, "filter.json")
	if len(known.Rows) != 71 {
		t.Errorf("%d rows", len(known.Rows))
	}
	for _, row := range known.Rows {
		for _, n := range known.Nodes {
			if n.Name != row.Node {
				continue
			}
			zones := slices.DeleteFunc(slices.Clone(n.Zones), func(z model.NodeZone) bool { return z.ID > 63 })
			topology := &model.NodeTopology{Node: n.Name, At: extpointstest.Now, Policy: model.AlignSingleZone, Scope: n.Scope, Zones: zones}
			for _, mode := range bothModes {
				node := nodeOf(n.Name, n.Zones, n.More)
				p, s, w := ask(t, Args{}, mode, workload(row.QoS, row.Init, row.Containers), node, topology)
				st := p.Filter(s, w, node)
				if st.Message() != row.Want || row.Want != "" && st.Code() != extpoints.Unschedulable {
					t.Errorf("%s, %v: got %v, want %q", row.Name, mode, st, row.Want)
				}
			}
		}
	}
}

// scores are the known answers about scores.
type scores struct {
	Fleets []struct {
		Fleet, Name string
		Zones       []model.NodeZone
	}
	Rows []struct {
		Name, Nodes string
		Strategy    Strategy
		Policy      model.TopologyPolicy
		Scope       model.TopologyScope
		Containers  []resources
		Without     []string // nodes that have no report
		Want        map[string]int64
	}
	Choices []struct {
		Name   string
		Zones  []model.NodeZone
		Wanted resources
		Want   []int
		Near   bool
	}
}

// Known answers of the upstream plugin: score_test.go, all rows. Where upstream compares only
// the best node, what the formula says of the others is there too.
func TestKnownScores(t *testing.T) {
	known := read[scores](t, "score.json")
	for _, row := range known.Rows {
		for _, f := range known.Fleets {
			if f.Fleet != row.Nodes {
				continue
			}
			topology := &model.NodeTopology{Node: f.Name, At: extpointstest.Now, Policy: row.Policy, Scope: row.Scope, Zones: f.Zones}
			if slices.Contains(row.Without, f.Name) {
				topology = nil
			}
			node := nodeOf(f.Name, f.Zones, nil)
			for _, mode := range bothModes {
				p, s, w := ask(t, Args{Strategy: row.Strategy}, mode, workload(model.Guaranteed, nil, row.Containers), node, topology)
				if got, st := p.Score(s, w, node); got != row.Want[f.Name] || st != nil {
					t.Errorf("%s, %s, %v: got %d, %v, want %d", row.Name, f.Name, mode, got, st, row.Want[f.Name])
				}
			}
		}
	}
}

// Known answers of the upstream plugin: least_numa_test.go, TestNUMANodesRequired. Zones that
// are in no order there are in the order of their IDs here.
func TestKnownChoices(t *testing.T) {
	for _, row := range read[scores](t, "score.json").Choices {
		slices.SortFunc(row.Zones, func(a, b model.NodeZone) int { return a.ID - b.ID })
		topology := &model.NodeTopology{Node: "n", At: extpointstest.Now, Zones: row.Zones}
		z := zonesAlone(topology)
		chosen, near := z.choose(amounts(nil, new(row.Wanted.model())))
		var ids []int
		for _, i := range chosen {
			ids = append(ids, row.Zones[i].ID)
		}
		if !slices.Equal(ids, row.Want) || near != row.Near {
			t.Errorf("%s: got %v, %v, want %v, %v", row.Name, ids, near, row.Want, row.Near)
		}
	}
}

// zonesAlone are the zones as they are reported.
func zonesAlone(t *model.NodeTopology) *zones {
	p, z := &NodeResourceTopologyMatch{book: Ignore}, &zones{}
	p.zonesOf(z, extpointstest.NewView(), t, extpoints.NewNodeInfo(&model.Node{Name: t.Node}), nil)
	return z
}

// Known answers of the upstream plugin: least_numa_test.go, TestMinDistance and
// TestNormalizeScore.
func TestKnownDistances(t *testing.T) {
	topology := &model.NodeTopology{Node: "n", At: extpointstest.Now, Zones: []model.NodeZone{
		{ID: 0, Distances: map[int]int{0: 10, 1: 12, 2: 20, 3: 20}}, {ID: 1, Distances: map[int]int{0: 12, 1: 10, 2: 20, 3: 20}},
		{ID: 2, Distances: map[int]int{0: 20, 1: 20, 2: 10, 3: 12}}, {ID: 3, Distances: map[int]int{0: 20, 1: 20, 2: 12, 3: 10}},
	}}
	z := zonesAlone(topology)
	for _, c := range []struct {
		size int
		want float32
	}{{1, 10}, {2, 11}, {3, 14.888889}} {
		least := float32(1000)
		set := []int{0, 1, 2}[:c.size]
		for more := true; more; more = next(set, 4) {
			least = min(least, z.distance(set))
		}
		if least != c.want {
			t.Errorf("the least of %d is %v, want %v", c.size, least, c.want)
		}
	}
	z = zonesAlone(&model.NodeTopology{Node: "n", Zones: make([]model.NodeZone, 4)})
	if d := z.distance([]int{0, 3}); d != 255 {
		t.Errorf("what is not known is %v", d)
	}
	for _, c := range []struct {
		zones int // that one unit of each is in
		near  bool
		want  int64
	}{{1, false, 88}, {2, false, 76}, {8, false, 4}, {1, true, 94}, {2, true, 82}, {8, true, 10}} {
		topology := &model.NodeTopology{Node: "n"}
		for i := range 9 {
			zone := model.NodeZone{ID: i, Distances: map[int]int{}}
			for to := range 9 {
				zone.Distances[to] = 10
				if !c.near && i > 0 && to > 0 {
					zone.Distances[to] = 20
				}
			}
			if n := int64(1); i > 0 || c.near { // the first has nothing left, and is the nearest
				zone.Resources = []model.ZoneResource{{Name: "x", Allocatable: n, Available: n}}
			}
			topology.Zones = append(topology.Zones, zone)
		}
		got := zonesAlone(topology).fewest([]model.Container{{Requests: model.Resources{}.With("x", int64(c.zones))}}, false)
		if got != c.want {
			t.Errorf("%d zones, near %v: %d, want %d", c.zones, c.near, got, c.want)
		}
	}
}

// The report is about a moment: how old it may be, and how those count that were placed since.
func TestBooks(t *testing.T) {
	zone := func(id int, left int64) model.NodeZone {
		return model.NodeZone{ID: id, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: left}}}
	}
	cpu := func(id string, n int64) *model.Workload {
		return &model.Workload{ID: id, QoS: model.Guaranteed, Requests: model.Resources{CPU: n}}
	}
	const before, after = -time.Minute, time.Minute
	for _, c := range []struct {
		name   string
		args   Args
		mode   extpoints.Compat
		placed time.Duration // after the report
		listed bool
		in     []string
		w      *model.Workload
		other  *model.Workload
		age    time.Duration
		want   string
	}{
		{name: "placed before the report", placed: before, w: cpu("w", 4000), other: cpu("o", 2000)},
		{name: "placed since, it may be in any zone", placed: after, w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "and there is enough in each", placed: after, w: cpu("w", 2000), other: cpu("o", 2000)},
		{name: "placed at that moment", w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "it takes nothing for itself", placed: after, w: cpu("w", 4000), other: &model.Workload{ID: "o", Requests: model.Resources{CPU: 2000}}},
		{name: "in the list", placed: before, listed: true, in: []string{"o"}, w: cpu("w", 4000), other: cpu("o", 2000)},
		{name: "in the list, and placed again since", placed: after, listed: true, in: []string{"o"}, w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "not in the list", placed: before, listed: true, w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "in a list that is not all", placed: after, in: []string{"o"}, w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "waiting for a report", args: Args{Book: Wait}, placed: after, w: cpu("w", 1000), other: cpu("o", 1000), want: "invalid node topology data"},
		{name: "which has come", args: Args{Book: Wait}, placed: before, w: cpu("w", 1000), other: cpu("o", 1000)},
		{name: "not waiting for one that takes nothing", args: Args{Book: Wait}, placed: after, w: cpu("w", 1000), other: &model.Workload{ID: "o"}},
		{name: "ignored", args: Args{Book: Ignore}, placed: after, w: cpu("w", 4000), other: cpu("o", 2000)},
		{name: "ignored as upstream by default", mode: extpoints.KubeScheduler137, placed: after, w: cpu("w", 4000), other: cpu("o", 2000)},
		{name: "not ignored as upstream if told so", args: Args{Book: OverReserve}, mode: extpoints.KubeScheduler137, placed: after, w: cpu("w", 4000), other: cpu("o", 2000), want: "cannot align container"},
		{name: "just new enough", args: Args{MaxAge: time.Hour}, age: time.Hour, placed: before, w: cpu("w", 4000), other: cpu("o", 2000)},
		{name: "too old", args: Args{MaxAge: time.Hour}, age: time.Hour + 1, placed: before, w: cpu("w", 4000), other: cpu("o", 2000), want: "invalid node topology data"},
		{name: "too old, and nothing is aligned", args: Args{MaxAge: time.Hour}, age: time.Hour + 1, placed: before, w: &model.Workload{ID: "w"}, other: cpu("o", 2000)},
	} {
		at := extpointstest.Now.Add(-c.age)
		n := nodeOf("n", []model.NodeZone{zone(0, 4000), zone(1, 4000)}, nil)
		n.AddWorkload(&extpoints.WorkloadInfo{Workload: c.other, PlacedAt: at.Add(c.placed)})
		topology := &model.NodeTopology{
			Node: "n", At: at, Policy: model.AlignSingleZone, Listed: c.listed, Workloads: c.in, Zones: []model.NodeZone{zone(0, 4000), zone(1, 3000)},
		}
		p, s, w := ask(t, c.args, c.mode, c.w, n, topology)
		if st := p.Filter(s, w, n); st.Message() != c.want {
			t.Errorf("%s: got %v, want %q", c.name, st, c.want)
		}
		if score, st := p.Score(s, w, n); st != nil || c.want != "" && c.want != "cannot align container" && score != 0 {
			t.Errorf("%s: score %d, %v", c.name, score, st)
		}
	}
}

// Whoever is taken off the node to try something out gives back what it has, if that is known,
// and only then.
func TestGivingBack(t *testing.T) {
	cpu := model.Resources{CPU: 3000}
	full := []model.NodeZone{
		{ID: 0, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: 1000}}},
		{ID: 2, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: 1000}}},
	}
	for _, c := range []struct {
		name   string
		uses   []model.ZoneUse
		remove string
		want   string
	}{
		{"nobody goes", []model.ZoneUse{{Workload: "a", Zone: 0, Resources: cpu}}, "", "cannot align container"},
		{"one goes", []model.ZoneUse{{Workload: "a", Zone: 2, Resources: cpu}}, "a", ""},
		{"the other goes, of which nothing is known", []model.ZoneUse{{Workload: "a", Zone: 2, Resources: cpu}}, "b", "cannot align container"},
		{"it has taken from both", []model.ZoneUse{{Workload: "a", Zone: 0, Resources: model.Resources{CPU: 1500}}, {Workload: "a", Zone: 2, Resources: model.Resources{CPU: 1500}}}, "a", "cannot align container"},
		{"more than there is does not come back", []model.ZoneUse{{Workload: "a", Zone: 0, Resources: model.Resources{CPU: 9000}}}, "a", ""},
		{"of one that is not known", []model.ZoneUse{{Workload: "x", Zone: 0, Resources: cpu}}, "", "cannot align container"},
	} {
		n := nodeOf("n", full, nil)
		for _, id := range []string{"a", "b"} {
			n.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, QoS: model.Guaranteed, Requests: cpu}, PlacedAt: extpointstest.Now.Add(-time.Hour)})
		}
		w := &model.Workload{ID: "w", QoS: model.Guaranteed, Requests: model.Resources{CPU: 4000}}
		topology := &model.NodeTopology{Node: "n", At: extpointstest.Now, Policy: model.AlignSingleZone, Zones: full, Workloads: []string{"a", "b", "x"}, Uses: c.uses}
		p, s, info := ask(t, Args{}, extpoints.Improved, w, n, topology)
		trial := n.Clone()
		trial.RemoveWorkload(c.remove)
		if st := p.Filter(s, info, trial); st.Message() != c.want {
			t.Errorf("%s: got %v, want %q", c.name, st, c.want)
		}
	}
}

// What is mended, and how the compatibility switch has it.
func TestMended(t *testing.T) {
	zones := []model.NodeZone{
		{ID: 1, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: 4000}}},
		{ID: 5, Resources: []model.ZoneResource{{Name: model.CPU, Allocatable: 4000, Available: 4000}}},
	}
	room := func(id int, cpu int64) model.NodeZone {
		return model.NodeZone{ID: id, Resources: []model.ZoneResource{
			{Name: model.CPU, Allocatable: 4000, Available: cpu}, {Name: model.Memory, Allocatable: 4 << 30, Available: 4 << 30},
		}}
	}
	uneven := []model.NodeZone{room(0, 500), room(1, 4000)}
	guaranteed := func(r resources) *model.Workload { return workload(model.Guaranteed, nil, []resources{r}) }
	for _, c := range []struct {
		name           string
		strategy       Strategy
		policy         model.TopologyPolicy
		zones          []model.NodeZone
		w              *model.Workload
		improved, like int64 // the score; -1: the node is rejected
	}{
		{"a resource of no zone", LeastAllocated, model.AlignSingleZone, zones, guaranteed(resources{"cpu": 2000, "memory": 1 << 30}), 25, -1},
		{"zones with gaps between their IDs", LeastAllocated, model.AlignSingleZone, zones, guaranteed(resources{"cpu": 2000}), 50, 50},
		{"parts of a core", LeastAllocated, model.AlignSingleZone, zones, guaranteed(resources{"cpu": 1500}), 62, 50},
		{"parts of a core, balanced", BalancedAllocation, model.AlignSingleZone, uneven, guaranteed(resources{"cpu": 1500, "memory": 1 << 30}), 99, 96},
		{"part of a core is not enough", MostAllocated, model.AlignSingleZone, uneven, guaranteed(resources{"cpu": 1000, "memory": 1 << 30}), 12, 12},
		{"a resource of no zone where they are counted", LeastNUMANodes, model.AlignBestEffort, zones, guaranteed(resources{"cpu": 2000, "memory": 1 << 30}), 94, 0},
		{"one resource is balanced", BalancedAllocation, model.AlignSingleZone, zones, guaranteed(resources{"cpu": 1500}), 100, 100},
		{"startup leaves what it had", LeastNUMANodes, model.AlignBestEffort, zones, workload(model.Guaranteed, []resources{{"cpu": 3000}}, []resources{{"cpu": 4000}}), 94, 94},
		{"startup leaves what it had, of all", LeastNUMANodes, model.AlignBestEffort, zones, workload(model.Guaranteed, []resources{{"cpu": 3000}}, []resources{{"cpu": 6000}}), 82, 0},
	} {
		for mode, want := range map[extpoints.Compat]int64{extpoints.Improved: c.improved, extpoints.KubeScheduler137: c.like} {
			n := nodeOf("n", c.zones, resources{"memory": 8 << 30})
			topology := &model.NodeTopology{Node: "n", At: extpointstest.Now, Policy: c.policy, Zones: c.zones}
			p, s, w := ask(t, Args{Strategy: c.strategy}, mode, c.w, n, topology)
			got := int64(-1)
			if p.Filter(s, w, n) == nil {
				got, _ = p.Score(s, w, n)
			}
			if got != want {
				t.Errorf("%s, %v: got %d, want %d", c.name, mode, got, want)
			}
		}
	}
}
