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
	trace.Rollout:    devicepacking.Rollout,
	trace.Learned:    devicepacking.Rollout,
}

// profileOf returns the profile of the experiment. The policy is the only one that
// scores: NodeResourcesFit only filters, while the others serve every point that
// they know.
func profileOf(t *trace.Trace, policy trace.Policy) extpoints.Profile {
	args := devicepacking.Args{
		Policy:        policies[policy],
		Class:         gpuClass,
		LargestCPU:    trace.LargestNodeCPU,
		LargestShares: trace.LargestNodeGPU,
	}
	switch policy {
	case trace.FGD:
		args.Typical = typicalOf(t.Typical())
	case trace.Rollout:
		args.Typical = typicalOf(t.Mix())
	}
	p := extpoints.Profile{Name: string(policy)}
	extpoints.Use(&p, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&p, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&p, devices.New, extpoints.NoArgs{})
	extpoints.Use(&p, devicepacking.New, args)
	extpoints.Use(&p, defaultbinder.New, extpoints.NoArgs{})
	return p
}

// typicalOf returns the typical pods in the terms of the plugin, in the same
// order: it decides the last digit of the scores.
func typicalOf(pods trace.Typical) []devicepacking.Typical {
	var list []devicepacking.Typical
	for _, p := range pods {
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

// cluster is the orchestrator: it accepts every binding, and nothing ever
// leaves.
type cluster struct{}

func (cluster) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

func (cluster) Evict(context.Context, *model.Workload, string) error {
	return errors.New("nothing leaves this cluster")
}
