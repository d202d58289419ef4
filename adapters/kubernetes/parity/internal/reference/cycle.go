package reference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
)

// cycle is what is seen of the cycle under way.
type cycle struct {
	// pods are those that the cycle is about: one, or the members of a group
	// that are neither on a node nor terminating.
	pods []*v1.Pod
	// group is the group's key, empty in the cycle of a single pod.
	group string
	// decision is that of a single pod.
	decision answer.Decision
	// outcomes are what happens to the pods.
	outcomes map[types.UID]outcome
}

// outcome is what happens to a pod: it is bound to a node, or not.
type outcome struct {
	node    string
	message string
	plugins []string
}

func (c *cycle) has(name string) bool {
	return slices.ContainsFunc(c.pods, func(p *v1.Pod) bool { return p.Name == name })
}

// settle notes what happens to a pod. The first that is said of it counts.
func (s *Scheduler) settle(uid types.UID, o outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.cycle.outcomes[uid]; !ok {
		s.cycle.outcomes[uid] = o
	}
	s.settled.Broadcast()
}

// watchCycle lets s see what comes of each cycle, through the fields that
// kube-scheduler has for tests.
func (s *Scheduler) watchCycle() {
	next, schedule, fail := s.NextEntity, s.SchedulePod, s.FailureHandler
	s.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		entity, err := next(logger)
		if group, ok := entity.(*framework.QueuedPodGroupInfo); ok {
			s.cycle.group = fmt.Sprintf("%s %s/%s", group.GetType(), group.Namespace, group.Name)
			group.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
				if assumed, err := s.Cache.IsAssumedPod(info.Pod); !assumed && err == nil && !s.leaving(info.Pod) {
					s.cycle.pods = append(s.cycle.pods, info.Pod)
					info.PodInfo = s.started(info.PodInfo)
				}
				return true
			})
		}
		return entity, err
	}
	s.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		if s.cycle.group != "" {
			return schedule(ctx, fw, state, info)
		}
		s.cycle.pods = []*v1.Pod{info.Pod}
		s.cycle.decision = answer.Decision{Workload: string(info.Pod.UID)}
		result, err := schedule(ctx, fw, state, info)
		if err == nil {
			s.cycle.decision.Node = result.SuggestedHost
			s.cycle.decision.Evaluated, s.cycle.decision.Feasible = result.EvaluatedNodes, result.FeasibleNodes
			info.PodInfo = s.started(info.PodInfo)
		}
		return result, err
	}
	s.FailureHandler = func(ctx context.Context, fw framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		o := outcome{message: status.Message()}
		var fit *framework.FitError
		if errors.As(status.AsError(), &fit) {
			o.plugins = fit.Diagnosis.UnschedulablePlugins.UnsortedList()
			slices.Sort(o.plugins)
		}
		fail(ctx, fw, info, status, nominating, start)
		s.settle(info.Pod.UID, o)
	}
}

// leaving reports whether the pod has been told to go, or is no more.
func (s *Scheduler) leaving(p *v1.Pod) bool {
	stored := s.Get(p)
	return stored == nil || stored.(*v1.Pod).DeletionTimestamp != nil
}

// started gives the pod a start time before it is assumed. Otherwise it had none
// until its kubelet says so, and preemption would take the real time in place of
// it, which is another one at each look.
func (s *Scheduler) started(info *framework.PodInfo) *framework.PodInfo {
	copied := info.DeepCopy()
	copied.Pod.Status.StartTime = &metav1.Time{Time: s.Clock.set()}
	return copied
}

// ScheduleOne runs one scheduling cycle to its end, binding and preemption
// included, for the pod or group that the queue gives out; false where it gives
// out none. What happens to the pods themselves is told to the handlers before
// victims are asked to go, and what happens to them at Deliver.
func (s *Scheduler) ScheduleOne() (answer.Decision, bool) {
	s.turn.Lock()
	s.Clock.Run(true)
	defer s.Clock.Run(false)
	s.begin()
	for len(s.cycle.pods) == 0 { // one that is being deleted is taken out and skipped
		if !s.Ready() {
			s.turn.Unlock()
			return answer.Decision{}, false
		}
		s.begin()
		s.Scheduler.ScheduleOne(s.Context)
	}
	s.awaitOutcomes()
	s.Deliver()
	s.turn.Unlock()
	if !s.allBound() {
		for _, p := range s.cycle.pods {
			s.awaitPreemption(p)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cycle.group != "" {
		return s.groupDecision(), true
	}
	return s.podDecision(), true
}

func (s *Scheduler) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cycle, s.victims = cycle{outcomes: map[types.UID]outcome{}}, nil
	s.changed.begin()
}

// patience is how long goroutines that bind are waited for: far longer than they
// ever take.
const patience = time.Minute

// awaitOutcomes waits until it is known of every pod of the cycle what becomes
// of it: goroutines that bind have bound it or given up.
func (s *Scheduler) awaitOutcomes() {
	late := time.AfterFunc(patience, func() { panic(fmt.Sprintf("reference: waiting for what becomes of %v", s.cycle.pods)) })
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.cycle.outcomes) < len(s.cycle.pods) {
		s.settled.Wait()
	}
}

func (s *Scheduler) allBound() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o := range maps.Values(s.cycle.outcomes) {
		if o.node == "" {
			return false
		}
	}
	return true
}

// podDecision is what the cycle of a pod came to.
func (s *Scheduler) podDecision() answer.Decision {
	d, p := s.cycle.decision, s.cycle.pods[0]
	d.Decided = s.changed.decided()
	d.Victims = s.victims
	o := s.cycle.outcomes[p.UID]
	if o.node == "" {
		d.Node, d.Evaluated, d.Feasible = "", 0, 0
		d.Message, d.Plugins = o.message, o.plugins
		d.Nominated = s.nominated(p)
		return d
	}
	if o.node != d.Node {
		panic("reference: bound to " + o.node + ", but " + d.Node + " was chosen")
	}
	return d
}

// groupDecision is what the cycle of a group came to. The members are sorted by
// name.
func (s *Scheduler) groupDecision() answer.Decision {
	d := answer.Decision{Workload: s.cycle.group, Victims: s.victims, Decided: s.changed.decided()}
	for _, p := range s.cycle.pods {
		o := s.cycle.outcomes[p.UID]
		m := answer.Decision{Workload: string(p.UID), Node: o.node, Message: o.message, Plugins: o.plugins}
		if o.node == "" {
			m.Nominated = s.nominated(p)
		}
		d.Members = append(d.Members, m)
	}
	answer.SortMembers(d.Members)
	return d
}

// nominated is the node that the pod is nominated to.
func (s *Scheduler) nominated(p *v1.Pod) string {
	if stored, err := s.pod(p.Namespace, p.Name); err == nil {
		return stored.Status.NominatedNodeName
	}
	return ""
}

// awaitPreemption waits until the goroutine that evicts the victims has ended:
// so long its plugin keeps the pod out of the queue.
func (s *Scheduler) awaitPreemption(pod *v1.Pod) {
	for _, p := range s.Framework.PreEnqueuePlugins() {
		for p.Name() == "DefaultPreemption" && !p.PreEnqueue(s.Context, pod).IsSuccess() {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// Nominations lists the pods nominated to each node, in no particular order, by
// the scheduler's own books.
func (s *Scheduler) Nominations(node string) []string {
	var ids []string
	for _, p := range s.SchedulingQueue.NominatedPodsForNode(node) {
		ids = append(ids, string(p.GetPod().UID))
	}
	return ids
}
