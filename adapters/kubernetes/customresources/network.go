package customresources

import (
	"cmp"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// appGroup is an AppGroup, as far as it is read (diktyo-io/appgroup-api, v1.0.1-alpha).
type appGroup struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Workloads []struct {
			Workload     workloadInfo `json:"workload"`
			Dependencies []struct {
				Workload       workloadInfo `json:"workload"`
				MaxNetworkCost int64        `json:"maxNetworkCost"`
			} `json:"dependencies"`
		} `json:"workloads"`
	} `json:"spec"`
	Status struct {
		TopologyOrder []struct {
			Workload workloadInfo `json:"workload"`
			Index    int32        `json:"index"`
		} `json:"topologyOrder"`
	} `json:"status"`
}

type workloadInfo struct {
	Selector string `json:"selector"`
}

// graphChanged says what happens to the graph of an AppGroup.
func (s *Source) graphChanged(before, after *unstructured.Unstructured) ([]engine.Change, error) {
	if after == nil {
		return []engine.Change{engine.RemoveObject(model.ObjectRef{Kind: model.AppGraphKind, ID: before.GetNamespace() + "/" + before.GetName()})}, nil
	}
	g, err := decode[appGroup](after)
	if err != nil {
		return nil, err
	}
	return put(g.model())
}

// model is the graph.
func (g *appGroup) model() *model.AppGraph {
	order := map[string]int32{}
	for _, o := range g.Status.TopologyOrder {
		order[o.Workload.Selector] = o.Index
	}
	graph := &model.AppGraph{ID: g.Namespace + "/" + g.Name, CreatedAt: g.CreationTimestamp.Time}
	for _, w := range g.Spec.Workloads {
		c := model.AppComponent{Name: w.Workload.Selector}
		for _, d := range w.Dependencies {
			c.Needs = append(c.Needs, model.AppNeed{Component: d.Workload.Selector, MaxCost: d.MaxNetworkCost})
		}
		graph.Components = append(graph.Components, c)
	}
	index := func(c model.AppComponent) int32 {
		if i, known := order[c.Name]; known {
			return i
		}
		return -1
	}
	slices.SortStableFunc(graph.Components, func(a, b model.AppComponent) int { return cmp.Compare(index(a), index(b)) })
	return graph
}

// networkTopology is a NetworkTopology, as far as it is read (diktyo-io/networktopology-api,
// v1.0.1-alpha).
type networkTopology struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Weights []struct {
			Name         string `json:"name"`
			TopologyList []struct {
				TopologyKey string `json:"topologyKey"`
				OriginList  []struct {
					Origin   string `json:"origin"`
					CostList []struct {
						Destination string `json:"destination"`
						NetworkCost int64  `json:"networkCost"`
					} `json:"costList"`
				} `json:"originList"`
			} `json:"topologyList"`
		} `json:"weights"`
	} `json:"spec"`
}

// levels are the kinds of places that there are, the wider one first.
var levels = []string{"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}

// costsChanged says what happens to the costs of a NetworkTopology: some for each of its weights.
func (s *Source) costsChanged(before, after *unstructured.Unstructured) ([]engine.Change, error) {
	is, err := decode[networkTopology](after)
	if err != nil {
		return nil, err
	}
	var changes []engine.Change
	put, err := is.models()
	for _, n := range put {
		changes = append(changes, engine.PutObject(n))
	}
	was, unreadable := decode[networkTopology](before)
	if unreadable != nil || was == nil { // nothing was made of it
		return changes, err
	}
	old, _ := was.models()
	for _, n := range old {
		if !slices.ContainsFunc(put, func(o *model.NetworkCosts) bool { return o.Name == n.Name }) {
			changes = append(changes, engine.RemoveObject(model.RefOf(n)))
		}
	}
	return changes, err
}

// models are the costs, without those that are invalid, of which the error says why.
func (t *networkTopology) models() (list []*model.NetworkCosts, err error) {
	if t == nil {
		return nil, nil
	}
	for _, w := range t.Spec.Weights {
		n := &model.NetworkCosts{Name: t.Namespace + "/" + t.Name + "/" + w.Name}
		for _, key := range levels {
			l := model.CostLevel{Key: key}
			for _, topology := range w.TopologyList {
				if topology.TopologyKey != key {
					continue
				}
				for _, from := range topology.OriginList {
					for _, to := range from.CostList {
						if from.Origin != to.Destination { // between the nodes of a place it is always the same
							l.Costs = append(l.Costs, model.NetworkCost{From: from.Origin, To: to.Destination, Cost: to.NetworkCost})
						}
					}
				}
			}
			n.Levels = append(n.Levels, l)
		}
		if invalid := n.Validate(); invalid != nil {
			err = errors.Join(err, invalid)
			continue
		}
		list = append(list, n)
	}
	return list, err
}
