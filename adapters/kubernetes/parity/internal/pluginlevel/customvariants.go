package pluginlevel

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"sigs.k8s.io/scheduler-plugins/apis/config"
	"sigs.k8s.io/scheduler-plugins/pkg/networkaware/networkoverhead"
	nrtcache "sigs.k8s.io/scheduler-plugins/pkg/noderesourcetopology/cache"
	"sigs.k8s.io/scheduler-plugins/pkg/sysched"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/helper"
	native "github.com/berth-project/berth/plugins/networkoverhead"
)

// ofCustom are the plugins that go by custom resources.
func ofCustom(s *generate.Source) []variant {
	namespace, name, _ := strings.Cut(unconfined, "/")
	return append(alignments(s), []variant{
		{plugin: plugins.SySched, reference: &config.SySchedArgs{DefaultProfileNamespace: namespace, DefaultProfileName: name}},
		overhead("", weightNames[0], "default"),
		overhead("measured", weightNames[1], generate.Pick(s, "default", "team-a"), generate.Pick(s, "team-a", "ghost", "default")),
	}...)
}

func overhead(name, weights string, namespaces ...string) variant {
	return variant{plugins.NetworkOverhead, name,
		&config.NetworkOverheadArgs{Namespaces: namespaces, WeightsName: weights, NetworkTopologyName: network},
		native.Args{Labels: helper.AppLabels{Graph: generate.AppLabel, Component: generate.ComponentLabel, Namespaces: namespaces}, Costs: network + "/" + weights}}
}

// connect gives a plugin of the reference the custom resources to read.
func (c *beside) connect(plugin fwk.Plugin) {
	switch p := plugin.(type) {
	case *heeding:
		c.connect(p.ending)
	case *ending:
		p.NetworkOverhead.Client = c.custom
	case *aligning:
		setField(p.TopologyMatch, "nrtCache", nrtcache.NewPassthrough(c.Twin.Reference.Logger(), c.custom))
	case *sysched.SySched:
		setField(p, "client", c.custom)
	case *listening:
		setField(p.SySched, "client", c.custom)
		c.tellPods(p.pods)
	}
}

// ending is NetworkOverhead, which ends the process where an object is missing.
type ending struct {
	*networkoverhead.NetworkOverhead
}

func newOverhead(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	p, err := networkoverhead.New(ctx, args, h)
	if err != nil {
		return nil, err
	}
	return &ending{p.(*networkoverhead.NetworkOverhead)}, nil
}

// PreFilter implements [fwk.PreFilterPlugin].
func (p *ending) PreFilter(ctx context.Context, s fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) (result *fwk.PreFilterResult, status *fwk.Status) {
	defer func() {
		if problem := recover(); problem != nil {
			status = fwk.NewStatus(fwk.Error, fmt.Sprint("panic: ", problem))
		}
	}()
	return p.NetworkOverhead.PreFilter(ctx, s, pod, nodes)
}

// listening is SySched, which listens to pods by itself. It is told of them later: it reads
// profiles when it hears of one.
type listening struct {
	*sysched.SySched
	pods cache.ResourceEventHandler
}

func newSySched(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
	factory, pods := informers.NewSharedInformerFactory(nil, 0), &listener{}
	factory.InformerFor(&v1.Pod{}, func(clientset.Interface, time.Duration) cache.SharedIndexInformer { return pods })
	p, err := sysched.New(ctx, args, listened{h, factory})
	if err != nil {
		return nil, err
	}
	return &listening{p.(*sysched.SySched), pods.handler}, nil
}

// listened is a handle with other informers.
type listened struct {
	fwk.Handle
	factory informers.SharedInformerFactory
}

// SharedInformerFactory implements [fwk.Handle].
func (l listened) SharedInformerFactory() informers.SharedInformerFactory { return l.factory }

// listener is an informer that only notes who listens.
type listener struct {
	cache.SharedIndexInformer
	handler cache.ResourceEventHandler
}

// AddEventHandler implements [cache.SharedInformer].
func (l *listener) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	l.handler = h
	return nil, nil
}

// tellPods tells of the pods on nodes: that they run already, or begin to, and of some that have
// left.
func (c *beside) tellPods(to cache.ResourceEventHandler) {
	for _, p := range c.Pods() {
		if p.Place == twin.Waiting {
			continue
		}
		pod := c.Object(p)
		if c.Percent(50) {
			before := pod.DeepCopy()
			before.Status.Phase, before.Status.HostIP = v1.PodPending, "10.0.0.1"
			to.OnUpdate(before, pod)
		} else {
			to.OnAdd(pod, true)
		}
		if c.Percent(20) {
			left := c.Source.Placed(c.NewPod(), pod.Spec.NodeName, c.Now())
			to.OnAdd(left, false)
			to.OnDelete(left)
		}
	}
}

// unknownCalls ends the names of places where nothing is known of the system calls of one of the
// pods.
const unknownCalls = " for pods of whose system calls nothing is known"

// confined reports whether the system calls of the pod and of all on the node are known.
func (a *asked) confined(node *extpoints.NodeInfo) bool {
	known := len(a.info.Syscalls) > 0
	for _, w := range node.Workloads {
		known = known && len(w.Syscalls) > 0
	}
	return known
}
