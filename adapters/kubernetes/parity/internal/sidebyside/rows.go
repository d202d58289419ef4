package sidebyside

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// Row is one kind of work.
type Row struct {
	// Name is in the table and in the names of benchmarks.
	Name string
	// Needs are the plugins that it is about.
	Needs []string
	// Full: the cluster is full of pods of lower priority, some of which must go.
	Full bool
	// Members is how many pods the group has that a decision is about; 0: it is
	// about a single pod.
	Members int

	// topology is the label by which the group is to stay together; empty: none.
	topology string
	// mostNodes is how many nodes a cluster may have; 0: any number.
	mostNodes int
	// reserves: what one pod is given is not there for the next, although it is on
	// no node's account, so that Reserve is part of kube-scheduler's decision.
	reserves bool
	// shared are objects that all pods use.
	shared func() []runtime.Object
	// ofNode makes what the i-th node has besides itself and its storage.
	ofNode func(i int) []runtime.Object
	// objects makes what the pod needs besides nodes; nil: nothing.
	objects func(p *v1.Pod) []runtime.Object
	// shape makes a plain pod one of the row: one of those that are decided on,
	// or one of the same kind that is there already.
	shape func(p *v1.Pod, already bool)
}

// Rows are all kinds of work that Berth's default profile has the plugins for.
func Rows() []Row {
	ours := plugins.DefaultProfile().Plugins
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		return slices.ContainsFunc(r.Needs, func(name string) bool {
			return !slices.ContainsFunc(ours, func(ref extpoints.Entry) bool { return ref.Name == name })
		})
	})
}

var rows = []Row{
	{Name: "basic", shape: func(*v1.Pod, bool) {}},
	{Name: "node affinity and taints", Needs: []string{plugins.NodeAffinity, plugins.TaintToleration}, shape: likesNodes},
	{Name: "hard zone spread, soft hostname spread", Needs: []string{plugins.PodTopologySpread}, shape: func(p *v1.Pod, _ bool) {
		spread(p, v1.DoNotSchedule)
	}},
	{Name: "soft zone and hostname spread", Needs: []string{plugins.PodTopologySpread}, shape: func(p *v1.Pod, _ bool) {
		spread(p, v1.ScheduleAnyway)
	}},
	{Name: "required anti-affinity by hostname", Needs: []string{plugins.InterPodAffinity}, shape: keepsApart},
	{Name: "preferred affinity by zone", Needs: []string{plugins.InterPodAffinity}, shape: likesOthers},
	{Name: "bound volumes of a driver with limits", Needs: []string{plugins.VolumeBinding, plugins.NodeVolumeLimits}, shape: hasVolume, objects: volumeOf},
	{Name: "bound volumes of a zone", Needs: []string{plugins.VolumeBinding}, shape: hasVolume, objects: volumeOfZone},
	{Name: "volumes to be made", Needs: []string{plugins.VolumeBinding}, shape: hasVolume, objects: claimToMake(anywhere), shared: classesOfVolumes},
	{Name: "volumes to be made where there is room", Needs: []string{plugins.VolumeBinding}, shape: hasVolume, objects: claimToMake(whereRoom), shared: classesOfVolumes},
	{Name: "a device each", Needs: []string{plugins.DynamicResources}, mostNodes: 500, reserves: true,
		shape: hasDevice, objects: deviceClaim, ofNode: devicesOf, shared: deviceClasses},
	gang(3, ""), gang(100, ""), gang(1000, ""),
	gang(4, rackLabel), gang(100, v1.LabelTopologyZone), gang(1000, rackLabel),
	{Name: "preemption on a full cluster", Needs: []string{plugins.DefaultPreemption}, Full: true, shape: displaces},
}

// likesNodes: a required and two preferred terms of node affinity, and a
// toleration for one of the two taints that nodes have.
func likesNodes(p *v1.Pod, _ bool) {
	term := func(key, value string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}
	}
	p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term(archLabel, "amd64")}},
		PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{
			{Weight: 50, Preference: term(diskLabel, "ssd")}, {Weight: 20, Preference: term(v1.LabelTopologyZone, "zone-1")},
		},
	}}
	p.Spec.Tolerations = []v1.Toleration{{Key: dedicated, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}}
}

// web is the label of the pods that spreading and preferred affinity are about.
var web = map[string]string{"tier": "web"}

func spread(p *v1.Pod, zones v1.UnsatisfiableConstraintAction) {
	p.Labels = web
	selector := &metav1.LabelSelector{MatchLabels: web}
	p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{
		{MaxSkew: 1, TopologyKey: v1.LabelTopologyZone, WhenUnsatisfiable: zones, LabelSelector: selector},
		{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway, LabelSelector: selector},
	}
}

// keepsApart: no two on one node. Those that are there already keep apart from
// each other, but not from the new ones.
func keepsApart(p *v1.Pod, already bool) {
	p.Labels = map[string]string{"color": "green"}
	if already {
		p.Labels = map[string]string{"color": "blue"}
	}
	p.Spec.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
			TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}},
	}}
}

func likesOthers(p *v1.Pod, _ bool) {
	p.Labels = web
	p.Spec.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{
			Weight: 100,
			PodAffinityTerm: v1.PodAffinityTerm{
				TopologyKey: v1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: web},
			},
		}},
	}}
}

// displaces: it takes three of the ten that a node has room for.
func displaces(p *v1.Pod, already bool) {
	priority, share := int32(100), int64(3)
	if already {
		priority, share = 0, 1
	}
	p.Spec.Priority = &priority
	p.Spec.Containers[0].Resources.Requests = amounts(share*nodeCPU/10, share*nodeMemory/10)
}
