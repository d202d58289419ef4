package kubernetes

import (
	"maps"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/engine"
)

// syscalls are the system calls of the SeccompProfiles that there are, by namespace/name. Only
// the goroutine that tells the engine uses them.
type syscalls map[string][]string

// profileChanged looks again at the pods that a SeccompProfile says something of. One that
// cannot be read stays as it was.
func (a *Adapter) profileChanged(before, after any) []engine.Change {
	name := nameOf(before, after)
	is := as[unstructured.Unstructured](after)
	if is == nil {
		delete(a.syscalls, name)
		return a.pods.confinedBy(name)
	}
	calls, err := customresources.Syscalls(is)
	if err != nil {
		a.problem(string(customresources.SeccompProfiles), name, err)
		return nil
	}
	if was, known := a.syscalls[name]; known && slices.Equal(was, calls) {
		return nil
	}
	a.syscalls[name] = calls
	return a.pods.confinedBy(name)
}

// confinedBy looks again at the pods of whose system calls the profile may say something,
// those on nodes among them.
func (p *pods) confinedBy(profile string) []engine.Change {
	unconfined := profile == p.a.opts.Custom.UnconfinedProfile // which pods that is for hangs on the others
	return p.those(func(o *v1.Pod) bool { return unconfined || slices.Contains(profilesOf(o), profile) })
}

// syscallsOf are the system calls that the pod may make: those of all its profiles or, where
// these say nothing, those of UnconfinedProfile.
func (a *Adapter) syscallsOf(o *v1.Pod) []string {
	if !a.opts.Custom.reads(customresources.SeccompProfiles) {
		return nil
	}
	var calls []string
	for _, profile := range profilesOf(o) {
		calls = append(calls, a.syscalls[profile]...)
	}
	if len(calls) == 0 {
		return a.syscalls[a.opts.Custom.UnconfinedProfile]
	}
	slices.Sort(calls)
	return slices.Compact(calls)
}

// seccompAnnotation is part of the annotations that named profiles before pods had a field for
// them.
const seccompAnnotation = "seccomp.security.alpha.kubernetes.io"

// profilesOf are the namespace/names of the profiles that the pod names: in its security
// context, in those of its containers other than init containers, and in the first of its
// annotations about it.
//
// Rules: kubernetes-sigs/scheduler-plugins, pkg/sysched getSyscalls, commit 903da7df, which
// takes any one of several annotations.
func profilesOf(o *v1.Pod) []string {
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
