package modeltest

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/berth-project/berth/model"
)

// validator is what all objects of the model have.
type validator interface{ Validate() error }

func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := Seed(t)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestRandomIsValid: every generator returns valid objects, and the same seed
// the same ones.
func TestRandomIsValid(t *testing.T) {
	seed := Seed(t)
	r, again := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
	generate := func(r *rand.Rand) []validator {
		return []validator{RandomNode(r), RandomWorkload(r), RandomGroup(r), RandomBudget(r), RandomNamespace(r)}
	}
	for range 3000 {
		objects := generate(r)
		for _, o := range objects {
			if err := o.Validate(); err != nil {
				t.Fatalf("%v\n%+v", err, o)
			}
		}
		if copies := generate(again); !reflect.DeepEqual(objects, copies) {
			t.Fatal("the same seed gave different objects")
		}
	}
}

// TestRandomClusterIsWhole: identities are unique, members' groups exist.
func TestRandomClusterIsWhole(t *testing.T) {
	c := RandomCluster(seeded(t), 30, 100)
	if len(c.Nodes) != 30 || len(c.Workloads) != 100 {
		t.Fatalf("%d nodes, %d workloads", len(c.Nodes), len(c.Workloads))
	}
	seen := map[string]bool{}
	once := func(identity string) {
		if seen[identity] {
			t.Errorf("%s is listed twice", identity)
		}
		seen[identity] = true
	}
	for _, n := range c.Nodes {
		once("node " + n.Name)
	}
	for _, g := range c.Groups {
		once("group " + g.ID)
	}
	for _, b := range c.Budgets {
		once("budget " + b.ID)
	}
	for _, n := range c.Namespaces {
		once("namespace " + n.Name)
	}
	for _, w := range c.Workloads {
		once("workload " + w.ID)
		if w.Group != "" && !seen["group "+w.Group] {
			t.Errorf("workload %s is in group %s, which does not exist", w.ID, w.Group)
		}
	}
}

// TestBreakersAreReported: what each breaker does to a valid object is reported
// for the field it says, and nothing else is.
func TestBreakersAreReported(t *testing.T) {
	checkBreakers(t, RandomNode, nodeBreakers)
	checkBreakers(t, RandomWorkload, workloadBreakers)
	checkBreakers(t, RandomGroup, groupBreakers)
	checkBreakers(t, RandomBudget, budgetBreakers)
	checkBreakers(t, RandomNamespace, namespaceBreakers)
}

func checkBreakers[T any](t *testing.T, generate func(*rand.Rand) *T, breakers []breaker[T]) {
	for _, b := range breakers {
		t.Run(reflect.TypeFor[T]().Name()+"/"+b.rule, func(t *testing.T) {
			r := seeded(t)
			for range 300 {
				object := generate(r)
				field := b.do(r, object)
				var err *model.ValidationError
				if !errors.As(any(object).(validator).Validate(), &err) {
					t.Fatalf("%s: no error for %+v", field, object)
				}
				if len(err.Problems) != 1 || err.Problems[0].Field != field {
					t.Fatalf("want one problem, with %s; got %v", field, err)
				}
			}
		})
	}
}

// TestBuilders: a builder makes what its calls say, and one built object shares
// nothing with the next.
func TestBuilders(t *testing.T) {
	b := Node("n1").CPU(4000).Memory(1<<30).Resource("licences", 2).Zone("z1").Label("rack", "r1").
		MaxWorkloads(5).Taint("dedicated", "db", model.NoSchedule).Image(7, "web").Devices(2, "gpu", "T4").Unschedulable()
	want := &model.Node{
		Name:          "n1",
		Labels:        map[string]string{ZoneKey: "z1", "rack": "r1"},
		Zone:          "z1",
		Allocatable:   model.Resources{CPU: 4000, Memory: 1 << 30, Scalars: []model.Scalar{{Name: "licences", Amount: 2}}},
		MaxWorkloads:  5,
		Taints:        []model.Taint{{Key: "dedicated", Value: "db", Effect: model.NoSchedule}},
		Unschedulable: true,
		Images:        []model.NodeImage{{Names: []string{"web"}, Size: 7}},
		Devices:       []model.Device{{Class: "gpu", Model: "T4"}, {Class: "gpu", Model: "T4"}},
	}
	first := b.Build()
	if !reflect.DeepEqual(first, want) {
		t.Errorf("got %+v\nwant %+v", first, want)
	}
	b.Label("rack", "r2").Taint("more", "", model.NoExecute)
	if !reflect.DeepEqual(first, want) {
		t.Error("the builder changed what it had built")
	}

	gpu := model.Requirement{Key: "gpu", Operator: model.Exists}
	w := Workload("w1").Namespace("web").Label("app", "web").Group("g").Priority(7).CPU(100).Memory(200).
		NodeName("n1").NodeSelector("rack", "r1").RequireNode(gpu).PreferNode(5, gpu).
		Near("zone", "app", "db").Away("host", "app", "web").Spread("zone", 1, model.SpreadRequired, "app", "web").
		Tolerate("dedicated").Port(80).Images("web").Devices(2, "gpu").DeviceShare(500, "gpu").Gate("quota").CreatedAt(epoch).
		With(func(w *model.Workload) { w.Profile = "batch" }).Build()
	if err := w.Validate(); err != nil {
		t.Error(err)
	}
	if w.Affinity.Required[0].Selector.Requirements[0].Values[0] != "db" || w.Requests.Memory != 200 ||
		len(w.Devices) != 2 || w.Profile != "batch" || w.NodeAffinity.Required.Terms[0].Labels[0].Key != "gpu" {
		t.Errorf("%+v", w)
	}
}
