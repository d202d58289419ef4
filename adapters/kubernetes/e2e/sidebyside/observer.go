package sidebyside

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// stall is how long nothing may happen before a run is given up. A pod that
// kube-scheduler has lost sight of is tried again after five minutes; that counts.
const stall = 6 * time.Minute

// stage is how far a pod has come.
type stage string

const (
	ready stage = "ready"               // it has the claims that are made of its templates
	tried stage = "tried and not bound" // or held back by a gate
	bound stage = "bound"
)

// reached are the stages that the pod shows.
func reached(p *corev1.Pod) []stage {
	var stages []stage
	claims := 0
	for _, c := range p.Spec.ResourceClaims {
		if c.ResourceClaimTemplateName != nil {
			claims++
		}
	}
	if len(p.Status.ResourceClaimStatuses) >= claims {
		stages = append(stages, ready)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			stages = append(stages, tried)
		}
	}
	if p.Spec.NodeName != "" {
		stages = append(stages, bound)
	}
	return stages
}

// observer notes how far the measured pods have come.
type observer struct {
	client  kubernetes.Interface
	factory informers.SharedInformerFactory
	cancel  context.CancelFunc
	want    int

	mu          sync.Mutex
	pods        map[stage]map[string]bool // those that have reached it, by name
	first, last time.Time                 // that one was seen to be bound
	change      map[stage]chan struct{}   // each holds at most one
}

// observe watches the measured pods.
func observe(ctx context.Context, config *rest.Config, want int) (*observer, error) {
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	o := &observer{client: client, cancel: cancel, want: want, pods: map[stage]map[string]bool{}, change: map[stage]chan struct{}{}}
	for _, s := range []stage{ready, tried, bound} {
		o.pods[s], o.change[s] = map[string]bool{}, make(chan struct{}, 1)
	}
	o.factory = informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(l *metav1.ListOptions) { l.LabelSelector = measuredLabel }))
	informer := o.factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: o.see, UpdateFunc: func(_, now any) { o.see(now) },
	}); err != nil {
		cancel()
		return nil, err
	}
	o.factory.StartWithContext(ctx)
	o.factory.WaitForCacheSyncWithContext(ctx)
	return o, nil
}

func (o *observer) stop() {
	o.cancel()
	o.factory.Shutdown()
}

func (o *observer) see(object any) {
	p, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range reached(p) {
		if o.pods[s][p.Name] {
			continue
		}
		o.pods[s][p.Name] = true
		if s == bound {
			if o.first.IsZero() {
				o.first = now
			}
			o.last = now
		}
		select {
		case o.change[s] <- struct{}{}:
		default:
		}
	}
}

// wait waits until all have reached the stage, or nothing has happened for too long.
func (o *observer) wait(ctx context.Context, s stage) error {
	timer := time.NewTimer(stall)
	defer timer.Stop()
	for o.count(s) < o.want {
		select {
		case <-o.change[s]:
			timer.Reset(stall)
		case <-timer.C:
			return fmt.Errorf("%d of %d pods are %s, and no other for %v", o.count(s), o.want, s, stall)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (o *observer) count(s stage) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pods[s])
}

// rate is how many were bound per second, from the first to the last.
func (o *observer) rate() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return float64(len(o.pods[bound])-1) / o.last.Sub(o.first).Seconds()
}

// events waits until there is an event for each pod, for as long as there are more,
// and returns how many there are.
func (o *observer) events(ctx context.Context, want int) (int, error) {
	const pause = time.Second
	for have, still := -1, 0; ; {
		list, err := o.client.EventsV1().Events(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "reason=Scheduled"})
		if err != nil {
			return 0, err
		}
		n := 0
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Regarding.Name, measuredLabel+"-") {
				n++
			}
		}
		if n == have {
			still++
		} else {
			have, still = n, 0
		}
		if n >= want || still == 10 {
			return n, nil
		}
		select {
		case <-ctx.Done():
			return n, ctx.Err()
		case <-time.After(pause):
		}
	}
}
