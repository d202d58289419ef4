package generate

import (
	"math"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ChangePod returns a changed copy of the pod. The change may be none at all.
// What an API server never lets change stays.
func (s *Source) ChangePod(old *v1.Pod) *v1.Pod {
	p := old.DeepCopy()
	for range 1 + s.IntN(2) {
		c := &p.Spec.Containers[0]
		switch s.IntN(7) {
		case 0:
			p.Labels = s.podLabels()
		case 1, 2:
			if s.PlainChanges {
				s.changeOneRequest(c)
			} else {
				c.Resources.Requests = s.Requests()
			}
		case 3:
			p.Spec.Tolerations = append(p.Spec.Tolerations, s.toleration(s.Compares()))
		case 4:
			if n := len(p.Spec.SchedulingGates); n > 0 {
				p.Spec.SchedulingGates = p.Spec.SchedulingGates[:s.IntN(n)]
			}
		case 5:
			s.changeOneRequest(c)
		case 6: // something that no plugin cares for
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			p.Annotations["note"] = Pick(s, "a", "b")
		}
		switch {
		case s.Measured:
			c.Resources.Limits = s.limits(c.Resources.Requests)
		case c.Resources.Limits != nil: // it is guaranteed what it requests, and stays so
			c.Resources.Limits = c.Resources.Requests.DeepCopy()
		}
	}
	return p
}

func (s *Source) changeOneRequest(c *v1.Container) {
	drawn := s.Requests()
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage} {
		old, asked := c.Resources.Requests[name]
		if !asked {
			continue
		}
		if q, ok := drawn[name]; ok && (!s.PlainChanges || isPlain(name, old) && isPlain(name, q)) {
			c.Resources.Requests[name] = q
		}
		return
	}
}

// isPlain reports whether an amount is a whole number of units, above zero and
// far below what 64 bits can hold.
func isPlain(name v1.ResourceName, q resource.Quantity) bool {
	units := q.Value()
	if name == v1.ResourceCPU {
		units = q.MilliValue()
		return units > 0 && units < math.MaxInt64/1000 && q.Cmp(*resource.NewMilliQuantity(units, resource.DecimalSI)) == 0
	}
	return units > 0 && units < math.MaxInt64/1000 && q.CmpInt64(units) == 0
}

// Gate adds scheduling gates to the pod.
func (s *Source) Gate(p *v1.Pod) {
	p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "a"}, {Name: "b"}}[:1+s.IntN(2)]
}

// On returns a copy of the pod that is on the node since the time.
func (s *Source) On(old *v1.Pod, node string, since time.Time) *v1.Pod {
	p := old.DeepCopy()
	p.Spec.NodeName = node
	p.Status.StartTime = &metav1.Time{Time: since}
	s.scheduled(p, since)
	return p
}

// Placed is as On. Now and then the containers have been resized there, or the pod is terminating.
func (s *Source) Placed(old *v1.Pod, node string, since time.Time) *v1.Pod {
	p := s.On(old, node, since)
	if s.Custom {
		p.Status.Phase = v1.PodRunning
	}
	if !s.Simple && s.Wild(8) {
		p.Status.ContainerStatuses = []v1.ContainerStatus{s.resized(&p.Spec.Containers[0])}
	}
	if s.Percent(8) {
		p.DeletionTimestamp = &metav1.Time{Time: since}
	}
	return p
}

// resized is the status of a container that has other resources than it is to
// have.
func (s *Source) resized(c *v1.Container) v1.ContainerStatus {
	status := v1.ContainerStatus{Name: c.Name, AllocatedResources: s.Requests()}
	if s.Percent(70) {
		status.Resources = &v1.ResourceRequirements{Requests: s.Requests()}
	}
	return status
}
