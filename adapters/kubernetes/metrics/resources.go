package metrics

import (
	"net/http"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-helpers/resource"
)

// ResourcesHandler serves /metrics/resources: what each pod of the cluster
// requests and may use at most, as scheduler and kubelet count it. Pods that have
// ended are left out. It goes through all pods that the lister has at each request,
// and needs their containers, overhead, priority and phase whole. Rules:
// kube-scheduler pkg/scheduler/metrics/resources/resources.go, 1.37.1.
func ResourcesHandler(pods corelisters.PodLister) http.Handler {
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(newResourceCollector(pods))
	return metrics.HandlerWithReset(registry, metrics.HandlerOpts{})
}

// resourceCollector collects them.
type resourceCollector struct {
	metrics.BaseStableCollector
	pods              corelisters.PodLister
	requested, limits *metrics.Desc
}

var _ metrics.StableCollector = (*resourceCollector)(nil)

func newResourceCollector(pods corelisters.PodLister) *resourceCollector {
	labels := []string{"namespace", "pod", "node", "scheduler", "priority", "resource", "unit"}
	return &resourceCollector{
		pods: pods,
		requested: metrics.NewDesc("kube_pod_resource_request",
			"Resources requested by workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit for the resource if any.",
			labels, nil, metrics.STABLE, ""),
		limits: metrics.NewDesc("kube_pod_resource_limit",
			"Resources limit for workloads on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit for the resource if any.",
			labels, nil, metrics.STABLE, ""),
	}
}

// DescribeWithStability implements [metrics.StableCollector].
func (c *resourceCollector) DescribeWithStability(ch chan<- *metrics.Desc) {
	ch <- c.requested
	ch <- c.limits
}

// CollectWithStability implements [metrics.StableCollector].
func (c *resourceCollector) CollectWithStability(ch chan<- metrics.Metric) {
	pods, err := c.pods.List(labels.Everything())
	if err != nil {
		return // a lister over an informer's cache has no errors
	}
	requests, limits := v1.ResourceList{}, v1.ResourceList{}
	for _, pod := range pods {
		if ended(pod) {
			continue
		}
		requests = resource.PodRequests(pod, resource.PodResourcesOptions{Reuse: requests})
		limits = resource.PodLimits(pod, resource.PodResourcesOptions{Reuse: limits})
		sendResources(ch, c.requested, pod, requests)
		sendResources(ch, c.limits, pod, limits)
	}
}

// ended reports whether a pod uses nothing any more. One that never was on a node
// counts for as long as it is there.
func ended(pod *v1.Pod) bool {
	return pod.Spec.NodeName != "" && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed)
}

func sendResources(ch chan<- metrics.Metric, desc *metrics.Desc, pod *v1.Pod, amounts v1.ResourceList) {
	priority := ""
	if pod.Spec.Priority != nil {
		priority = strconv.FormatInt(int64(*pod.Spec.Priority), 10)
	}
	for name, amount := range amounts {
		if amount.IsZero() {
			continue
		}
		ch <- metrics.NewLazyConstMetric(desc, metrics.GaugeValue, amount.AsApproximateFloat64(),
			pod.Namespace, pod.Name, pod.Spec.NodeName, pod.Spec.SchedulerName, priority, string(name), unit(name))
	}
}

// unit is what amounts of the resource are in, empty for extended resources.
func unit(name v1.ResourceName) string {
	switch name {
	case v1.ResourceCPU:
		return "cores"
	case v1.ResourceMemory, v1.ResourceStorage, v1.ResourceEphemeralStorage:
		return "bytes"
	}
	switch {
	case strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix):
		return "bytes"
	case strings.HasPrefix(string(name), v1.ResourceAttachableVolumesPrefix):
		return "integer"
	}
	return ""
}
