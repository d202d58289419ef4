package loadwatcher

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berth-project/berth/model"
)

// nodeMetricsResource is what a metrics server offers.
var nodeMetricsResource = schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "nodes"}

// nodeMetrics is a NodeMetrics of metrics.k8s.io/v1beta1: what was used over the window before the timestamp.
type nodeMetrics struct {
	metav1.ObjectMeta `json:"metadata"`
	Timestamp         metav1.Time     `json:"timestamp"`
	Window            metav1.Duration `json:"window"`
	Usage             v1.ResourceList `json:"usage"`
}

// readMetrics asks the API server for what nodes use, and compares it with what they have.
func readMetrics(o *Options) (func(context.Context, time.Time) ([]*model.NodeLoad, error), error) {
	switch {
	case o.Address != "":
		return nil, fmt.Errorf("address: must be empty, not %q: the API server is asked", o.Address)
	case o.Metrics == nil:
		return nil, errors.New("metrics: must be set")
	case o.Capacity == nil:
		return nil, errors.New("capacity: must be set")
	}
	return func(ctx context.Context, now time.Time) (list []*model.NodeLoad, problems error) {
		all, err := o.Metrics.Resource(nodeMetricsResource).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		if len(all.Items) == 0 {
			return nil, errors.New("the answer has no node")
		}
		for i := range all.Items {
			var m nodeMetrics
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(all.Items[i].Object, &m)
			if err != nil {
				problems = errors.Join(problems, fmt.Errorf("node %s: %w", all.Items[i].GetName(), err))
				continue
			}
			if has, known := o.Capacity(m.Name); known {
				l, err := m.load(now, &has)
				problems = errors.Join(problems, err)
				if l != nil {
					list = append(list, l)
				}
			}
		}
		return list, problems
	}, nil
}

// load is the report, nil for none. The error is also about what was left out.
func (m *nodeMetrics) load(now time.Time, has *model.Resources) (*model.NodeLoad, error) {
	switch {
	case m.Timestamp.IsZero():
		return nil, fmt.Errorf("node %s: has no timestamp", m.Name)
	case m.Timestamp.After(now.Add(tolerance)):
		return nil, fmt.Errorf("node %s: is of %s, which is yet to come", m.Name, m.Timestamp.UTC().Format(time.RFC3339))
	}
	l := &model.NodeLoad{Node: m.Name, At: m.Timestamp.UTC(), Interval: max(m.Window.Duration, 0), Source: string(MetricsServer)}
	var problems error
	cpu, memory := m.Usage[v1.ResourceCPU], m.Usage[v1.ResourceMemory]
	for _, r := range []struct {
		name string
		used float64
	}{{model.CPU, cpu.AsApproximateFloat64() * 1000}, {model.Memory, memory.AsApproximateFloat64()}} {
		whole := has.Get(r.name)
		if _, measured := m.Usage[v1.ResourceName(r.name)]; !measured || whole <= 0 {
			problems = errors.Join(problems, fmt.Errorf("node %s: its use of %s is missing, or what it has of it", m.Name, r.name))
			continue
		}
		percent := r.used / float64(whole) * 100
		if err := believable(m.Name, percent); err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		l.Resources = append(l.Resources, model.ResourceLoad{Name: r.name, Average: percent})
	}
	if len(l.Resources) == 0 {
		return nil, problems
	}
	return l, problems
}
