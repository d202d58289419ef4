package generate

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ScalarNames are names of resources that no side knows by itself.
var ScalarNames = []string{"example.com/gpu", "example.com/fpga", "other.io/nic", "hugepages-2Mi",
	"attachable-volumes-aws-ebs", "x.kubernetes.io/thing", "requests.io/odd"}

func (s *Source) cpu() resource.Quantity {
	if s.Huge && s.Percent(15) {
		return s.quantities("9223372036854775807m", "9223372036854775", "92233720368547758m", "92233720368547759m",
			"4611686018427387904m", "184467440737095516m")
	}
	return s.quantities("0", "1m", "100m", "250m", "500m", "1", "1500m", "1.5", "2", "100u", "1e1", "3333u", "0.0001", "7", "64", "100k",
		"90071992547409919m")
}

func (s *Source) memory() resource.Quantity {
	if s.Huge && s.Percent(15) {
		return s.quantities("9223372036854775807", "8Ei", "7Ei", "92233720368547758", "92233720368547759", "4Ei", "80Pi", "82Pi", "160Pi")
	}
	return s.quantities("0", "1", "1k", "1Ki", "128Mi", "200Mi", "1Gi", "1.5Gi", "4Gi", "1500m", "0.5", "1e9", "123456789", "64Gi", "3Ti",
		"80Pi", "79Pi")
}

func (s *Source) count() resource.Quantity {
	if s.Huge && s.Percent(10) {
		return s.quantities("9223372036854775807", "4611686018427387904", "92233720368547759")
	}
	return s.quantities("0", "1", "2", "3", "4", "8", "100")
}

// allocatable is what a node offers.
func (s *Source) allocatable() v1.ResourceList {
	a := v1.ResourceList{}
	if s.Uniform {
		return v1.ResourceList{v1.ResourceCPU: quantity("4"), v1.ResourceMemory: quantity("16Gi"), v1.ResourcePods: quantity("110")}
	}
	if s.Tame {
		a[v1.ResourceCPU] = s.quantities("4", "4", "8", "16")
		a[v1.ResourceMemory] = s.quantities("16Gi", "16Gi", "32Gi")
		a[v1.ResourcePods] = s.quantities("110", "110", "110", "110", "110", "5", "0")
		if s.Percent(20) {
			a["example.com/gpu"] = s.quantities("1", "4", "8")
		}
		return a
	}
	if s.Percent(95) {
		a[v1.ResourceCPU] = s.cpu()
	}
	if s.Percent(95) {
		a[v1.ResourceMemory] = s.memory()
	}
	if s.Percent(60) {
		a[v1.ResourceEphemeralStorage] = s.memory()
	}
	if s.Percent(92) {
		a[v1.ResourcePods] = s.quantities("0", "1", "2", "3", "5", "110", "110", "110", "1000000")
	}
	for range s.IntN(4) {
		a[v1.ResourceName(Pick(s, ScalarNames...))] = s.count()
	}
	if s.Percent(5) {
		a["storage"] = quantity("5") // a name that the scheduler does not count
	}
	return a
}

// Requests is what a container asks for; nil for one that does not say.
func (s *Source) Requests() v1.ResourceList {
	if s.Uniform {
		return v1.ResourceList{v1.ResourceCPU: s.quantities("1", "1", "1", "2", "3", "4"), v1.ResourceMemory: s.quantities("1Gi", "1Gi", "2Gi")}
	}
	if s.Tame {
		r := v1.ResourceList{}
		if s.Percent(85) {
			r[v1.ResourceCPU] = s.quantities("100m", "250m", "500m", "1", "1", "3")
		}
		if s.Percent(85) {
			r[v1.ResourceMemory] = s.quantities("128Mi", "512Mi", "1Gi", "2Gi", "17Gi")
		}
		if s.Percent(10) {
			r["example.com/gpu"] = s.quantities("1", "1", "2", "9")
		}
		return r
	}
	if s.Percent(20) {
		return nil
	}
	r := v1.ResourceList{}
	if s.Percent(70) {
		r[v1.ResourceCPU] = s.cpu()
	}
	if s.Percent(70) {
		r[v1.ResourceMemory] = s.memory()
	}
	if s.Percent(30) {
		r[v1.ResourceEphemeralStorage] = s.memory()
	}
	for range Pick(s, 0, 0, 1, 1, 2, 3) {
		r[v1.ResourceName(Pick(s, ScalarNames...))] = s.count()
	}
	return r
}

// limits are the most that a container may use, which is no less than what it asks for. Of other
// resources than CPU, memory and storage it is just that, as an API server wants it.
func (s *Source) limits(requests v1.ResourceList) v1.ResourceList {
	l := requests.DeepCopy()
	if l == nil {
		l = v1.ResourceList{}
	}
	delete(l, v1.ResourceCPU)
	delete(l, v1.ResourceMemory)
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		if !s.Percent(60) {
			continue
		}
		limit := requests[name].DeepCopy()
		if limit.IsZero() || s.Percent(50) {
			more := quantity("700m")
			if name == v1.ResourceMemory {
				more = quantity("300Mi")
			}
			limit.Add(more)
		}
		l[name] = limit
	}
	return l
}

// capacity is what a node has, whether pods can have it or not.
func (s *Source) capacity() v1.ResourceList {
	return v1.ResourceList{v1.ResourceCPU: s.quantities("1", "2500m", "4", "8", "16"), v1.ResourceMemory: s.quantities("1Gi", "16Gi", "33Gi")}
}

// podResources are requests of the pod as a whole; mostly nil.
func (s *Source) podResources() *v1.ResourceRequirements {
	if s.ByContainer || s.Simple || !s.Wild(10) {
		return nil
	}
	r := &v1.ResourceRequirements{Requests: v1.ResourceList{}}
	if s.Percent(60) {
		r.Requests[v1.ResourceCPU] = s.quantities("0", "200m", "1", "3", "16")
	}
	if s.Percent(60) {
		r.Requests[v1.ResourceMemory] = s.quantities("0", "1Gi", "3Gi", "20Gi")
	}
	if s.Percent(15) {
		r.Requests["hugepages-2Mi"] = s.quantities("0", "2Mi", "4Mi")
	}
	return r
}

// overhead is what running the pod costs beside its containers; mostly nil.
func (s *Source) overhead() v1.ResourceList {
	if s.Simple || !s.Wild(10) {
		return nil
	}
	return v1.ResourceList{v1.ResourceCPU: s.quantities("0", "10m", "250m"), v1.ResourceMemory: s.quantities("0", "64Mi", "120Mi")}
}
