package pluginlevel

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/pkg/sysched"
	"sigs.k8s.io/scheduler-plugins/pkg/trimaran/targetloadpacking"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/helper"
	"github.com/berth-project/berth/plugins/networkoverhead"
	"github.com/berth-project/berth/plugins/noderesourcetopologymatch"
)

// remembering are constructors of the reference's plugins that differ in histories: of those that
// remember pods as they were when they came to their nodes, and of one that fails where a node is
// gone.
var remembering = map[string]constructor{
	plugins.TargetLoadPacking: plain(renewed(targetloadpacking.New)),
	plugins.SySched:           plain(renewed(sysched.New)),
	plugins.NetworkOverhead:   plain(newHeeding),
}

// heeding is NetworkOverhead that does without pods whose node is gone, and is woken as the
// subject's is: not by everything.
type heeding struct{ *ending }

func newHeeding(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	p, err := newOverhead(ctx, args, h)
	if err != nil {
		return nil, err
	}
	here := present{h.SharedInformerFactory().Core().V1().Pods().Lister(), h}
	setField(p.(*ending).NetworkOverhead, "podLister", corelisters.PodLister(here))
	return &heeding{p.(*ending)}, nil
}

// EventsToRegister implements [fwk.EnqueueExtensions].
func (*heeding) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.AssignedPod, ActionType: fwk.Add | fwk.Delete | fwk.UpdatePodLabel}, QueueingHintFn: ofSameApp},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.Delete | fwk.UpdateNodeLabel}},
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}},
	}, nil
}

// ofSameApp says Queue where the pod that comes, leaves or changes is or was of the application of
// the one that waits.
func ofSameApp(_ klog.Logger, waits *v1.Pod, before, after any) (fwk.QueueingHint, error) {
	for _, o := range []any{before, after} {
		if p, ok := o.(*v1.Pod); ok && p.Labels[generate.AppLabel] == waits.Labels[generate.AppLabel] {
			return fwk.Queue, nil
		}
	}
	return fwk.QueueSkip, nil
}

// present lists the pods whose node is there, or that have none.
type present struct {
	corelisters.PodLister
	handle fwk.Handle
}

// List implements [corelisters.PodLister].
func (l present) List(selector labels.Selector) (list []*v1.Pod, err error) {
	all, err := l.PodLister.List(selector)
	for _, p := range all {
		if n, _ := l.handle.SnapshotSharedLister().NodeInfos().Get(p.Spec.NodeName); p.Spec.NodeName == "" || n != nil {
			list = append(list, p)
		}
	}
	return list, err
}

// renewed makes a plugin that is told of each change of a pod on a node as if it left and came
// again, running.
func renewed(f func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error)) func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
		pods, factory := h.SharedInformerFactory().Core().V1().Pods().Informer(), informers.NewSharedInformerFactory(nil, 0)
		factory.InformerFor(&v1.Pod{}, func(clientset.Interface, time.Duration) cache.SharedIndexInformer { return renewing{pods} })
		return f(ctx, args, listened{h, factory})
	}
}

// renewing is an informer of pods that tells of them in that way.
type renewing struct{ cache.SharedIndexInformer }

// AddEventHandler implements [cache.SharedInformer].
func (i renewing) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(renewal{h})
}

type renewal struct{ cache.ResourceEventHandler }

// OnUpdate implements [cache.ResourceEventHandler].
func (r renewal) OnUpdate(before, after any) {
	if before.(*v1.Pod).Spec.NodeName != "" {
		r.OnDelete(before)
	}
	if p := after.(*v1.Pod).DeepCopy(); p.Spec.NodeName != "" {
		p.Status.Phase = v1.PodRunning
		r.OnAdd(p, false)
	}
}

// asUpstream are the subject's plugins that do on purpose what upstream's do not: there what
// preemption tries out changes nothing, and more wakes what was rejected. In histories they do as
// upstream's.
var asUpstream = map[string]extpoints.Factory{
	plugins.NetworkOverhead: extpoints.FactoryOf(func(a networkoverhead.Args, h extpoints.Handle) (*farAway, error) {
		p, err := networkoverhead.New(a, h)
		return &farAway{NetworkOverhead: p}, err
	}),
	plugins.NodeResourceTopologyMatch: extpoints.FactoryOf(func(a noderesourcetopologymatch.Args, h extpoints.Handle) (*wakeful, error) {
		p, err := noderesourcetopologymatch.New(a, h)
		return &wakeful{p}, err
	}),
}

// farAway is NetworkOverhead without some of its points.
type farAway struct {
	*networkoverhead.NetworkOverhead
	AddWorkload, RemoveWorkload struct{} // in the way of its own
}

// wakeful is NodeResourceTopologyMatch that does not look at what happens.
type wakeful struct {
	*noderesourcetopologymatch.NodeResourceTopologyMatch
}

// EventsToRegister implements [extpoints.EnqueueExtensions].
func (*wakeful) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{
		helper.On(extpoints.AnyWorkload, extpoints.Delete, nil),
		helper.On(extpoints.NodeResource, extpoints.Add|extpoints.UpdateNodeAllocatable, nil),
	}, nil
}
