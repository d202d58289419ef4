package sidebyside

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// beside is what goes on in the cluster from before the scheduler starts until all
// measured pods are bound, when the context ends. It returns then, without an error.
type beside func(ctx context.Context, r *run) error

// run is what goes on beside it.
type run struct {
	client kubernetes.Interface
	counts Counts
	watch  *observer
}

// step does the i-th of many things.
type step func(ctx context.Context, client kubernetes.Interface, n Counts, i int) error

// every does a step at each interval, or less often if they take longer.
func every(interval time.Duration, do step) beside {
	return func(ctx context.Context, r *run) error {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
			if err := do(ctx, r.client, r.counts, i); err != nil && ctx.Err() == nil {
				return fmt.Errorf("number %d of what goes on beside: %w", i, err)
			}
		}
	}
}

func perSecond(n int) time.Duration { return time.Second / time.Duration(n) }

// onceTried begins when the scheduler has looked at all measured pods and found no
// place for them.
func onceTried(then beside) beside {
	return func(ctx context.Context, r *run) error {
		if err := r.watch.wait(ctx, tried); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // The run has ended.
			}
			return err
		}
		return then(ctx, r)
	}
}

// upTo does nothing after as many steps as there are of something.
func upTo(count func(Counts) int, do step) step {
	return func(ctx context.Context, client kubernetes.Interface, n Counts, i int) error {
		if i >= count(n) {
			return nil
		}
		return do(ctx, client, n, i)
	}
}

func nodeCount(n Counts) int     { return n.Nodes }
func placedCount(n Counts) int   { return n.Placed }
func waitingCount(n Counts) int  { return n.Waiting }
func measuredCount(n Counts) int { return n.Measured }

// createPod creates one more pod each time.
func createPod(of maker) step {
	return func(ctx context.Context, client kubernetes.Interface, _ Counts, i int) error {
		pod := of(cluster.Pod(podName("beside", i)), i).Obj()
		_, err := client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	}
}

// deletePlaced and deleteWaiting delete one of them each time, from the first.
var (
	deletePlaced  = upTo(placedCount, deletePod("placed"))
	deleteWaiting = upTo(waitingCount, deletePod("waiting"))
)

func deletePod(role string) step {
	return func(ctx context.Context, client kubernetes.Interface, _ Counts, i int) error {
		return client.CoreV1().Pods(cluster.Namespace).Delete(ctx, podName(role, i), metav1.DeleteOptions{})
	}
}

// mixedChurn creates a node without room, an important pod that fits nowhere and a
// service, in place of those that it created before.
func mixedChurn(ctx context.Context, client kubernetes.Interface, n Counts, i int) error {
	core := client.CoreV1()
	if i > 0 {
		name := podName("beside", i-1)
		if err := core.Nodes().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := core.Pods(cluster.Namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
		if err := core.Services(cluster.Namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	name := podName("beside", i)
	if _, err := core.Nodes().Create(ctx, cluster.Node(name).Capacity(cluster.Resources{"pods": "0"}).Obj(), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := createPod(important(tooLarge))(ctx, client, n, i); err != nil {
		return err
	}
	_, err := core.Services(cluster.Namespace).Create(ctx, makeService(name, map[string]string{"app": "foo"}), metav1.CreateOptions{})
	return err
}
