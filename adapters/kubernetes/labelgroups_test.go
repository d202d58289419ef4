package kubernetes_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/coscheduling"
)

func podGroup(name, spec string) string {
	return "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\n" +
		"metadata: {name: " + name + ", namespace: default, creationTimestamp: \"2026-06-01T12:00:00Z\"}\nspec: {" + spec + "}\nstatus: {phase: Pending}\n"
}

// groupWorld is a scheduler whose profile has Coscheduling.
type groupWorld struct {
	*fixture
	groups *custom
	log    said
}

func newGroupWorld(t *testing.T, coscheduled []string, groups ...string) *groupWorld {
	t.Helper()
	w := &groupWorld{groups: newCustom(t, customresources.PodGroups, "PodGroupList")}
	for _, text := range groups {
		w.groups.put(text)
	}
	profile := plugins.DefaultProfile()
	profile.Remove(plugins.GangScheduling, plugins.PrioritySort)
	extpoints.Use(&profile, coscheduling.New, coscheduling.Args{})
	client := kubetest.NewServer(node("n1", "10"))
	_, w.fixture = startWith(t, client, kubernetes.Options{
		Client: plain(client), Logger: w.log.logger(),
		Custom: kubernetes.Custom{Client: w.groups.client, Kinds: []customresources.Kind{customresources.PodGroups}, Coscheduled: coscheduled},
	}, profile)
	return w
}

// member makes a pod with the label.
func (w *groupWorld) member(name, group string) {
	w.Helper()
	p := pod(name, "1")
	p.Labels = map[string]string{"scheduling.x-k8s.io/pod-group": group}
	w.create(p)
}

// bound checks which of the pods have a node, when ten minutes have gone by.
func (w *groupWorld) bound(about string, want map[string]bool) {
	w.Helper()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	for name, is := range want {
		if node := w.pod(name).Spec.NodeName; (node != "") != is {
			w.Errorf("%s: %s is on %q", about, name, node)
		}
	}
}

// Pods with the label are members of the group, and none gets a node before minMember of them
// do.
func TestPodGroupsByLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGroupWorld(t, []string{v1.DefaultSchedulerName}, podGroup("g", "minMember: 2, minResources: {cpu: 2, pods: 50}"))
		w.member("a", "g")
		w.create(pod("single", "1"))
		w.bound("one of two", map[string]bool{"a": false, "single": true})
		w.member("b", "g")
		w.bound("both", map[string]bool{"a": true, "b": true})
		g, there := w.engine.View().Group("coscheduling/default/g")
		if !there || g.Group.Policy != model.Gang || g.Group.MinCount != 2 || !slices.Equal(g.Group.MinResources.Names(), []string{"cpu"}) || g.Group.MinResources.CPU != 2000 {
			t.Errorf("the group is %+v", g.Group)
		}

		w.member("c", "late")
		w.bound("no group", map[string]bool{"c": false})
		w.groups.put(podGroup("late", "minMember: 2"))
		w.bound("too few", map[string]bool{"c": false})
		w.groups.put(podGroup("late", "minMember: 1"))
		w.bound("enough now", map[string]bool{"c": true})
		w.groups.remove("default", "late")
		if _, there := w.engine.View().Group("coscheduling/default/late"); there {
			t.Error("a group that has gone is there")
		}
	})
}

// What all nodes together must have for a group, as it is now.
func TestMinResourcesOfPodGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGroupWorld(t, []string{v1.DefaultSchedulerName}, podGroup("g", "minMember: 2, minResources: {cpu: 11}"))
		w.member("a", "g")
		w.member("b", "g")
		w.bound("more than there is", map[string]bool{"a": false, "b": false})
		w.groups.put(podGroup("g", "minMember: 2, minResources: {cpu: 10}"))
		w.bound("all that there is", map[string]bool{"a": true, "b": true})
	})
}

// How long the members wait for each other is what the group says. 0 is as if it did not say so.
func TestScheduleTimeoutOfPodGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGroupWorld(t, []string{v1.DefaultSchedulerName}, podGroup("g", "minMember: 2, scheduleTimeoutSeconds: 90"))
		says := func(want time.Duration) {
			t.Helper()
			synctest.Wait()
			if g, there := w.engine.View().Group("coscheduling/default/g"); !there || g.Group.PermitTimeout != want {
				t.Errorf("the group is %+v, want %v", g, want)
			}
		}
		says(90 * time.Second)
		w.groups.put(podGroup("g", "minMember: 2, scheduleTimeoutSeconds: 0"))
		says(0)
		w.groups.put(podGroup("g", "minMember: 2"))
		says(0)
	})
}

// A group that makes no sense is logged by name and with the reason, and changes nothing.
func TestPodGroupsThatMakeNoSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGroupWorld(t, []string{v1.DefaultSchedulerName}, podGroup("bad", "minMember: 0"), podGroup("g", "minMember: 2"))
		w.log.once(t, "default/bad", "spec.minMember: Invalid value: 0: must be at least 1")
		for spec, why := range map[string]string{
			"minMember: -1":                             "spec.minMember: Invalid value: -1",
			"minMember: many":                           "cannot unmarshal string",
			"minMember: 1, minResources: {cpu: -1}":     "spec.minResources[cpu]: Invalid value",
			"minMember: 1, scheduleTimeoutSeconds: -1":  "spec.scheduleTimeoutSeconds: Invalid value: -1: must not be negative",
			"minMember: 1, minResources: {nonsense: 1}": "is not a resource that the scheduler counts",
		} {
			w.groups.put(podGroup("g", spec))
			w.log.once(t, "default/g", why)
		}
		w.member("a", "g")
		w.bound("it still needs two", map[string]bool{"a": false})
	})
}

// The label says nothing of pods whose profile does not have the plugin.
func TestPodGroupsOfOtherProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGroupWorld(t, nil, podGroup("g", "minMember: 2"))
		w.member("a", "g")
		w.bound("alone", map[string]bool{"a": true})
	})
}
