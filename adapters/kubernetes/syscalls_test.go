package kubernetes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

func seccompProfile(namespace, name, calls string) string {
	return "apiVersion: security-profiles-operator.x-k8s.io/v1beta1\nkind: SeccompProfile\nmetadata: {name: " + name + ", namespace: " + namespace + "}\n" +
		"spec: {syscalls: [{action: SCMP_ACT_ALLOW, names: [" + calls + "]}]}\n"
}

func local(file string) *v1.SeccompProfile {
	return &v1.SeccompProfile{Type: v1.SeccompProfileTypeLocalhost, LocalhostProfile: &file}
}

// A pod makes the calls of all profiles that it names, or else those of the profile for such
// pods, as they are now, whether it runs or waits.
func TestSyscallsFollowTheProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		profiles := newCustom(t, customresources.SeccompProfiles, "SeccompProfileList")
		profiles.put(seccompProfile("default", "all", "bind, open, read"))
		profiles.put(seccompProfile("ns", "web", "read, accept"))
		var log said
		client := kubetest.NewServer(node("n1", "10"), node("n2", "10"))
		_, s := start(t, client, kubernetes.Options{Client: client, Logger: log.logger(), Custom: kubernetes.Custom{
			Client: profiles.client, Kinds: []customresources.Kind{customresources.SeccompProfiles}, UnconfinedProfile: "default/all",
		}})
		for name, of := range map[string]func(*v1.Pod){
			"pod": func(p *v1.Pod) {
				p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: local("operator/ns/web.json")}
			},
			"container": func(p *v1.Pod) {
				p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{SeccompProfile: local("localhost/operator/ns/web.json")}
			},
			"annotated": func(p *v1.Pod) {
				p.Annotations = map[string]string{
					"container.seccomp.security.alpha.kubernetes.io/c": "localhost/operator/ns/web.json",
					"seccomp.security.alpha.kubernetes.io/pod":         "localhost/operator/ns/none.json",
				}
			},
			"init": func(p *v1.Pod) {
				p.Spec.InitContainers = []v1.Container{{Name: "i", SecurityContext: &v1.SecurityContext{SeccompProfile: local("operator/ns/web.json")}}}
			},
			"both": func(p *v1.Pod) {
				p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: local("operator/default/all.json")}
				p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{SeccompProfile: local("operator/ns/web.json")}
			},
			"plain": func(*v1.Pod) {},
			"missing": func(p *v1.Pod) {
				p.Spec.Containers[0].SecurityContext = &v1.SecurityContext{SeccompProfile: local("operator/ns/none.json")}
			},
			"unconfined": func(p *v1.Pod) {
				p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: &v1.SeccompProfile{Type: v1.SeccompProfileTypeUnconfined}}
			},
			"file":  func(p *v1.Pod) { p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: local("web.json")} },
			"waits": func(p *v1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "node"} },
		} {
			p := pod(name, "1")
			of(p)
			s.create(p)
		}
		synctest.Wait()
		expect := func(about string, want map[string]string) {
			t.Helper()
			for calls, names := range want {
				for name := range strings.FieldsSeq(names) {
					w, _ := s.engine.View().Workload(string(s.pod(name).UID))
					if !slices.Equal(w.Syscalls, strings.Fields(calls)) || (w.Node == "") != (name == "waits") {
						t.Errorf("%s: %s on %q makes %q, want %s", about, name, w.Node, w.Syscalls, calls)
					}
				}
			}
		}
		const named, unnamed = "pod container annotated", "init plain missing unconfined file waits"
		expect("at first", map[string]string{"accept read": named, "bind open read": unnamed, "accept bind open read": "both"})

		profiles.put(seccompProfile("ns", "web", "write"))
		expect("after a change", map[string]string{"write": named, "bind open read": unnamed, "bind open read write": "both"})

		profiles.put(strings.Replace(seccompProfile("ns", "web", "write"), "[write]", "write", 1))
		log.once(t, "ns/web", "seccompprofiles", "cannot unmarshal string")
		expect("after one that cannot be read", map[string]string{"write": named, "bind open read write": "both"})

		profiles.put(seccompProfile("ns", "none", "exit"))
		expect("with another", map[string]string{"exit": "missing", "write": "pod container annotated"})

		profiles.remove("ns", "web")
		expect("without the profile", map[string]string{"bind open read": named + " plain", "exit": "missing"})

		profiles.remove("default", "all")
		expect("without any", map[string]string{"": named + " both plain waits", "exit": "missing"})
	})
}

// Where no profile of the scheduler goes by system calls nobody is asked for them.
func TestSyscallsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule(t, node("n1", "10"))
		p := pod("a", "1")
		p.Spec.SecurityContext = &v1.PodSecurityContext{SeccompProfile: local("operator/ns/web.json")}
		s.create(p)
		synctest.Wait()
		if w, _ := s.engine.View().Workload(string(s.pod("a").UID)); w.Node != "n1" || w.Syscalls != nil {
			t.Errorf("on %q it makes %q", w.Node, w.Syscalls)
		}
	})
}
