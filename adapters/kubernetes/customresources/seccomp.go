package customresources

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// seccompProfile is a SeccompProfile, as far as it is read (security-profiles-operator.x-k8s.io/
// v1beta1).
type seccompProfile struct {
	Spec struct {
		Syscalls []struct {
			Names  []string `json:"names"`
			Action string   `json:"action"`
		} `json:"syscalls"`
	} `json:"spec"`
}

// Syscalls are the system calls that a SeccompProfile names and lets through, with a line in
// the log or without, in ascending order. What it does with those that it does not name is not
// read, and neither is a profile that it is based on.
//
// Rules: kubernetes-sigs/scheduler-plugins, pkg/sysched readSPOProfileCR, commit 903da7df.
func Syscalls(profile *unstructured.Unstructured) ([]string, error) {
	p, err := decode[seccompProfile](profile)
	if err != nil {
		return nil, err
	}
	var calls []string
	for _, rule := range p.Spec.Syscalls {
		if rule.Action == "SCMP_ACT_ALLOW" || rule.Action == "SCMP_ACT_LOG" {
			calls = append(calls, rule.Names...)
		}
	}
	if slices.Contains(calls, "") {
		return nil, errors.New("spec.syscalls: a name is empty")
	}
	slices.Sort(calls)
	return slices.Compact(calls), nil
}

// SyscallsOf are the system calls that the pod may make, in ascending order: those of all profiles
// that it names or, where these say nothing, those of the profile unconfined. The calls of profiles
// are by namespace/name.
func SyscallsOf(o *v1.Pod, profiles map[string][]string, unconfined string) []string {
	var calls []string
	for _, profile := range ProfilesOf(o) {
		calls = append(calls, profiles[profile]...)
	}
	if len(calls) == 0 {
		return profiles[unconfined]
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// seccompAnnotation is part of the annotations that named profiles before pods had a field for
// them.
const seccompAnnotation = "seccomp.security.alpha.kubernetes.io"

// ProfilesOf are the namespace/names of the profiles that the pod names: in its security
// context, in those of its containers other than init containers, and in the first of its
// annotations about it.
//
// Rules: kubernetes-sigs/scheduler-plugins, pkg/sysched getSyscalls, commit 903da7df, which
// takes any one of several annotations.
func ProfilesOf(o *v1.Pod) []string {
	var list []string
	add := func(file string) {
		if namespace, name := path.Base(path.Dir(file)), path.Base(file); strings.Contains(file, "/") {
			list = append(list, namespace+"/"+strings.TrimSuffix(name, path.Ext(name)))
		}
	}
	addLocal := func(p *v1.SeccompProfile) {
		if p != nil && p.Type == v1.SeccompProfileTypeLocalhost && p.LocalhostProfile != nil {
			add(*p.LocalhostProfile)
		}
	}
	if c := o.Spec.SecurityContext; c != nil {
		addLocal(c.SeccompProfile)
	}
	for i := range o.Spec.Containers {
		if c := o.Spec.Containers[i].SecurityContext; c != nil {
			addLocal(c.SeccompProfile)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Annotations)) {
		if strings.Contains(key, seccompAnnotation) {
			add(o.Annotations[key])
			break
		}
	}
	return list
}
