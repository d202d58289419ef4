package pluginlevel

import (
	"cmp"
	"fmt"
	"slices"

	agv1alpha1 "github.com/diktyo-io/appgroup-api/pkg/apis/appgroup/v1alpha1"
	ntv1alpha1 "github.com/diktyo-io/networktopology-api/pkg/apis/networktopology/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	seccompprofile "sigs.k8s.io/security-profiles-operator/api/seccompprofile/v1beta1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
)

const (
	// unconfined is the profile of pods without one, which may be missing.
	unconfined = "default/all-syscalls"
	// network is the name of the network topologies.
	network = "nt-default"
)

// weightNames are the names of costs. Those of the second are sorted by who measures them.
var weightNames = []string{"UserDefined", ntv1alpha1.NetworkTopologyNetperfCosts}

// kindOf is the type and the identity of an object.
func kindOf(group, version, kind, namespace, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
	return metav1.TypeMeta{APIVersion: group + "/" + version, Kind: kind}, metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)}
}

// seccompProfiles draws profiles; some are missing, some let nothing through.
func (c *beside) seccompProfiles() (list []client.Object) {
	for _, namespace := range []string{"default", "team-a"} {
		for _, name := range generate.Profiles[:len(generate.Profiles)-1] {
			if c.Wild(15) {
				continue
			}
			list = append(list, c.seccompProfile(namespace, name, 4))
		}
	}
	if c.complete || !c.Wild(20) {
		list = append(list, c.unconfined())
	}
	return list
}

// unconfined draws the profile of pods without one.
func (c *beside) unconfined() client.Object {
	p := c.seccompProfile("default", "all-syscalls", 12)
	if c.complete {
		p.Spec.Syscalls = append(p.Spec.Syscalls, &seccompprofile.Syscall{Action: "SCMP_ACT_ALLOW", Names: []string{"call0"}})
	}
	return p
}

// seccompProfile draws one that names so many system calls, or less.
func (c *beside) seccompProfile(namespace, name string, most int) *seccompprofile.SeccompProfile {
	p := &seccompprofile.SeccompProfile{}
	p.TypeMeta, p.ObjectMeta = kindOf("security-profiles-operator.x-k8s.io", "v1beta1", "SeccompProfile", namespace, name)
	p.Spec.DefaultAction = "SCMP_ACT_ERRNO"
	for range c.IntN(4) {
		rule := &seccompprofile.Syscall{Action: "SCMP_ACT_ALLOW", Names: []string{}}
		rule.Action = generate.Pick(c.Source, rule.Action, rule.Action, "SCMP_ACT_LOG", "SCMP_ACT_ERRNO")
		for range c.IntN(most + 1) {
			rule.Names = append(rule.Names, fmt.Sprintf("call%d", c.IntN(12)))
		}
		p.Spec.Syscalls = append(p.Spec.Syscalls, rule)
	}
	return p
}

// appGroups draws applications; of one of a name in several namespaces the arguments say which is
// meant.
func (c *beside) appGroups() (list []client.Object) {
	for _, namespace := range []string{"default", "team-a"} {
		for i, name := range generate.Apps {
			missing := i == len(generate.Apps)-1 || (namespace != "default" || c.Wild(8)) && !c.Percent(40)
			if c.complete || !missing {
				list = append(list, c.appGroup(namespace, name))
			}
		}
	}
	return list
}

func (c *beside) appGroup(namespace, name string) client.Object {
	g := &agv1alpha1.AppGroup{}
	g.TypeMeta, g.ObjectMeta = kindOf(generate.AppLabel, "v1alpha1", "AppGroup", namespace, name)
	for _, i := range c.Perm(len(generate.Components)) {
		if c.Percent(20) {
			continue
		}
		w := agv1alpha1.AppGroupWorkload{Workload: agv1alpha1.AppGroupWorkloadInfo{Kind: "Deployment", Name: "any", Selector: generate.Components[i]}}
		for _, j := range c.Perm(len(generate.Components))[:c.IntN(4)] { // itself included
			w.Dependencies = append(w.Dependencies, agv1alpha1.DependenciesInfo{
				Workload:       agv1alpha1.AppGroupWorkloadInfo{Selector: generate.Components[j]},
				MaxNetworkCost: generate.Pick(c.Source, int64(0), 1, 5, 10, 20, 100, 10000),
			})
		}
		g.Spec.Workloads = append(g.Spec.Workloads, w)
	}
	g.Spec.NumMembers = int32(len(g.Spec.Workloads))
	return g
}

// networkTopologies draws what it costs to go from one place to another.
func (c *beside) networkTopologies() (list []client.Object) {
	for _, namespace := range []string{"default", "team-a"} {
		if missing := namespace == "default" && c.Wild(10) || namespace != "default" && c.Percent(40); missing && !c.complete {
			continue
		}
		t := &ntv1alpha1.NetworkTopology{}
		t.TypeMeta, t.ObjectMeta = kindOf("networktopology.diktyo.x-k8s.io", "v1alpha1", "NetworkTopology", namespace, network)
		for i, name := range weightNames {
			w := ntv1alpha1.WeightInfo{Name: name, TopologyList: ntv1alpha1.TopologyList{
				c.costs(ntv1alpha1.NetworkTopologyZone, "z0", "z1", "z2", "z3", "z4", "elsewhere"),
				c.costs(ntv1alpha1.NetworkTopologyRegion, "r1", "r2", "r3"),
			}}
			if c.Percent(10) {
				w.TopologyList = w.TopologyList[:1]
			}
			if i > 0 {
				sortCosts(w.TopologyList)
			}
			t.Spec.Weights = append(t.Spec.Weights, w)
		}
		list = append(list, t)
	}
	return list
}

// costs draws those between the places, in any order. Not all are known, and not all the same in
// both directions.
func (c *beside) costs(key ntv1alpha1.TopologyKey, places ...string) ntv1alpha1.TopologyInfo {
	t := ntv1alpha1.TopologyInfo{TopologyKey: key, OriginList: ntv1alpha1.OriginList{}}
	for _, i := range c.Perm(len(places)) {
		if c.Percent(12) {
			continue
		}
		from := ntv1alpha1.OriginInfo{Origin: places[i]}
		for _, j := range c.Perm(len(places)) {
			if c.Percent(85) {
				from.CostList = append(from.CostList, ntv1alpha1.CostInfo{Destination: places[j], NetworkCost: generate.Pick(c.Source, int64(0), 1, 5, 10, 20, 99, 100, 5000)})
			}
		}
		t.OriginList = append(t.OriginList, from)
	}
	return t
}

// sortCosts puts them in the order in which they are when they have been measured.
func sortCosts(list ntv1alpha1.TopologyList) {
	slices.SortFunc(list, func(a, b ntv1alpha1.TopologyInfo) int { return cmp.Compare(a.TopologyKey, b.TopologyKey) })
	for i := range list {
		slices.SortFunc(list[i].OriginList, func(a, b ntv1alpha1.OriginInfo) int { return cmp.Compare(a.Origin, b.Origin) })
	}
}
