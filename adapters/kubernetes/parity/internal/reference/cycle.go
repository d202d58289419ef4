package reference

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
)

// cycle is what is seen of the cycle under way.
type cycle struct {
	pod      *v1.Pod
	decision answer.Decision
}

// watchCycle lets s see what comes of each cycle, through the fields that
// kube-scheduler has for tests.
func (s *Scheduler) watchCycle() {
	schedule, fail := s.SchedulePod, s.FailureHandler
	s.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (scheduler.ScheduleResult, error) {
		s.cycle.pod = info.Pod
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
		s.cycle.decision.Message = status.Message()
		if fit, ok := status.AsError().(*framework.FitError); ok {
			s.cycle.decision.Plugins = fit.Diagnosis.UnschedulablePlugins.UnsortedList()
			slices.Sort(s.cycle.decision.Plugins)
		}
		fail(ctx, fw, info, status, nominating, start)
	}
}

// started gives the pod a start time before it is assumed. Otherwise it had none
// until its kubelet says so, and preemption would take the real time in place of
// it, which is another one at each look.
func (s *Scheduler) started(info *framework.PodInfo) *framework.PodInfo {
	copied := info.DeepCopy()
	copied.Pod.Status.StartTime = &metav1.Time{Time: s.Clock.Now()}
	return copied
}

// ScheduleOne runs one scheduling cycle to its end, binding and preemption
// included, for the pod that the queue gives out; false where it gives out none.
// What becomes of the pod itself is told to the handlers before victims are
// asked to go, and what becomes of them at Deliver.
func (s *Scheduler) ScheduleOne() (answer.Decision, bool) {
	s.cycle, s.victims = cycle{}, nil
	s.turn.Lock()
	for s.cycle.pod == nil { // a pod that is being deleted is taken out and skipped
		if !s.Ready() {
			s.turn.Unlock()
			return answer.Decision{}, false
		}
		s.Scheduler.ScheduleOne(s.Context)
	}
	s.Deliver()
	s.turn.Unlock()
	if s.cycle.decision.Node != "" {
		if node := <-s.bindings; node != s.cycle.decision.Node {
			panic("reference: bound to " + node + ", but " + s.cycle.decision.Node + " was chosen")
		}
		return s.cycle.decision, true
	}
	s.awaitPreemption(s.cycle.pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cycle.decision.Victims = s.victims
	if stored, err := s.pod(s.cycle.pod.Namespace, s.cycle.pod.Name); err == nil {
		s.cycle.decision.Nominated = stored.Status.NominatedNodeName
	}
	return s.cycle.decision, true
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
