package queuelevel

import (
	"context"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berth-project/berth/extpoints"
)

// kubeStatus is nil for Success.
func kubeStatus(c extpoints.Code, reason string) *fwk.Status {
	if c == extpoints.Success {
		return nil
	}
	return fwk.NewStatus(fwk.Code(c), reason) // the codes have the same numbers
}

// kubeJudge is a scripted plugin of the reference that may reject.
type kubeJudge struct {
	name   string
	script *script
}

// Name implements [fwk.Plugin].
func (p *kubeJudge) Name() string { return p.name }

// PreFilter implements [fwk.PreFilterPlugin].
func (p *kubeJudge) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, kubeStatus(p.script.preFilter[p.name], p.name+" rejects the pod")
}

// PreFilterExtensions implements [fwk.PreFilterPlugin].
func (p *kubeJudge) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter implements [fwk.FilterPlugin].
func (p *kubeJudge) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, n fwk.NodeInfo) *fwk.Status {
	return kubeStatus(p.script.onNode(p.name, n.Node().Name), p.name+" rejects the node")
}

// Permit implements [fwk.PermitPlugin].
func (p *kubeJudge) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	return kubeStatus(p.script.permit[p.name], p.name+" does not permit it"), extpoints.MaxPermitTimeout
}

// kubeHinted is one that has hints.
type kubeHinted struct{ kubeJudge }

// EventsToRegister implements [fwk.EnqueueExtensions].
func (p *kubeHinted) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	var events []fwk.ClusterEventWithHint
	for _, r := range registrations[p.name] {
		e := fwk.ClusterEventWithHint{Event: r.kube}
		if r.hinted {
			e.QueueingHintFn = p.hint
		}
		events = append(events, e)
	}
	return events, nil
}

func (p *kubeHinted) hint(_ klog.Logger, pod *v1.Pod, before, after any) (fwk.QueueingHint, error) {
	hint, err := p.script.hint(p.name, kubeText(pod), kubeText(before), kubeText(after))
	return fwk.QueueingHint(hint), err
}

// kubeText is what a hint sees of an object.
func kubeText(object any) string {
	switch o := object.(type) {
	case *v1.Node:
		return textOfNode(nodeOf(o))
	case *v1.Pod:
		return textOfPod(podOf(o))
	}
	return ""
}

// kubeGatekeeper is one that has a PreEnqueue too.
type kubeGatekeeper struct{ kubeHinted }

// PreEnqueue implements [fwk.PreEnqueuePlugin].
func (p *kubeGatekeeper) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if _, ok := pod.Labels[held]; ok {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "held")
	}
	return nil
}

// kubeNominator nominates what the script says.
type kubeNominator struct{ script *script }

// Name implements [fwk.Plugin].
func (p *kubeNominator) Name() string { return nominator }

// PostFilter implements [fwk.PostFilterPlugin].
func (p *kubeNominator) PostFilter(context.Context, fwk.CycleState, *v1.Pod, fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	n := p.script.nominating
	mode := fwk.ModeNoop
	if n != (extpoints.PostFilterResult{}) {
		mode = fwk.ModeOverride
	}
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatingMode: mode, NominatedNodeName: n.Nominate}}, nil
}

// kubeBinder binds when it is told to.
type kubeBinder struct {
	mu      sync.Mutex
	waiting map[types.UID]chan *fwk.Status
}

// Name implements [fwk.Plugin].
func (p *kubeBinder) Name() string { return binder }

// Bind implements [fwk.BindPlugin].
func (p *kubeBinder) Bind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	outcome := make(chan *fwk.Status)
	p.mu.Lock()
	p.waiting[pod.UID] = outcome
	p.mu.Unlock()
	return <-outcome
}

func (p *kubeBinder) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting)
}

// end lets Bind return.
func (p *kubeBinder) end(uid types.UID, outcome *fwk.Status) {
	p.mu.Lock()
	c := p.waiting[uid]
	delete(p.waiting, uid)
	p.mu.Unlock()
	c <- outcome
}

// kubeRegistry has the scripted plugins of the reference.
func kubeRegistry(s *script, b *kubeBinder) frameworkruntime.Registry {
	factory := func(p fwk.Plugin) frameworkruntime.PluginFactory {
		return func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return p, nil }
	}
	return frameworkruntime.Registry{
		gatekeeper: factory(&kubeGatekeeper{kubeHinted{kubeJudge{gatekeeper, s}}}),
		guard:      factory(&kubeHinted{kubeJudge{guard, s}}),
		stranger:   factory(&kubeJudge{stranger, s}),
		nominator:  factory(&kubeNominator{s}),
		binder:     factory(b),
	}
}
