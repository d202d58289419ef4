package sidebyside

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// Ceiling is how many bindings a second the API server takes from so many clients
// that do nothing else, or write the event of each binding after it.
func Ceiling(ctx context.Context, clients, pods int, events bool) (rate float64, err error) {
	const nodes = 1000
	plane, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return 0, err
	}
	defer plane.Stop()
	config := plane.Config(controlplane.AdminUser)
	if err := prepare(ctx, config, Workload{measured: small}, Counts{Nodes: nodes, Measured: pods}); err != nil {
		return 0, err
	}
	group, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for first := range clients {
		group.Go(func() error {
			config := rest.CopyConfig(config)
			config.ContentType = "application/vnd.kubernetes.protobuf"
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			for i := first; i < pods; i += clients {
				if err := bind(ctx, client, i, nodes, events); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(pods) / time.Since(start).Seconds(), nil
}

func bind(ctx context.Context, client kubernetes.Interface, i, nodes int, event bool) error {
	name, node := podName("measured", i), nodeName(i%nodes)
	err := client.CoreV1().Pods(cluster.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name},
		Target:     corev1.ObjectReference{Kind: "Node", Name: node},
	}, metav1.CreateOptions{})
	if err != nil || !event {
		return err
	}
	_, err = client.EventsV1().Events(cluster.Namespace).Create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name + ".bound"},
		EventTime:  metav1.NowMicro(), Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding",
		Note: "Successfully assigned " + cluster.Namespace + "/" + name + " to " + node, ReportingController: "ceiling", ReportingInstance: "ceiling-1",
		Regarding: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: cluster.Namespace, Name: name},
	}, metav1.CreateOptions{})
	return err
}
