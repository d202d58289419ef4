package kubernetes

import (
	"slices"

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
	return p.those(func(o *v1.Pod) bool { return unconfined || slices.Contains(customresources.ProfilesOf(o), profile) })
}

// syscallsOf are the system calls that the pod may make, as far as profiles say.
func (a *Adapter) syscallsOf(o *v1.Pod) []string {
	if !a.opts.Custom.reads(customresources.SeccompProfiles) {
		return nil
	}
	return customresources.SyscallsOf(o, a.syscalls, a.opts.Custom.UnconfinedProfile)
}
