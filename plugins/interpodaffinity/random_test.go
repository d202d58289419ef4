package interpodaffinity

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func pick[T any](r *rand.Rand, choices []T) T { return choices[r.IntN(len(choices))] }

// Namespaces of random situations: the nameless one and ghost have no object.
var namespaces = []string{"", "a", "b", "ghost"}

// randomWorld makes a situation with up to eight nodes, on which there are
// workloads that a few terms of a few others mean.
func randomWorld(r *rand.Rand) *extpointstest.Situation {
	view := &extpointstest.View{Nominating: map[string][]*extpoints.WorkloadInfo{}}
	crowd := 1 + r.IntN(4)
	for i := range 1 + r.IntN(8) {
		n := &model.Node{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{}}
		for _, l := range [][]string{{"zone", "a", "b", ""}, {"rack", "1", "2", "3"}, {"host", n.Name}} {
			if r.IntN(6) > 0 {
				n.Labels[l[0]] = pick(r, l[1:])
			}
		}
		info := extpoints.NewNodeInfo(n)
		for j := range r.IntN(crowd) {
			info.AddWorkload(&extpoints.WorkloadInfo{Workload: randomOther(r, fmt.Sprintf("%s-%d", n.Name, j)), Terminating: r.IntN(5) == 0})
		}
		if r.IntN(4) == 0 {
			view.Nominating[n.Name] = []*extpoints.WorkloadInfo{{Workload: randomOther(r, n.Name+"-nominated"), Nominated: n.Name}}
		}
		view.NodeInfos = append(view.NodeInfos, info)
	}
	r.Shuffle(len(view.NodeInfos), func(i, j int) {
		view.NodeInfos[i], view.NodeInfos[j] = view.NodeInfos[j], view.NodeInfos[i]
	})
	view.Number()
	for _, name := range []string{"a", "b", "empty"} {
		view.Namespaces = append(view.Namespaces, &model.Namespace{Name: name, Labels: map[string]string{"team": pick(r, []string{"x", "y"})}})
	}
	return &extpointstest.Situation{Workload: &extpoints.WorkloadInfo{Workload: randomOne(r, "w", 2)}, View: view}
}

// randomOther makes a workload of which one in two has terms.
func randomOther(r *rand.Rand, id string) *model.Workload { return randomOne(r, id, 4) }

// randomOne makes a workload; of the two parts of its affinity it has each once
// in so many times.
func randomOne(r *rand.Rand, id string, once int) *model.Workload {
	w := &model.Workload{ID: id, Namespace: pick(r, namespaces), Labels: map[string]string{}}
	for _, l := range [][]string{{"app", "web", "db"}, {"tier", "x", "y"}} {
		if r.IntN(4) > 0 {
			w.Labels[l[0]] = pick(r, l[1:])
		}
	}
	if r.IntN(once) == 0 {
		w.Affinity = randomAffinity(r)
	}
	if r.IntN(once) == 0 {
		w.AntiAffinity = randomAffinity(r)
	}
	return w
}

func randomAffinity(r *rand.Rand) *model.WorkloadAffinity {
	a := &model.WorkloadAffinity{}
	for range r.IntN(3) {
		a.Required = append(a.Required, randomTerm(r))
	}
	for range r.IntN(3) {
		a.Preferred = append(a.Preferred, model.WeightedAffinityTerm{Weight: pick(r, []int32{1, 2, 5, 100}), AffinityTerm: randomTerm(r)})
	}
	return a
}

func randomTerm(r *rand.Rand) model.AffinityTerm {
	t := model.AffinityTerm{TopologyKey: pick(r, []string{"zone", "zone", "rack", "host", "nowhere"})}
	t.Selector = selecting(pick(r, []string{"app=web", "app=web", "app=db", "app", "!app", "tier=x", "app=web,tier=x", "*", ""}))
	if r.IntN(12) == 0 {
		t.Selector = &model.Selector{Requirements: []model.Requirement{{Key: "app", Operator: model.NotIn, Values: []string{"web", "none"}}}}
	}
	if r.IntN(2) == 0 {
		return t
	}
	for range r.IntN(4) {
		t.Namespaces = append(t.Namespaces, pick(r, namespaces))
	}
	t.NamespaceSelector = selecting(pick(r, []string{"", "*", "team=x", "team=y", "!team", "team"}))
	return t
}
