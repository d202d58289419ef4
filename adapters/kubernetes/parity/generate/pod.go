package generate

import (
	"fmt"
	"math"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SchedulerName is that of all pods.
const SchedulerName = "default-scheduler"

// Pod draws a pod that is on no node. See [Source.PodUID].
func (s *Source) Pod(name string) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace(), UID: s.PodUID(name), Labels: s.podLabels()}}
	p.OwnerReferences = s.owner()
	p.Spec = v1.PodSpec{SchedulerName: SchedulerName, Priority: s.priority(), Resources: s.podResources(), Overhead: s.overhead()}
	if s.Wild(20) {
		p.Spec.PreemptionPolicy = new(Pick(s, v1.PreemptLowerPriority, v1.PreemptNever))
	}
	s.containers(&p.Spec)
	s.ports(&p.Spec)
	if s.Wild(35) {
		for range 1 + s.IntN(3) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, s.toleration(s.Comparing))
		}
	}
	if s.Wild(15) {
		p.Spec.NodeSelector = s.nodeSelector()
	}
	s.affinity(p)
	p.Spec.TopologySpreadConstraints = s.spread()
	s.needs(&p.Spec)
	s.volumes(p)
	s.deviceClaims(p)
	s.spokenOf(p)
	s.classed(p)
	return p
}

func (s *Source) namespace() string {
	return Pick(s, append(Namespaces, "default", "default", "default")...)
}

func (s *Source) priority() *int32 {
	switch {
	case s.Percent(5):
		return nil
	case s.Uniform:
		return new(Pick(s, int32(0), 0, 0, 0, 5, 10))
	case s.Crowded:
		return new(Pick(s, int32(0), 0, 1, 1, 5, 10, 10, 100, -1, math.MaxInt32-1, math.MinInt32))
	}
	return new(Pick(s, int32(0), 0, 1, -1, 10))
}

// owner refers to one of the objects that [Source.Owners] draws, or to none.
func (s *Source) owner() []metav1.OwnerReference {
	if !s.Percent(30) {
		return nil
	}
	kind := Pick(s, "ReplicaSet", "StatefulSet", "ReplicationController", "Job")
	version := map[string]string{"ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "ReplicationController": "v1", "Job": "batch/v1"}[kind]
	if s.Percent(5) {
		version = "apps/v1beta2"
	}
	return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: ownerName(s.IntN(2)), Controller: new(s.Percent(90))}}
}

func (s *Source) containers(spec *v1.PodSpec) {
	containers, one := 1, s.Huge || s.Simple && s.Measured
	if !one && s.Percent(25) {
		containers = 1 + s.IntN(3)
	}
	for i := range containers {
		c := v1.Container{Name: fmt.Sprintf("c%d", i), Image: Pick(s, imageNames...)}
		if i == 0 || s.Percent(50) {
			c.Resources.Requests = s.Requests()
		}
		if s.Measured {
			c.Resources.Limits = s.limits(c.Resources.Requests)
		}
		spec.Containers = append(spec.Containers, c)
	}
	if one || !s.Wild(20) {
		return
	}
	for i := range 1 + s.IntN(3) {
		c := v1.Container{Name: fmt.Sprintf("i%d", i), Image: Pick(s, imageNames...)}
		if s.Percent(80) {
			c.Resources.Requests = s.Requests()
		}
		if !s.Simple && s.Percent(50) {
			c.RestartPolicy = new(v1.ContainerRestartPolicyAlways) // a sidecar
		}
		spec.InitContainers = append(spec.InitContainers, c)
	}
}

// ports draws host ports of containers of both kinds.
func (s *Source) ports(spec *v1.PodSpec) {
	if !s.Wild(30) {
		return
	}
	for range 1 + s.IntN(3) {
		c := &spec.Containers[s.IntN(len(spec.Containers))]
		if len(spec.InitContainers) > 0 && s.Percent(30) {
			c = &spec.InitContainers[s.IntN(len(spec.InitContainers))]
		}
		c.Ports = append(c.Ports, v1.ContainerPort{ContainerPort: 80, HostPort: Pick(s, int32(0), 1, 80, 80, 443),
			HostIP:   Pick(s, "", "", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::1"),
			Protocol: Pick(s, v1.ProtocolTCP, v1.ProtocolTCP, v1.ProtocolUDP, v1.ProtocolSCTP, "")})
	}
	withoutRepeatedPorts(spec.Containers)
	withoutRepeatedPorts(spec.InitContainers)
}

// withoutRepeatedPorts drops exact repetitions, which the API server does not
// let in.
func withoutRepeatedPorts(containers []v1.Container) {
	seen := map[string]bool{}
	for i := range containers {
		c := &containers[i]
		var kept []v1.ContainerPort
		for _, p := range c.Ports {
			protocol := p.Protocol
			if protocol == "" {
				protocol = v1.ProtocolTCP
			}
			key := fmt.Sprint(p.HostIP, " ", protocol, " ", p.HostPort)
			if !seen[key] || p.HostPort == 0 {
				seen[key] = true
				kept = append(kept, p)
			}
		}
		c.Ports = kept
	}
}

// toleration draws one, which may compare numbers where comparing.
func (s *Source) toleration(comparing bool) v1.Toleration {
	t := v1.Toleration{Effect: Pick(s, "", v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute)}
	t.Key, t.Value = Pick(s, taintKeys...), Pick(s, "", "a", "1")
	if comparing && s.Percent(50) {
		t.Operator = Pick(s, v1.TolerationOpGt, v1.TolerationOpLt)
		t.Value = Pick(s, "0", "1", "2", "7", "-3", "-7", "10", "9223372036854775806", "9223372036854775807", "-9223372036854775808")
		return t
	}
	switch s.IntN(4) {
	case 0:
		t.Operator, t.Value = v1.TolerationOpExists, ""
		if s.Percent(20) {
			t.Key = ""
		}
	case 1:
		t.Operator = ""
	default:
		t.Operator = v1.TolerationOpEqual
	}
	return t
}

func (s *Source) nodeSelector() map[string]string {
	selector := map[string]string{}
	for range 1 + s.IntN(2) {
		if s.Tame {
			selector["rack"] = Pick(s, "a", "b", "c")
		} else {
			selector[Pick(s, nodeKeys...)] = Pick(s, nodeValues...)
		}
	}
	return selector
}

func (s *Source) affinity(p *v1.Pod) {
	a := &v1.Affinity{}
	if s.Percent(25) {
		a.NodeAffinity = s.NodeAffinity()
	}
	s.relations(a, p.Labels)
	if *a != (v1.Affinity{}) || s.Percent(5) {
		p.Spec.Affinity = a
	}
}

// needs draws what only nodes with declared features can do.
func (s *Source) needs(spec *v1.PodSpec) {
	if !s.Wild(15) {
		return
	}
	if s.Percent(60) {
		spec.HostNetwork, spec.HostUsers = true, new(false)
	}
	if s.Percent(60) {
		spec.Containers[0].RestartPolicyRules = []v1.ContainerRestartRule{{Action: v1.ContainerRestartRuleActionRestartAllContainers}}
	}
}
