package noderesourcesallocatable

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// Known answers of the upstream plugin: allocatable_test.go, all rows (commit 903da7df). What the
// workload asks for, and what runs on the nodes, is in them because it must not count.
func TestKnownScores(t *testing.T) {
	cpuCounts := []ResourceWeight{{model.CPU, 1 << 30}, {model.Memory, 1}}
	small := model.Resources{CPU: 1000, Memory: gi}
	large := model.Resources{CPU: 8000, Memory: gi}
	equal := []model.Resources{{CPU: 4000, Memory: 10000}, {CPU: 4000, Memory: 10000}}
	larger := []model.Resources{{CPU: 10000, Memory: 20000}, {CPU: 10000, Memory: 20000}}
	differ := []model.Resources{{CPU: 4000, Memory: 10000}, {CPU: 6000, Memory: 10000}}
	full := []model.Resources{{CPU: 4000, Memory: 1000}, {CPU: 5000, Memory: 1000}}
	nearly := []model.Resources{{CPU: 1000, Memory: 2000}, {CPU: 1005, Memory: 1000}}
	stairs := []model.Resources{{CPU: 1000, Memory: 1000 * mi}, {CPU: 2000, Memory: 2000 * mi}, {CPU: 3000, Memory: 3000 * mi}}
	for _, c := range []struct {
		name  string
		args  Args
		nodes []model.Resources
		runs  []model.Resources // by node
		asks  model.Resources
		want  []int64
		wrong string
	}{
		{"nothing is asked for", Args{Mode: Least}, equal, nil, model.Resources{}, []int64{0, 0}, ""},
		{"different nodes, least", Args{Mode: Least}, differ, nil, small, []int64{100, 0}, ""},
		{"different nodes, most", Args{Mode: Most}, differ, nil, small, []int64{0, 100}, ""},
		{"some run that ask for nothing", Args{Mode: Least}, equal, []model.Resources{{}, {}}, model.Resources{}, []int64{0, 0}, ""},
		{"some run", Args{Mode: Least}, larger, []model.Resources{{CPU: 3000}}, model.Resources{}, []int64{0, 0}, ""},
		{"some run, and something is asked for", Args{Mode: Least}, larger, []model.Resources{{CPU: 3000}}, small, []int64{0, 0}, ""},
		{"more than a node has, least", Args{Mode: Least}, full, nil, large, []int64{100, 0}, ""},
		{"more than a node has, most", Args{Mode: Most}, full, nil, large, []int64{0, 100}, ""},
		{"the CPU counts, least", Args{Mode: Least, Resources: cpuCounts}, nearly, nil, small, []int64{100, 0}, ""},
		{"the CPU counts, most", Args{Mode: Most, Resources: cpuCounts}, nearly, nil, small, []int64{0, 100}, ""},
		{"three sizes, least", Args{Mode: Least}, stairs, nil, small, []int64{100, 50, 0}, ""},
		{"three sizes, most", Args{Mode: Most}, stairs, nil, small, []int64{0, 50, 100}, ""},
		{"a negative weight", Args{Resources: []ResourceWeight{{model.Memory, -1}, {model.CPU, 1}}}, nil, nil, small, nil, `the weight -1 of "memory" is less than 1`},
		{"no weight", Args{Resources: []ResourceWeight{{model.Memory, 1}, {model.CPU, 0}}}, nil, nil, small, nil, `the weight 0 of "cpu" is less than 1`},
	} {
		p, err := New(c.args, extpointstest.NewHandle())
		if c.wrong != "" || err != nil {
			if err == nil || c.wrong == "" || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		list := nodes(c.nodes...)
		for i, r := range c.runs {
			list[i].AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "runs", Requests: r}})
		}
		if _, got := scored(t, p, list, c.asks); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
