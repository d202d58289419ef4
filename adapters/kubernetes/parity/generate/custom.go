package generate

import (
	v1 "k8s.io/api/core/v1"
)

// What custom resources are called that pods name. Of each list the last is not there.
var (
	// Apps are applications, and Components their parts.
	Apps       = []string{"shop", "bank", "lost"}
	Components = []string{"web", "api", "db", "cache", "lost"}
	// Profiles are seccomp profiles.
	Profiles = []string{"web", "db", "batch", "lost"}
)

// The labels that say of which component of which application a pod is.
const (
	AppLabel       = "appgroup.diktyo.x-k8s.io"
	ComponentLabel = AppLabel + ".workload"
)

// spokenOf draws what custom resources speak of: of which application the pod is, and under
// which profiles it runs. Some pods are guaranteed what they request.
func (s *Source) spokenOf(p *v1.Pod) {
	if !s.Custom {
		return
	}
	if s.Percent(75) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[AppLabel] = s.there(Apps)
		if s.Percent(92) {
			p.Labels[ComponentLabel] = s.there(Components)
		}
	}
	s.confine(p)
	switch {
	case s.Percent(40):
		guarantee(p.Spec.Containers)
		guarantee(p.Spec.InitContainers)
	case s.Simple:
		p.Spec.InitContainers = nil
	}
}

// there draws one of the names, and now and then the last.
func (s *Source) there(names []string) string {
	if s.Wild(8) {
		return names[len(names)-1]
	}
	return Pick(s, names[:len(names)-1]...)
}

// confine draws the seccomp profiles of the pod and its containers. Of several annotations about
// them the reference reads any one, so that there is one.
func (s *Source) confine(p *v1.Pod) {
	if s.Percent(30) {
		p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: s.seccomp()}
	}
	for i := range p.Spec.Containers {
		if s.Percent(35) {
			p.Spec.Containers[i].SecurityContext = &v1.SecurityContext{SeccompProfile: s.seccomp()}
		}
	}
	for i := range p.Spec.InitContainers {
		if s.Percent(35) {
			p.Spec.InitContainers[i].SecurityContext = &v1.SecurityContext{SeccompProfile: s.seccomp()}
		}
	}
	if s.Percent(15) {
		key := Pick(s, "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/c0", "seccomp.example.com/pod")
		p.Annotations = map[string]string{key: s.profileFile()}
	}
}

func (s *Source) seccomp() *v1.SeccompProfile {
	if s.Wild(12) {
		return Pick(s, nil, &v1.SeccompProfile{Type: v1.SeccompProfileTypeUnconfined}, &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost})
	}
	return &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost, LocalhostProfile: new(s.profileFile())}
}

// profileFile is the file of a profile, as the operator of profiles names it, or in another way.
func (s *Source) profileFile() string {
	name := s.there(Profiles)
	if s.Wild(10) {
		return Pick(s, "", name, name+".json", "/"+name+".json", "default/"+name, "default/"+name+".json.json")
	}
	return Pick(s, "", "localhost/") + "operator/" + Pick(s, "default", "default", "team-a") + "/" + name + ".json"
}

// guarantee has the containers request CPU and memory, and no less than they may use.
func guarantee(containers []v1.Container) {
	for i := range containers {
		r := &containers[i].Resources
		if r.Requests == nil {
			r.Requests = v1.ResourceList{}
		}
		for name, least := range map[v1.ResourceName]string{v1.ResourceCPU: "500m", v1.ResourceMemory: "128Mi"} {
			if q := r.Requests[name]; q.IsZero() {
				r.Requests[name] = quantity(least)
			}
		}
		r.Limits = r.Requests.DeepCopy()
	}
}
