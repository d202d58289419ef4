package scarceresourceavoidance

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

const gpu, other = "example.com/gpu", "example.com/other"

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Args: Args{Resources: []string{model.EphemeralStorage, model.Memory}}})
}

// resources has one of each.
func resources(names ...string) (r model.Resources) {
	for _, name := range names {
		r = r.With(name, 1)
	}
	return r
}

// The first two are known answers of the upstream plugin: scarce_resource_avoidance_test.go, TestPlugin_Score,
// whose answer is that the second of its nodes scores more. The rest is by the rules.
func TestScore(t *testing.T) {
	const disk = model.EphemeralStorage
	cpuAndMemory := resources(model.CPU, model.Memory)
	for _, c := range []struct {
		name      string
		scarce    []string
		has, asks model.Resources
		want      int64
	}{
		{"one of two besides is scarce", []string{gpu}, resources(model.CPU, model.Memory, gpu, other), cpuAndMemory, 50},
		{"nothing besides", []string{gpu}, cpuAndMemory, cpuAndMemory, 100},
		{"the disk and GPUs besides", []string{gpu}, resources(model.CPU, model.Memory, disk, gpu), cpuAndMemory, 50},
		{"the disk besides", []string{gpu}, resources(model.CPU, model.Memory, disk), cpuAndMemory, 100},
		{"it asks for what is scarce", []string{gpu}, resources(model.CPU, model.Memory, disk, gpu), resources(model.CPU, gpu), 100},
		{"only what is scarce besides", []string{gpu}, resources(model.CPU, model.Memory, gpu), cpuAndMemory, 0},
		{"one of three besides is not scarce", []string{gpu, disk}, resources(model.CPU, disk, gpu, other), resources(model.CPU), 33},
		{"it asks for none of it", []string{gpu}, resources(model.CPU, gpu), resources(model.CPU).With(gpu, 0), 0},
		{"the node has none of it", []string{gpu}, resources(model.CPU).With(gpu, 0), resources(model.CPU), 100},
		{"an empty node", []string{gpu}, model.Resources{}, cpuAndMemory, 100},
		{"memory can be scarce", []string{model.Memory}, cpuAndMemory, resources(model.CPU), 0},
	} {
		node := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: c.has})
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Requests: c.asks}, node)
		p, err := New(Args{Resources: c.scarce}, extpointstest.NewHandle())
		if err != nil {
			t.Fatal(err)
		}
		if got, st := p.Score(s.State(), s.Workload, node); got != c.want || st != nil {
			t.Errorf("%s: got %d, want %d, %v", c.name, got, c.want, st)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{{nil, "resources: must not be empty"}, {[]string{gpu, ""}, "resources: a name is empty"}} {
		if _, err := New(Args{Resources: c.names}, extpointstest.NewHandle()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.names, err)
		}
	}
}
