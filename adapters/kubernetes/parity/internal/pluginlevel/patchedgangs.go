//go:build patched

package pluginlevel

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/apis/scheduling/v1alpha1"
	"sigs.k8s.io/scheduler-plugins/pkg/coscheduling/core"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/coscheduling"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	nativegangs "github.com/berth-project/berth/plugins/coscheduling"
)

// gangs are the names of PodGroups, the last of which is not there.
var gangs = []string{"g0", "g1", "lost"}

func init() { constructors[plugins.Coscheduling] = plain(coscheduling.New) }

// gangOrder is Coscheduling.
func gangOrder() variant {
	return variant{plugins.Coscheduling, "", &config.CoschedulingArgs{PermitWaitingTimeSeconds: 60, PodGroupRejectPercentage: 10}, nativegangs.Args{RejectPercentage: 10}}
}

// tellGangs tells the subject of PodGroups, as the adapter does, and lists them.
func (c *comparison) tellGangs() (list []client.Object, err error) {
	for _, namespace := range []string{"default", "team-a"} {
		for _, name := range gangs[:len(gangs)-1] {
			g := &v1alpha1.PodGroup{}
			g.TypeMeta, g.ObjectMeta = kindOf("scheduling.x-k8s.io", "v1alpha1", "PodGroup", namespace, name)
			g.CreationTimestamp = metav1.NewTime(twin.Start.Add(time.Duration(c.IntN(3)-1) * time.Second))
			g.Spec.MinMember = 2
			object, err := asUnstructured(g)
			if err != nil {
				return nil, err
			}
			group, err := customresources.PodGroup(object)
			if err != nil {
				return nil, err
			}
			c.Subject.Apply(engine.PutGroup(group))
			list = append(list, g)
		}
	}
	return list, nil
}

// join draws the PodGroup of a pod, and returns the group that the adapter makes of it.
func (c *comparison) join(p *v1.Pod) string {
	if !c.Percent(60) {
		return ""
	}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	name := generate.Pick(c.Source, "g0", "g1", "g0", "g1", "g0", "g1", "lost")
	p.Labels[customresources.PodGroupLabel] = name
	return customresources.PodGroupID(p.Namespace, name)
}

// readGangs lets upstream's plugin read the PodGroups.
func (c *comparison) readGangs(plugin *coscheduling.Coscheduling) {
	fw, timeout := c.Twin.Reference.Framework, time.Minute
	setField(plugin, "pgMgr", core.NewPodGroupManager(c.custom, fw.SnapshotSharedLister(), &timeout, fw.SharedInformerFactory().Core().V1().Pods()))
}

// leftOpen ends the names of places where upstream goes by the names of the pods, or by the pod itself
// where its group is not there.
func (c *comparison) leftOpen(a, b *extpoints.Queued) string {
	one, alone := c.placeOf(a)
	other, alone2 := c.placeOf(b)
	switch {
	case a.Priority != b.Priority:
		return ""
	case alone || alone2:
		return " for pods one of which is of a group that is not there"
	case a.Workload.Group != "" && a.Workload.Group == b.Workload.Group:
		return " for pods of one group"
	case one.Equal(other):
		return " for pods that have their place by the same time"
	}
	return ""
}

// placeOf is the time that stands for the pod, and whether its group is not there.
func (c *comparison) placeOf(q *extpoints.Queued) (at time.Time, lost bool) {
	if q.Workload.Group == "" {
		return q.Timestamp, false
	}
	g := c.views.Subject.Groups().Get(q.Workload.Group)
	if g == nil {
		return q.Timestamp, true
	}
	return g.CreatedAt, false
}
