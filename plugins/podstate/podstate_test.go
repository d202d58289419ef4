package podstate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

// Known answers of the upstream plugin: by node how many are terminating and how many are
// nominated, and the scores.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		terminating, nominated []int
		want                   []int64
	}{
		{[]int{6, 3, 0}, []int{0, 0, 0}, []int64{100, 50, 0}},
		{[]int{0, 0, 0}, []int{2, 1, 0}, []int64{0, 50, 100}},
		{[]int{5, 3, 2, 0}, []int{0, 1, 1, 1}, []int64{100, 50, 33, 0}},
		{[]int{5, 3}, []int{4, 1}, []int64{0, 100}},
		{[]int{1, 1}, []int{0, 0}, []int64{0, 0}},
	} {
		var list []*extpoints.NodeInfo
		nominated := map[string][]*extpoints.WorkloadInfo{}
		for i := range c.terminating {
			n := extpointstest.NodeWith(&model.Node{Name: fmt.Sprint("n", i)})
			n.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint("stays-", i)}})
			for k := range c.terminating[i] {
				n.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint("leaves-", i, "-", k)}, Terminating: true})
			}
			for k := range c.nominated[i] {
				w := &model.Workload{ID: fmt.Sprint("comes-", i, "-", k)}
				nominated[n.Node.Name] = append(nominated[n.Node.Name], &extpoints.WorkloadInfo{Workload: w, Nominated: n.Node.Name})
			}
			list = append(list, n)
		}
		s := extpointstest.NewSituation(&model.Workload{ID: "w"}, list...)
		s.View.Nominating = nominated
		p, state := &PodState{}, s.State()
		var got []int64
		for _, n := range list {
			score, _ := p.Score(state, s.Workload, n)
			got = append(got, score)
		}
		if st := p.NormalizeScore(state, s.Workload, list, got); st != nil || !slices.Equal(got, c.want) {
			t.Errorf("terminating %v, nominated %v: got %v, want %v, %v", c.terminating, c.nominated, got, c.want, st)
		}
	}
}
