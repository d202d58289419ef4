package pluginlevel

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	nrtv1alpha2 "github.com/k8stopologyawareschedwg/noderesourcetopology-api/pkg/apis/topology/v1alpha2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	schedconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/pkg/noderesourcetopology"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
)

// alignments are NodeResourceTopologyMatch with each of its strategies.
func alignments(s *generate.Source) []variant {
	two := []schedconfig.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}
	return []variant{
		alignment("", config.LeastAllocated, two),
		alignment("weights", generate.Pick(s, config.LeastAllocated, config.MostAllocated), weights(s, true)),
		alignment("most allocated", config.MostAllocated, two),
		alignment("balanced", config.BalancedAllocation, nil),
		alignment("fewest zones", config.LeastNUMANodes, nil),
	}
}

func alignment(name string, strategy config.ScoringStrategyType, resources []schedconfig.ResourceSpec) variant {
	ref := &config.NodeResourceTopologyMatchArgs{ScoringStrategy: config.ScoringStrategy{Type: strategy, Resources: resources}}
	sub := noderesourcetopologymatch.Args{Strategy: noderesourcetopologymatch.Strategy(strategy)}
	for _, r := range resources {
		sub.Resources = append(sub.Resources, noderesourcetopologymatch.ResourceWeight{Name: r.Name, Weight: r.Weight})
	}
	return variant{plugins.NodeResourceTopologyMatch, name, ref, sub}
}

// aligning is NodeResourceTopologyMatch, which ends the process where a container of a guaranteed pod
// requests nothing. It is not asked at Reserve, where it does nothing without a cache.
type aligning struct {
	*noderesourcetopology.TopologyMatch
	Reserve, Unreserve struct{} // in the way of its own
}

func newTopologyMatch(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	p, err := noderesourcetopology.New(ctx, args, h)
	if err != nil {
		return nil, err
	}
	return &aligning{TopologyMatch: p.(*noderesourcetopology.TopologyMatch)}, nil
}

// Score implements [fwk.ScorePlugin].
func (p *aligning) Score(ctx context.Context, s fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer func() {
		if problem := recover(); problem != nil {
			status = fwk.NewStatus(fwk.Error, fmt.Sprint("panic: ", problem))
		}
	}()
	return p.TopologyMatch.Score(ctx, s, pod.DeepCopy(), node)
}

// Filter implements [fwk.FilterPlugin]. It adds up large amounts in those of the pod itself.
func (p *aligning) Filter(ctx context.Context, s fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	return p.TopologyMatch.Filter(ctx, s, pod.DeepCopy(), node)
}

// nodeTopologies draws what the nodes have in their zones. Some have not reported it, and some that
// are not there have.
func (c *beside) nodeTopologies() (list []client.Object) {
	for i := range c.Source.Nodes {
		if !c.Wild(15) {
			list = append(list, c.nodeTopology(generate.NodeName(i)))
		}
	}
	return list
}

func (c *beside) nodeTopology(name string) client.Object {
	t := &nrtv1alpha2.NodeResourceTopology{}
	t.TypeMeta, t.ObjectMeta = kindOf("topology.node.k8s.io", "v1alpha2", "NodeResourceTopology", "", name)
	if c.Percent(30) {
		t.TopologyPolicies = []string{string(generate.Pick(c.Source, nrtv1alpha2.SingleNUMANodeContainerLevel, nrtv1alpha2.SingleNUMANodePodLevel,
			nrtv1alpha2.RestrictedPodLevel, nrtv1alpha2.BestEffort, nrtv1alpha2.None, "Unheard"))}
	}
	for _, a := range []nrtv1alpha2.AttributeInfo{
		{Name: "topologyManagerPolicy", Value: generate.Pick(c.Source, "single-numa-node", "single-numa-node", "single-numa-node", "restricted", "unheard")},
		{Name: "topologyManagerScope", Value: generate.Pick(c.Source, "container", "pod", "unheard")},
		{Name: "topologyManagerMaxNUMANodes", Value: generate.Pick(c.Source, "1", "2", "4", "16", "5000", "many")},
	} {
		if c.Percent(70) {
			t.Attributes = append(t.Attributes, a)
		}
	}
	n := generate.Pick(c.Source, 0, 1, 2, 2, 2, 3, 4, 4)
	for id := range n {
		if c.Percent(5) {
			t.Zones = append(t.Zones, nrtv1alpha2.Zone{Name: generate.Pick(c.Source, "node-99", "socket-0", "node-x"), Type: "Node"},
				nrtv1alpha2.Zone{Name: "node-0", Type: "Core"})
		}
		t.Zones = append(t.Zones, c.zone(id, n))
	}
	return t
}

// zone draws one of n zones.
func (c *beside) zone(id, n int) nrtv1alpha2.Zone {
	z := nrtv1alpha2.Zone{Name: "node-" + strconv.Itoa(id), Type: "Node"}
	for _, r := range []struct {
		name      string
		percent   int
		available []string
	}{
		{"cpu", 95, []string{"0", "500m", "1", "1200m", "2", "3500m", "4", "16"}},
		{"memory", 95, []string{"0", "100Mi", "1Gi", "3Gi", "17Gi", "64Gi"}},
		{"example.com/gpu", 50, []string{"0", "1", "2", "8"}},
		{"hugepages-2Mi", 30, []string{"0", "4Mi", "1Gi"}},
		{"ephemeral-storage", 10, []string{"0", "1Gi", "1Ti"}},
	} {
		if c.Percent(r.percent) {
			available := resource.MustParse(generate.Pick(c.Source, r.available...))
			all := available.DeepCopy()
			all.Add(resource.MustParse(generate.Pick(c.Source, r.available...)))
			z.Resources = append(z.Resources, nrtv1alpha2.ResourceInfo{Name: r.name, Capacity: all, Allocatable: all, Available: available})
		}
	}
	for other := range n {
		if c.Percent(90) {
			cost := generate.Pick(c.Source, int64(11), 20, 20, 21, 255)
			if other == id {
				cost = 10
			}
			z.Costs = append(z.Costs, nrtv1alpha2.CostInfo{Name: "node-" + strconv.Itoa(other), Value: cost})
		}
	}
	return z
}

// everywhere are the resources that any node may have.
var everywhere = []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage}

// isPrefixed reports whether the name is in kubernetes.io, be it without saying so.
func isPrefixed(name v1.ResourceName) bool {
	return strings.Contains(string(name), v1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(string(name), v1.ResourceAttachableVolumesPrefix)
}

// alignedAlike reports whether the reference finds in the pod what the model has of it: no sidecar,
// no request of nothing, of what kube-scheduler does not count or of what is in kubernetes.io, none of the pod as a whole, and no
// overhead.
func alignedAlike(p *v1.Pod) bool {
	for i := range p.Spec.InitContainers {
		if p.Spec.InitContainers[i].RestartPolicy != nil {
			return false
		}
	}
	for _, containers := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			for name, q := range containers[i].Resources.Requests {
				if q.IsZero() || !slices.Contains(everywhere, name) && (!util.IsScalarResourceName(name) || isPrefixed(name)) {
					return false
				}
			}
		}
	}
	return p.Spec.Resources == nil && p.Spec.Overhead == nil
}
