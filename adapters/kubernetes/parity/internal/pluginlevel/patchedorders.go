//go:build patched

package pluginlevel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	agv1alpha1 "github.com/diktyo-io/appgroup-api/pkg/apis/appgroup/v1alpha1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/coscheduling"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/qos"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/topologicalsort"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	nativegangs "github.com/berth-project/berth/plugins/coscheduling"
	"github.com/berth-project/berth/plugins/helper"
	native "github.com/berth-project/berth/plugins/topologicalsort"
)

// How often the plugins that order the queue are asked about two pods.
const (
	orderRounds   = 8 // each with other applications
	pairsPerRound = 60
)

func init() {
	constructors[plugins.QOSSort] = plain(qos.New)
	constructors[plugins.TopologicalSort] = plain(topologicalsort.New)
}

// orders are the plugins that order the queue.
func orders(namespaces ...string) []variant {
	labels := helper.AppLabels{Graph: generate.AppLabel, Component: generate.ComponentLabel, Namespaces: namespaces}
	return []variant{
		{plugin: plugins.QOSSort},
		{plugins.TopologicalSort, "", &config.TopologicalSortArgs{Namespaces: namespaces}, native.Args{Labels: labels}},
		gangOrder(),
	}
}

// compareOrders asks the plugins that order the queue about many pairs of pods.
func (c *comparison) compareOrders(mutation Mutation) error {
	for range orderRounds {
		if err := c.tellOrdered(); err != nil {
			return err
		}
		for _, v := range orders(generate.Pick(c.Source, "default", "team-a"), generate.Pick(c.Source, "team-a", "ghost", "default")) {
			p, err := newPair(c.Twin, c.handle, v, mutation)
			if err != nil {
				return err
			}
			switch ref := p.reference.(type) {
			case *topologicalsort.TopologicalSort:
				ref.Client = c.custom
			case *coscheduling.Coscheduling:
				c.readGangs(ref)
			}
			for range pairsPerRound {
				c.comparePair(p, v, c.sorted(), c.sorted())
			}
		}
	}
	return nil
}

// tellOrdered tells both sides of applications and gangs.
func (c *comparison) tellOrdered() error {
	groups := c.appGroups()
	for _, g := range groups {
		c.order(g.(*agv1alpha1.AppGroup))
	}
	if err := c.tellObjects(groups); err != nil {
		return err
	}
	gangs, err := c.tellGangs()
	if err != nil {
		return err
	}
	c.custom = newResources(slices.Concat(groups, gangs))
	c.look()
	return nil
}

// order draws when the application came, and notes the order of its components as the controller of
// applications does: as they were sorted, from behind, or from both ends in turn.
func (c *comparison) order(g *agv1alpha1.AppGroup) {
	g.CreationTimestamp = metav1.NewTime(twin.Start.Add(time.Duration(c.IntN(3)-1) * time.Second))
	g.Spec.TopologySortingAlgorithm = generate.Pick(c.Source, "KahnSort", "ReverseKahn", "AlternateKahn")
	sorted := slices.Clone(g.Spec.Workloads)
	if g.Spec.TopologySortingAlgorithm == "ReverseKahn" {
		slices.Reverse(sorted)
	}
	for i := 0; len(sorted) > 0; i++ {
		next := 0
		if g.Spec.TopologySortingAlgorithm == "AlternateKahn" && i%2 == 1 {
			next = len(sorted) - 1
		}
		g.Status.TopologyOrder = append(g.Status.TopologyOrder, agv1alpha1.AppGroupTopologyInfo{Workload: sorted[next].Workload, Index: int32(i + 1)})
		sorted = slices.Delete(sorted, next, next+1)
	}
	slices.SortFunc(g.Status.TopologyOrder, func(a, b agv1alpha1.AppGroupTopologyInfo) int {
		return strings.Compare(a.Workload.Selector, b.Workload.Selector)
	})
}

// sorting is something that waits, as each side sees it.
type sorting struct {
	reference *framework.QueuedPodInfo
	subject   *extpoints.Queued
}

// sorted draws something that waits. Few priorities, times and applications make many ties.
func (c *comparison) sorted() sorting {
	pod := c.NewPod()
	pod.Spec.Priority = generate.Pick(c.Source, nil, new(int32(0)), new(int32(0)), new(int32(7)), new(int32(-7)))
	if c.Percent(20) {
		pod.Status.QOSClass = generate.Pick(c.Source, v1.PodQOSGuaranteed, v1.PodQOSBurstable, v1.PodQOSBestEffort)
	}
	group := c.join(pod)
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		panic(err)
	}
	at := twin.Start.Add(time.Duration(c.IntN(3)-1) * time.Second)
	w := c.workload(pod)
	w.Group = group
	return sorting{
		&framework.QueuedPodInfo{PodInfo: info, QueueingParams: framework.QueueingParams{Timestamp: at, InitialAttemptTimestamp: &at}},
		&extpoints.Queued{Workload: w, Priority: w.Priority, Timestamp: at, AddedAt: at},
	}
}

// comparePair asks both plugins which of the two goes first, also the other way round and of each
// beside itself.
func (c *comparison) comparePair(p *pair, v variant, one, other sorting) {
	for _, pair := range [][2]sorting{{one, other}, {other, one}, {one, one}} {
		a, b := pair[0], pair[1]
		before, _ := p.subject.less(a.subject, b.subject)
		ref, sub, where := lessOf(p.reference, a.reference, b.reference), fmt.Sprint(before), p.name+" Less"
		if ref != sub {
			where += c.unordered(v, a.subject, b.subject)
		}
		c.report.Compare(where, ref, sub, func() string {
			return twin.Describe(a.reference.GetPodInfo().GetPod(), nil) + " at " + a.subject.Timestamp.String() + "; " +
				twin.Describe(b.reference.GetPodInfo().GetPod(), nil) + " at " + b.subject.Timestamp.String() + "; args " + p.args
		})
	}
}

// lessOf is what a plugin of the reference says, which may be that it ends the process.
func lessOf(plugin fwk.Plugin, a, b fwk.QueuedEntityInfo) (text string) {
	defer func() {
		if problem := recover(); problem != nil {
			text = fmt.Sprint("panic: ", problem)
		}
	}()
	return fmt.Sprint(plugin.(fwk.QueueSortPlugin).Less(a, b))
}

// unordered ends the names of places where upstream does not order, or otherwise than by time.
func (c *comparison) unordered(v variant, a, b *extpoints.Queued) string {
	switch args := v.subject.(type) {
	case native.Args:
		return c.disorder(args.Labels, a, b)
	case nativegangs.Args:
		return c.leftOpen(a, b)
	}
	return ""
}

// disorder ends the names of places where what upstream says of two pods is no part of an order.
func (c *comparison) disorder(labels helper.AppLabels, a, b *extpoints.Queued) string {
	one, other := labels.GraphOf(c.views.Subject, a.Workload), labels.GraphOf(c.views.Subject, b.Workload)
	switch {
	case one == nil && other == nil:
		return ""
	case one != other && a.Priority == b.Priority:
		return " for pods one of which has its place by its application"
	case one == other && a.Priority != b.Priority:
		return " for pods of one application and different priority"
	case one == other && position(one, labels, a) == position(one, labels, b):
		return " for pods of one component"
	}
	return ""
}

// position is that of the component among those of the application; -1 where it is none of them.
func position(g *model.AppGraph, labels helper.AppLabels, q *extpoints.Queued) int {
	return slices.IndexFunc(g.Components, func(c model.AppComponent) bool { return c.Name == q.Workload.Labels[labels.Component] })
}
