package interpodaffinity

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// What the tables of the tests are written in.

// labels reads "zone=a,rack=" as two labels; an empty text is none.
func labels(text string) map[string]string {
	if text == "" {
		return nil
	}
	m := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		m[key] = value
	}
	return m
}

// selecting reads "app=web" as that value, "app" as any, "!app" as none of the
// label, "*" as a selector without requirements, and "" as no selector.
func selecting(text string) *model.Selector {
	switch {
	case text == "":
		return nil
	case text == "*":
		return &model.Selector{}
	case strings.Contains(text, "="):
		return model.SelectLabels(labels(text))
	case strings.HasPrefix(text, "!"):
		return &model.Selector{Requirements: []model.Requirement{{Key: text[1:], Operator: model.DoesNotExist}}}
	}
	return &model.Selector{Requirements: []model.Requirement{{Key: text, Operator: model.Exists}}}
}

// to is a term about the workloads of the selector in the carrier's namespace.
func to(selector, key string) model.AffinityTerm {
	return model.AffinityTerm{Selector: selecting(selector), TopologyKey: key}
}

// toIn is a term about those in the namespaces of the names, and of the
// selector.
func toIn(namespaces, namespaceSelector, selector, key string) model.AffinityTerm {
	t := to(selector, key)
	t.Namespaces, t.NamespaceSelector = strings.Fields(namespaces), selecting(namespaceSelector)
	return t
}

type option func(*model.Workload)

func workload(text string, options ...option) *model.Workload {
	w := &model.Workload{ID: "w", Labels: labels(text)}
	for _, o := range options {
		o(w)
	}
	return w
}

func inside(namespace string) option { return func(w *model.Workload) { w.Namespace = namespace } }

func parts(a **model.WorkloadAffinity) *model.WorkloadAffinity {
	if *a == nil {
		*a = &model.WorkloadAffinity{}
	}
	return *a
}

func nearTo(terms ...model.AffinityTerm) option {
	return func(w *model.Workload) { parts(&w.Affinity).Required = terms }
}

func awayFrom(terms ...model.AffinityTerm) option {
	return func(w *model.Workload) { parts(&w.AntiAffinity).Required = terms }
}

func likes(weight int32, t model.AffinityTerm) option {
	return func(w *model.Workload) {
		a := parts(&w.Affinity)
		a.Preferred = append(a.Preferred, model.WeightedAffinityTerm{Weight: weight, AffinityTerm: t})
	}
}

func dislikes(weight int32, t model.AffinityTerm) option {
	return func(w *model.Workload) {
		a := parts(&w.AntiAffinity)
		a.Preferred = append(a.Preferred, model.WeightedAffinityTerm{Weight: weight, AffinityTerm: t})
	}
}

// node is a node called n with the workloads on it; situation names them.
func node(text string, workloads ...*model.Workload) *extpoints.NodeInfo {
	return extpointstest.NodeWith(&model.Node{Name: "n", Labels: labels(text)}, workloads...)
}

// situation numbers the nodes and the workloads on them, and knows the
// namespaces a and b, whose label team is their name.
func situation(w *model.Workload, nodes ...*extpoints.NodeInfo) *extpointstest.Situation {
	ids := "abcdefghijklmnopqrstuvwxyz"
	for i, n := range nodes {
		n.Node.Name = "n" + ids[i:i+1]
		for j, on := range n.Workloads {
			on.ID = n.Node.Name + ids[j:j+1]
		}
	}
	s := extpointstest.NewSituation(w, nodes...)
	s.View.Namespaces = []*model.Namespace{
		{Name: "a", Labels: map[string]string{"team": "a"}}, {Name: "b", Labels: map[string]string{"team": "b"}},
	}
	return s
}

func newPlugin(t testing.TB, args Args) *InterPodAffinity {
	t.Helper()
	p, err := New(args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	return p
}
