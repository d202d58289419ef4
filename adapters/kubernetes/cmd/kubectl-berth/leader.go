package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// defaultLeases are those that the scheduler holds beside kube-scheduler, as the
// manifests in deploy have it, and in its place.
var defaultLeases = []string{"berth-scheduler", "kube-scheduler"}

// leader is the pod of the scheduler that holds the lease; where none was named, the
// first of the default ones for which there is such a pod.
func (t *target) leader(ctx context.Context, kube *rest.Config) (*v1.Pod, error) {
	client, err := clientset.NewForConfig(kube)
	if err != nil {
		return nil, err
	}
	leases := defaultLeases
	if t.lease != "" {
		leases = []string{t.lease}
	}
	var problems []error
	for _, lease := range leases {
		pod, err := t.holder(ctx, client, lease)
		if err == nil {
			return pod, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("the leading scheduler is not found; see --scheduler-namespace and --scheduler-lease, or say with --scheduler where it serves:\n%w", errors.Join(problems...))
}

// holder is the pod of the scheduler that holds the lease of the name.
//
// The holder calls itself by the name of its host, an underscore and something unique
// (kube-scheduler cmd/kube-scheduler/app/options/options.go makeLeaderElectionConfig,
// 1.37.1, and package app). The host of a pod has the pod's name; that of a pod on the
// host network, the node's.
func (t *target) holder(ctx context.Context, client clientset.Interface, name string) (*v1.Pod, error) {
	lease, err := client.CoordinationV1().Leases(t.namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no lease %s/%s", t.namespace, name)
	case err != nil:
		return nil, fmt.Errorf("get lease %s/%s: %w", t.namespace, name, err)
	case lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "":
		return nil, fmt.Errorf("nobody holds the lease %s/%s", t.namespace, name)
	}
	host := *lease.Spec.HolderIdentity
	if i := strings.LastIndexByte(host, '_'); i >= 0 {
		host = host[:i]
	}
	pod, err := t.podOn(ctx, client, host, name)
	if err != nil {
		return nil, fmt.Errorf("find the holder of the lease %s/%s: %w", t.namespace, name, err)
	}
	if pod == nil {
		return nil, fmt.Errorf("the lease %s/%s is held by %q, and there is no running pod of that name in its namespace, nor one scheduler on the host network of such a node",
			t.namespace, name, *lease.Spec.HolderIdentity)
	}
	return pod, nil
}

// podOn is the running pod of the scheduler with the lease whose host has the name, nil
// for none.
func (t *target) podOn(ctx context.Context, client clientset.Interface, host, lease string) (*v1.Pod, error) {
	pods := client.CoreV1().Pods(t.namespace)
	pod, err := pods.Get(ctx, host, metav1.GetOptions{})
	if err == nil && pod.Status.Phase == v1.PodRunning {
		return pod, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", host).String()})
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(list.Items, func(p v1.Pod) bool {
		return p.Spec.NodeName != host || !p.Spec.HostNetwork || p.Status.Phase != v1.PodRunning || !isScheduler(&p, lease)
	})
	if len(found) != 1 {
		return nil, nil
	}
	return &found[0], nil
}

// isScheduler reports whether a pod on the host network looks like the scheduler with the
// lease: by the name of a container, which in kubeadm's static pod is that of the lease.
func isScheduler(p *v1.Pod, lease string) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(c v1.Container) bool { return c.Name == "berth-scheduler" || c.Name == lease })
}
