package pluginlevel

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	kresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/loadvariationriskbalancing"
	"github.com/berth-project/berth/plugins/lowriskovercommitment"
	"github.com/berth-project/berth/plugins/peaks"
	"github.com/berth-project/berth/plugins/targetloadpacking"
)

// ofLoads are the plugins that go by what is measured.
func ofLoads(s *generate.Source, address string) []variant {
	from := config.TrimaranSpec{WatcherAddress: address}
	return []variant{
		packing(s, from), // one: its arguments are those of the process
		variation("", from, 1, 1), variation("factors", from, generate.Pick(s, 0, 0.5, 2, 3), generate.Pick(s, 0, 0.5, 2, 3)),
		lowRisk("", from, 5, nil), lowRisk("weights", from, int64(1+s.IntN(10)), map[string]float64{"cpu": s.Float64(), "memory": generate.Pick(s, 0, 1, 0.3)}),
		power(s, address),
	}
}

func packing(s *generate.Source, from config.TrimaranSpec) variant {
	target, usual := int64(1+s.IntN(100)), int64(s.IntN(3000))
	multiplier := generate.Pick(s, 1.5, 1.5, 0, 1, 2.25)
	return variant{plugins.TargetLoadPacking, "",
		&config.TargetLoadPackingArgs{TrimaranSpec: from, TargetUtilization: target, DefaultRequestsMultiplier: strconv.FormatFloat(multiplier, 'g', -1, 64),
			DefaultRequests: v1.ResourceList{v1.ResourceCPU: *resource.NewMilliQuantity(usual, resource.DecimalSI)}},
		targetloadpacking.Args{Target: target, Multiplier: &multiplier, DefaultRequest: &usual}}
}

func variation(name string, from config.TrimaranSpec, margin, sensitivity float64) variant {
	return variant{plugins.LoadVariationRiskBalancing, name,
		&config.LoadVariationRiskBalancingArgs{TrimaranSpec: from, SafeVarianceMargin: margin, SafeVarianceSensitivity: sensitivity},
		loadvariationriskbalancing.Args{Margin: &margin, Sensitivity: &sensitivity}}
}

func lowRisk(name string, from config.TrimaranSpec, windows int64, weights map[string]float64) variant {
	ref := &config.LowRiskOverCommitmentArgs{TrimaranSpec: from, SmoothingWindowSize: windows, RiskLimitWeights: map[v1.ResourceName]float64{}}
	for resource, w := range weights {
		ref.RiskLimitWeights[v1.ResourceName(resource)] = w
	}
	return variant{plugins.LowRiskOverCommitment, name, ref, lowriskovercommitment.Args{Smoothing: windows, LimitWeights: weights}}
}

// power draws how much power some of the nodes draw.
func power(s *generate.Source, address string) variant {
	ref := &config.PeaksArgs{WatcherAddress: address, NodePowerModel: map[string]config.PowerModel{}}
	sub := peaks.Args{Models: map[string]peaks.PowerModel{}}
	for i := range s.Nodes {
		if i > 0 && s.Percent(15) {
			continue
		}
		m := peaks.PowerModel{K1: -s.Float64() * 200, K2: -s.Float64() / 5}
		sub.Models[generate.NodeName(i)] = m
		ref.NodePowerModel[generate.NodeName(i)] = config.PowerModel{K0: 100, K1: m.K1, K2: m.K2}
	}
	return variant{plugins.Peaks, "", ref, sub}
}

// otherSums ends the names of places where the reference sums up what pods ask for, or may use, in
// a way of its own.
const otherSums = " for pods whose amounts it sums up in its own way"

// sums says of a node whether the reference sums up what matters to the plugin as the model does,
// and knows of it.
func (a *asked) sums(ref fwk.NodeInfo, sub *extpoints.NodeInfo) string {
	alike := true
	each := func(same func(*v1.Pod, *model.Workload) bool) {
		for i, p := range ref.GetPods() {
			alike = alike && same(p.GetPod(), sub.Workloads[i].Workload)
		}
	}
	switch a.subject.Name() {
	case plugins.SySched:
		if !a.confined(sub) {
			return unknownCalls
		}
	case plugins.NodeResourceTopologyMatch:
		alike = alignedAlike(a.pod)
	case plugins.TargetLoadPacking:
		if alike = isSimple(a.pod); a.recent {
			each(func(p *v1.Pod, _ *model.Workload) bool { return isSimple(p) })
		}
	case plugins.LoadVariationRiskBalancing:
		r := trimaran.GetResourceRequested(a.pod)
		alike = r.MilliCPU == a.info.Requests.CPU && r.Memory == a.info.Requests.Memory
	case plugins.LowRiskOverCommitment:
		alike = mayUseAlike(a.pod, a.info.Workload)
		each(mayUseAlike)
	case plugins.Peaks:
		q := kresource.GetResourceRequestQuantity(a.pod, v1.ResourceCPU)
		alike = q.MilliValue() == a.info.Requests.CPU
	}
	if alike {
		return ""
	}
	return otherSums
}

// isSimple reports whether the pod is one container, so that it does not matter whether amounts are
// looked at by container, and none is 0.
func isSimple(p *v1.Pod) bool {
	if len(p.Spec.Containers) != 1 || len(p.Spec.InitContainers) > 0 || p.Spec.Resources != nil || p.Spec.Overhead != nil || len(p.Status.ContainerStatuses) > 0 {
		return false
	}
	c := &p.Spec.Containers[0].Resources
	for _, list := range []v1.ResourceList{c.Requests, c.Limits} {
		if q, ok := list[v1.ResourceCPU]; ok && q.IsZero() {
			return false
		}
	}
	return true
}

func mayUseAlike(p *v1.Pod, w *model.Workload) bool {
	r, l := trimaran.GetResourceRequested(p), trimaran.GetResourceLimits(p)
	trimaran.SetMaxLimits(r, l)
	return r.MilliCPU == w.Requests.CPU && r.Memory == w.Requests.Memory &&
		l.MilliCPU == max(w.UsageLimits.CPU, w.Requests.CPU) && l.Memory == max(w.UsageLimits.Memory, w.Requests.Memory)
}
