package helper

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/model"
)

// Keys of classes differ where anything differs that they are about.
func TestAppendedKeysDiffer(t *testing.T) {
	one, gpu := model.Resources{CPU: 1}, []model.Scalar{{Name: "gpu", Amount: 1}}
	workloads := []*model.Workload{
		{}, {Requests: one}, {Requests: model.Resources{Memory: 1}}, {Requests: model.Resources{EphemeralStorage: 1}},
		{Requests: model.Resources{Scalars: gpu}}, {Requests: model.Resources{Scalars: []model.Scalar{{Name: "gpu", Amount: 2}}}},
	}
	differ := func(what string, appended func([]byte, *model.Workload) []byte, more ...*model.Workload) {
		seen := map[string]int{}
		for i, w := range append(workloads[:len(workloads):len(workloads)], more...) {
			key := string(appended([]byte("before"), w))
			if first, twice := seen[key]; twice || !strings.HasPrefix(key, "before") {
				t.Errorf("%s: workloads %d and %d have the key %q", what, first, i, key)
			}
			seen[key] = i
		}
	}
	differ("usage", AppendUsage, &model.Workload{UsageLimits: one}, &model.Workload{UsageLimits: model.Resources{Scalars: gpu}}, &model.Workload{Requests: one, UsageLimits: one})
	differ("parts", AppendParts, &model.Workload{QoS: model.Guaranteed}, &model.Workload{QoS: model.Guaranteed, Requests: one},
		&model.Workload{Containers: []model.Container{{}}}, &model.Workload{Containers: []model.Container{{}, {}}},
		&model.Workload{Containers: []model.Container{{Startup: true}}}, &model.Workload{Containers: []model.Container{{Requests: one}}},
		&model.Workload{Containers: []model.Container{{Requests: one}, {}}}, &model.Workload{Containers: []model.Container{{}, {Requests: one}}},
		&model.Workload{Requests: one, Containers: []model.Container{{Requests: one}}})
}
