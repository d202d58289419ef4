//go:build patched

package pluginlevel

import (
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulinglisters "k8s.io/client-go/listers/scheduling/v1"
	"k8s.io/client-go/tools/cache"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"sigs.k8s.io/scheduler-plugins/apis/config"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/decisionlevel"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/upstream/preemptiontoleration"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	native "github.com/berth-project/berth/plugins/defaultpreemption"
)

// PatchedDecisions returns the options of a history, for package decisionlevel, in which the
// reference has upstream's PreemptionToleration say who has to leave a node, and the subject its
// plugin of that name, in place of DefaultPreemption. Who may preempt, which nodes are tried, which of
// them is taken and how the victims are told to go is kube-scheduler's own.
func PatchedDecisions() decisionlevel.Options {
	return decisionlevel.Options{
		With: plugins.PreemptionToleration,
		Plan: func(p *generate.Plan) {
			p.Classed, p.Crowded = true, true
			p.Size = min(p.Size, 30) // more candidates than are looked at are left to chance
		},
		Change: func(cfg *engine.Config) {
			extpoints.Use(&cfg.Profiles[0], native.NewPreemptionToleration, native.Args{}, extpoints.InPlaceOf(plugins.DefaultPreemption))
		},
		Begin: beginTolerations,
	}
}

// beginTolerations tells both sides of priority classes, and gives the reference the plugin.
func beginTolerations(t *twin.Twin) error {
	classes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	said := map[string]model.PreemptionToleration{}
	for _, name := range generate.Classes {
		object := t.PriorityClass(name)
		if err := classes.Add(object); err != nil {
			return err
		}
		said[name] = tolerationOf(object)
	}
	t.Toleration = func(p *v1.Pod) model.PreemptionToleration { return said[p.Spec.PriorityClassName] }
	args := &config.PreemptionTolerationArgs{MinCandidateNodesPercentage: 100, MinCandidateNodesAbsolute: 100}
	plugin, err := preemptiontoleration.New(t.Reference.Context, args, t.Reference.Framework)
	if err != nil {
		return err
	}
	setField(plugin, "priorityClassLister", schedulinglisters.NewPriorityClassLister(classes))
	own := t.Reference.Plugin(plugins.DefaultPreemption).(*defaultpreemption.DefaultPreemption)
	tolerant := &tolerating{plugin.(*preemptiontoleration.PreemptionToleration), own, t.Now}
	own.Evaluator = preemption.NewEvaluator(plugin.Name(), t.Reference.Framework, tolerant, own.Executor)
	return nil
}

// tolerationOf is what the adapter makes of a class. What cannot be read is meant to be there.
func tolerationOf(object *schedulingv1.PriorityClass) model.PreemptionToleration {
	class, _ := convert.PriorityClassOf(object)
	return class.Toleration
}

// tolerating is upstream's plugin with the time of the history and the words of kube-scheduler.
type tolerating struct {
	*preemptiontoleration.PreemptionToleration
	own *defaultpreemption.DefaultPreemption
	now func() time.Time
}

// PodEligibleToPreemptOthers implements [preemption.Interface]. Upstream's is a copy of what
// kube-scheduler said before: it waits for whatever leaves the node, and not for victims only.
func (p *tolerating) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, nominated *fwk.Status) (bool, string) {
	return p.own.PodEligibleToPreemptOthers(ctx, pod, nominated)
}

// SelectVictimsOnNode implements [preemption.Interface].
func (p *tolerating) SelectVictimsOnNode(ctx context.Context, s fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo,
	all []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) ([]*v1.Pod, int, *fwk.Status) {
	setField(p.PreemptionToleration, "curTime", p.now())
	victims, breaks, status := p.PreemptionToleration.SelectVictimsOnNode(ctx, s, pod, node, all, budgets)
	if strings.HasPrefix(status.Message(), "No victims found on node ") {
		status = fwk.NewStatus(status.Code(), "No preemption victims found for incoming pod")
	}
	return victims, breaks, status
}
