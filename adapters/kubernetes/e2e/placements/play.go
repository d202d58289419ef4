package placements

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// player plays a case on one side.
type player struct {
	*side
	there  []*corev1.Pod // on nodes and not told to go, in the order in which they came
	placed int           // pods that got nodes
}

// play plays the case on an empty cluster and tells what happened to the pods that were
// submitted, in their order.
func (s *side) play(ctx context.Context, c script) ([]outcome, error) {
	p := player{side: s}
	if err := p.begin(ctx, c); err != nil {
		return nil, err
	}
	var outcomes []outcome
	for i, step := range c.steps {
		var err error
		switch {
		case step.adopt != nil:
			err = p.adopt(ctx, []*corev1.Pod{step.adopt})
		case step.submit != nil:
			var o outcome
			o, err = p.submit(ctx, step.submit)
			o.Step = i
			outcomes = append(outcomes, o)
		case len(p.there) > 0:
			n := step.remove % len(p.there)
			err = p.remove(ctx, p.there[n])
			p.there = slices.Delete(p.there, n, n+1)
		}
		if errors.Is(err, errOver) {
			break
		} else if err != nil {
			return outcomes, fmt.Errorf("step %d: %w", i, err)
		}
	}
	return outcomes, p.end(ctx)
}

// begin creates the nodes and the pods that are on them, and returns when the scheduler
// knows all of the nodes and starts its search at the first.
func (p *player) begin(ctx context.Context, c script) error {
	if err := p.seen(ctx, 0); err != nil { // those of the last case are gone
		return err
	}
	for i, n := range c.nodes {
		if _, err := p.cluster.Client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{}); err != nil {
			return err
		}
		if i == 0 {
			if err := p.seen(ctx, 1); err != nil {
				return err
			}
		}
	}
	if err := p.seen(ctx, len(c.nodes)); err != nil {
		return err
	}
	return p.adopt(ctx, c.adopted)
}

// end deletes all pods and nodes.
func (p *player) end(ctx context.Context) error {
	for _, namespace := range namespaces {
		pods := p.cluster.Client.CoreV1().Pods(namespace)
		if err := pods.DeleteCollection(ctx, atOnce, metav1.ListOptions{}); err != nil {
			return err
		}
	}
	return p.cluster.Client.CoreV1().Nodes().DeleteCollection(ctx, atOnce, metav1.ListOptions{})
}

// atOnce deletes without asking first.
var atOnce = metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}

// seen returns when the scheduler knows exactly n nodes: it says so about a pod that
// fits nowhere.
func (s *side) seen(ctx context.Context, n int) error {
	want := "no nodes available to schedule pods"
	if n > 0 {
		want = fmt.Sprintf("0/%d nodes are available: ", n)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cluster.Patience, fmt.Errorf("the scheduler does not know %d nodes", n))
	defer cancel()
	for {
		s.probes++
		pod := cluster.Pod(fmt.Sprintf("probe-%d", s.probes)).NodeSelector(map[string]string{"no": "such"}).Obj()
		if err := s.cluster.CreatePod(ctx, pod); err != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		decided, err := s.decided(ctx, pod)
		if err != nil {
			return err
		}
		if err := s.remove(ctx, pod); err != nil {
			return err
		}
		if strings.HasPrefix(condition(decided).Message, want) {
			return nil
		}
	}
}

// adopters is how many pods are created on nodes at a time.
const adopters = 8

// adopt creates pods that are on nodes. In which order nobody asks: they differ in
// when they have started.
func (p *player) adopt(ctx context.Context, pods []*corev1.Pod) error {
	created := make([]*corev1.Pod, len(pods)) // nil for those that are to go
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(adopters)
	for i, pod := range pods {
		group.Go(func() (err error) {
			created[i], err = p.adoptOne(ctx, pod)
			return err
		})
	}
	err := group.Wait()
	p.there = append(p.there, slices.DeleteFunc(created, func(pod *corev1.Pod) bool { return pod == nil })...)
	return err
}

func (p *player) adoptOne(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	created, err := p.create(ctx, pod)
	if apierrors.IsInvalid(err) {
		return nil, nil // on both sides
	} else if err != nil {
		return nil, err
	}
	if err := p.start(ctx, pod, pod.Status.StartTime); err != nil || pod.DeletionTimestamp == nil {
		return created, err
	}
	return nil, p.pods(pod).Delete(ctx, pod.Name, metav1.DeleteOptions{})
}

// create creates the pod without what only the API server writes.
func (p *player) create(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	pod.DeletionTimestamp = nil
	return p.pods(pod).Create(ctx, pod, metav1.CreateOptions{})
}

// start does what a kubelet does for a pod: it runs.
func (s *side) start(ctx context.Context, pod *corev1.Pod, since *metav1.Time) error {
	patch := text(map[string]any{"status": corev1.PodStatus{Phase: corev1.PodRunning, StartTime: since}})
	_, err := s.pods(pod).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// submit creates a pod, waits until it is decided about, and makes it run, or takes it
// away.
func (p *player) submit(ctx context.Context, pod *corev1.Pod) (outcome, error) {
	o := outcome{Pod: pod.Name}
	if _, err := p.create(ctx, pod); apierrors.IsInvalid(err) {
		o.Refused = true
		return o, nil
	} else if err != nil {
		return o, err
	}
	decided, err := p.decided(ctx, pod)
	if err != nil {
		return o, err
	}
	if decided.Spec.NodeName != "" {
		o.Node = decided.Spec.NodeName
		return o, p.runs(ctx, decided)
	}
	if o.Note, err = p.failure(ctx, pod); err != nil {
		return o, err
	}
	o.Reason = condition(decided).Reason
	if found := makesRoom.FindStringSubmatch(o.Note); found != nil {
		victims, err := strconv.Atoi(found[1])
		if err != nil {
			return o, err
		}
		return o, p.preempted(ctx, pod, victims, &o)
	}
	o.Message = condition(decided).Message
	o.Nominated = decided.Status.NominatedNodeName
	return o, p.remove(ctx, pod)
}

// runs makes a pod run that got a node.
func (p *player) runs(ctx context.Context, pod *corev1.Pod) error {
	p.placed++
	p.there = append(p.there, pod)
	return p.start(ctx, pod, startTime(p.placed))
}

// makesRoom finds in a message how many others are told to go.
var makesRoom = regexp.MustCompile(`found a potential placement for pod on node .*, preempting (\d+) victims`)

// errOver says that what comes after a step is left to chance.
var errOver = errors.New("the case is over")

// preempted waits until so many others have been told to go for the pod, and lets them
// go. If it is one that goes the pod gets its place; see the package.
func (p *player) preempted(ctx context.Context, pod *corev1.Pod, number int, o *outcome) error {
	var victims []*corev1.Pod
	err := p.cluster.Wait(ctx, func() error {
		victims = nil
		for _, other := range p.there {
			now, err := p.cluster.PodIn(other.Namespace, other.Name)
			if err == nil && now.DeletionTimestamp != nil {
				victims = append(victims, other)
			}
		}
		if len(victims) < number {
			return fmt.Errorf("%d pods are told to go for %s, want %d", len(victims), pod.Name, number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, v := range victims {
		o.Victims = append(o.Victims, v.Name)
	}
	slices.Sort(o.Victims)
	p.there = slices.DeleteFunc(p.there, func(other *corev1.Pod) bool { return slices.Contains(victims, other) })
	now, err := p.cluster.PodIn(pod.Namespace, pod.Name)
	if err != nil {
		return err
	}
	o.Nominated = now.Status.NominatedNodeName
	return p.makeRoom(ctx, pod, victims, o)
}

// makeRoom takes the victims of a pod away.
func (p *player) makeRoom(ctx context.Context, pod *corev1.Pod, victims []*corev1.Pod, o *outcome) error {
	if len(victims) > 1 || namesNodes(pod) {
		if err := p.remove(ctx, pod); err != nil {
			return err
		}
	}
	for _, v := range victims {
		if err := p.remove(ctx, v); err != nil {
			return err
		}
	}
	switch {
	case namesNodes(pod):
		return errOver
	case len(victims) > 1:
		return nil
	}
	var bound *corev1.Pod
	err := p.cluster.Wait(ctx, func() (err error) {
		if bound, err = p.cluster.PodIn(pod.Namespace, pod.Name); err == nil && bound.Spec.NodeName == "" {
			err = fmt.Errorf("pod %s has no node although its victim is gone: %q", pod.Name, condition(bound).Message)
		}
		return err
	})
	if err != nil {
		return err
	}
	o.Node = bound.Spec.NodeName
	return p.runs(ctx, bound)
}

// namesNodes reports whether the pod says by name on which nodes it can be, so that
// not all of them are looked at.
func namesNodes(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
		func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
}
