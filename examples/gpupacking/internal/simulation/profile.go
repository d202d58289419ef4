package simulation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/berth-project/berth/examples/gpupacking/trace"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/devicepacking"
	"github.com/berth-project/berth/plugins/devices"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// gpuClass is the class of the trace's GPUs.
const gpuClass = devicepacking.DefaultClass

var policies = map[trace.Policy]devicepacking.Policy{
	trace.Random:     devicepacking.Random,
	trace.DotProd:    devicepacking.DotProd,
	trace.Clustering: devicepacking.Clustering,
	trace.Packing:    devicepacking.Packing,
	trace.BestFit:    devicepacking.BestFit,
	trace.FGD:        devicepacking.FGD,
}

// profileOf returns the profile of the experiment, and the plugins it is made
// of. The policy is the only one that scores: of NodeResourcesFit only the
// filter is enabled, while the others serve every point that they know.
func profileOf(t *trace.Trace, policy trace.Policy) (extpoints.Profile, extpoints.Registry) {
	args := devicepacking.Args{
		Policy:        policies[policy],
		Class:         gpuClass,
		LargestCPU:    trace.LargestNodeCPU,
		LargestShares: trace.LargestNodeGPU,
	}
	if policy == trace.FGD {
		args.Typical = typicalOf(t)
	}
	fit := extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: noderesources.Name}}}
	profile := extpoints.Profile{
		Name: string(policy),
		Plugins: extpoints.Plugins{
			PreFilter: fit,
			Filter:    fit,
			MultiPoint: extpoints.PluginSet{Enabled: []extpoints.PluginRef{
				{Name: queuesort.Name},
				{Name: devices.Name},
				{Name: devicepacking.Name},
				{Name: defaultbinder.Name},
			}},
		},
		Args: map[string]any{devicepacking.Name: args},
	}
	registry := extpoints.Registry{
		queuesort.Name:     queuesort.New,
		noderesources.Name: noderesources.NewFit,
		devices.Name:       devices.New,
		devicepacking.Name: devicepacking.New,
		defaultbinder.Name: defaultbinder.New,
	}
	return profile, registry
}

// typicalOf returns the typical pods in the terms of the plugin, in the same
// order: it decides the last digit of the scores.
func typicalOf(t *trace.Trace) []devicepacking.Typical {
	var list []devicepacking.Typical
	for _, p := range t.Typical() {
		list = append(list, devicepacking.Typical{
			CPU:    p.CPU,
			Share:  p.Share,
			Count:  int64(p.GPUs),
			Models: modelsOf(p.Spec),
			Weight: p.Weight,
		})
	}
	return list
}

// modelsOf lists the models that will do; none stands for any.
func modelsOf(s trace.Spec) []string {
	if s == "" {
		return nil
	}
	return strings.Split(string(s), "|")
}

// bytesPerMiB turns the trace's unit of memory into the engine's.
const bytesPerMiB = 1 << 20

func nodeOf(n *trace.Node) *model.Node {
	node := &model.Node{
		Name:         n.Name,
		Allocatable:  model.Resources{CPU: n.CPU, Memory: n.Memory * bytesPerMiB},
		MaxWorkloads: trace.MaxPodsPerNode,
	}
	for range n.GPUs {
		node.Devices = append(node.Devices, model.Device{Class: gpuClass, Model: n.Model})
	}
	return node
}

// workloadOf makes the workload of an arrival. A pod may arrive several times,
// so its name alone is no identity.
func workloadOf(arrival int, p *trace.Pod) *model.Workload {
	w := &model.Workload{
		ID:       fmt.Sprintf("%s#%d", p.Name, arrival),
		Name:     p.Name,
		Requests: model.Resources{CPU: p.CPU, Memory: p.Memory * bytesPerMiB},
	}
	if p.GPUs > 0 {
		w.Devices = []model.DeviceRequest{{
			Class:  gpuClass,
			Count:  int64(p.GPUs),
			Share:  p.Share,
			Models: modelsOf(p.Spec),
		}}
	}
	return w
}

// cluster is the world outside: it accepts every binding, and nothing ever
// leaves.
type cluster struct{}

func (cluster) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

func (cluster) Evict(context.Context, *model.Workload, string) error {
	return errors.New("nothing leaves this cluster")
}
