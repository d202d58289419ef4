package interpodaffinity

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// situations are those of the tables.
func situations() []*extpointstest.Situation {
	var all []*extpointstest.Situation
	add := func(name string, w *model.Workload, on nodes) {
		s := situation(w, on...)
		s.Name = name
		all = append(all, s)
	}
	for _, c := range filterCases {
		add(c.name, c.w, c.nodes)
	}
	for _, c := range scoreCases {
		add(c.name, c.w, c.nodes)
	}
	return all
}

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func TestContractInCrowds(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Situations: situations(), Random: randomWorld})
}

func TestContractWithArgs(t *testing.T) {
	for _, args := range []Args{hard(100), ignoring} {
		extpointstest.TestPlugin(t, extpointstest.Suite{
			Name: Name, Factory: extpoints.FactoryOf(New), Args: args, Situations: situations(), Random: randomWorld, Rounds: 100,
		})
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		name string
		args any
		want string
		hard int32
	}{
		{"none", nil, "", 1},
		{"none is set", &Args{}, "", 1},
		{"0 is not the default", hard(0), "", 0},
		{"the largest weight", hard(100), "", 100},
		{"too large a weight", hard(101), `arguments of plugin "InterPodAffinity": hardPodAffinityWeight: 101 is not in [0, 100]`, 0},
		{"a negative weight", hard(-1), `arguments of plugin "InterPodAffinity": hardPodAffinityWeight: -1 is not in [0, 100]`, 0},
	} {
		p, err := extpoints.FactoryOf(New)(c.args, extpointstest.NewHandle())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (p == nil) != (err != nil) {
			t.Errorf("%s: %q\nwant %q", c.name, got, c.want)
		}
		if p != nil && p.(*InterPodAffinity).hardWeight != c.hard {
			t.Errorf("%s: the weight is %d, want %d", c.name, p.(*InterPodAffinity).hardWeight, c.hard)
		}
	}
}

func TestSign(t *testing.T) {
	sign := func(w *model.Workload) []extpoints.SignFragment {
		fragments, status := (&InterPodAffinity{}).Sign(w)
		if status != nil {
			t.Fatal(status)
		}
		return fragments
	}
	if !slices.Equal(sign(workload("app=web,tier=x")), sign(workload("tier=x,app=web"))) {
		t.Error("the same labels are signed differently")
	}
	if slices.Equal(sign(workload("app=web")), sign(workload("app=db"))) {
		t.Error("other labels are signed alike")
	}
	if slices.Equal(sign(workload("app=web")), sign(workload("app=web", inside("a")))) {
		t.Error("other namespaces are signed alike")
	}
	for _, w := range []*model.Workload{workload("", likes(1, to("app", "zone"))), workload("", awayFrom(to("app", "zone"))), {Affinity: &model.WorkloadAffinity{}}} {
		fragments, status := (&InterPodAffinity{}).Sign(w)
		if fragments != nil || status.String() != "Unschedulable: workloads with InterPodAffinity are not signable" {
			t.Errorf("%v %v", fragments, status)
		}
	}
}
