package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// nodeIn is a node without labels.
func nodeIn(name, zone string) engine.Change {
	return engine.PutNode(&model.Node{Name: name, Zone: zone, Allocatable: model.Resources{CPU: 4000, Memory: 1 << 40}})
}

// Anti-affinity and spreading by node and by zone need no label, and a workload that
// no zone is left for is woken when a node moves to another.
func TestTopologyWithoutLabels(t *testing.T) {
	web := model.SelectLabels(map[string]string{"app": "web"})
	for name, keep := range map[string]func(*model.Workload){
		"anti-affinity": func(w *model.Workload) {
			w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{Selector: web, TopologyKey: model.ByZone}}}
		},
		"spreading": func(w *model.Workload) {
			w.Spread = []model.SpreadConstraint{
				{TopologyKey: model.ByZone, MaxSkew: 1, MinDomains: 9, Mode: model.SpreadRequired, Selector: web},
				{TopologyKey: model.ByNode, MaxSkew: 1, Mode: model.SpreadPreferred, Selector: web},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			apply(t, r, epoch, nodeIn("n1", "a"), nodeIn("n2", "a"), nodeIn("n3", "b"), nodeIn("n4", ""))
			if name == "anti-affinity" { // away from everything where there is no zone
				apply(t, r, epoch, engine.RemoveNode("n4"))
			}
			for i := range 3 {
				w := &model.Workload{ID: fmt.Sprintf("w%d", i), Labels: map[string]string{"app": "web"}}
				keep(w)
				apply(t, r, epoch, engine.Submit(w))
				settle(r, epoch)
			}
			zones := map[string]string{"n1": "a", "n2": "a", "n3": "b"}
			first, _ := r.View().Workload("w0")
			second, _ := r.View().Workload("w1")
			require.NotEqual(t, zones[first.Node], zones[second.Node])
			require.Equal(t, "Pending", phaseOf(r, "w2"))
			apply(t, r, epoch, nodeIn(map[string]string{"n1": "n2", "n2": "n1", "n3": "n1"}[first.Node], "c"))
			later := epoch.Add(time.Minute)
			r.Tick(later)
			settle(r, later)
			require.Contains(t, phaseOf(r, "w2"), "Bound@", "a node is in a zone of its own now")
		})
	}
}

// A topology is a label: one that no node has divides nothing, so that what must not be
// together may be, as in kube-scheduler.
func TestATopologyThatNoNodeHasDividesNothing(t *testing.T) {
	for key, want := range map[string]int{"rack": 2, "host": 1} {
		r := newRaw(t, &world{})
		n1 := node("n1", 1000)
		nodeOf(n1).Labels = map[string]string{"host": "n1"}
		require.NoError(t, r.Apply(epoch, n1))
		for _, id := range []string{"a", "b"} {
			w := task(id, 100)
			spec(w).Labels = map[string]string{"app": "x"}
			spec(w).AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{
				{Selector: model.SelectLabels(map[string]string{"app": "x"}), TopologyKey: key},
			}}
			require.NoError(t, r.Apply(epoch, w))
		}
		settle(r, epoch)
		require.Equal(t, want, count(r.View(), model.Bound), key)
	}
}
