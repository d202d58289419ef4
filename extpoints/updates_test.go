package extpoints

import (
	"math"
	"strings"
	"testing"

	"github.com/berth-project/berth/model"
)

func eventNames(events []ClusterEvent) string {
	var s []string
	for _, e := range events {
		s = append(s, e.String())
	}
	return strings.Join(s, " ")
}

// The rules are those of kube-scheduler's pkg/scheduler/framework/events.go,
// 1.37.1, NodeSchedulingPropertiesChange.
func TestEventsForNodeUpdate(t *testing.T) {
	old := model.Node{
		Labels:        map[string]string{"a": "1"},
		Unschedulable: true,
		Taints:        []model.Taint{{Key: "t"}},
		MaxWorkloads:  10,
		Devices:       []model.Device{{Class: "gpu"}},
		Allocatable:   model.Resources{CPU: 1, Scalars: []model.Scalar{{Name: "x", Amount: 1}, {Name: "y", Amount: 2}}},
	}
	for _, c := range []struct {
		name   string
		change func(*model.Node)
		want   string
	}{
		{"nothing", func(*model.Node) {}, ""},
		{"what does not matter", func(n *model.Node) { n.Images = []model.NodeImage{{Size: 1}} }, ""},
		{"zone", func(n *model.Node) { n.Zone = "z" }, "Node/UpdateNodeLabel"},
		{"opened", func(n *model.Node) { n.Unschedulable = false }, "Node/UpdateNodeTaint"},
		{"label", func(n *model.Node) { n.Labels = map[string]string{"a": "2"} }, "Node/UpdateNodeLabel"},
		{"taint", func(n *model.Node) { n.Taints = nil }, "Node/UpdateNodeTaint"},
		{"cpu", func(n *model.Node) { n.Allocatable.CPU = 2 }, "Node/UpdateNodeAllocatable"},
		{"number", func(n *model.Node) { n.MaxWorkloads = 11 }, "Node/UpdateNodeAllocatable"},
		{"scalars in another order", func(n *model.Node) {
			n.Allocatable.Scalars = []model.Scalar{{Name: "y", Amount: 2}, {Name: "x", Amount: 1}}
		}, ""},
		{"another scalar", func(n *model.Node) {
			n.Allocatable.Scalars = []model.Scalar{{Name: "y", Amount: 2}, {Name: "z", Amount: 1}}
		}, "Node/UpdateNodeAllocatable"},
		{"less of a scalar", func(n *model.Node) {
			n.Allocatable.Scalars = []model.Scalar{{Name: "x", Amount: 1}, {Name: "y", Amount: 1}}
		}, "Node/UpdateNodeAllocatable"},
		{"device", func(n *model.Node) { n.Devices = append(n.Devices[:1:1], model.Device{Class: "gpu"}) }, "Node/UpdateNodeDevices"},
		{"everything", func(n *model.Node) { *n = model.Node{} },
			"Node/UpdateNodeTaint Node/UpdateNodeAllocatable Node/UpdateNodeLabel Node/UpdateNodeTaint Node/UpdateNodeDevices"},
	} {
		n := old
		c.change(&n)
		if got := eventNames(EventsForNodeUpdate(&old, &n)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	closed := old
	closed.Unschedulable = false
	if got := EventsForNodeUpdate(&closed, &old); got != nil {
		t.Errorf("closed: %v, want nothing", got)
	}
}

// The rules are those of kube-scheduler's pkg/scheduler/framework/events.go,
// 1.37.1, PodSchedulingPropertiesChange.
func TestEventsForWorkloadUpdate(t *testing.T) {
	old := model.Workload{
		Labels:      map[string]string{"a": "1"},
		Gates:       []string{"g", "h"},
		Tolerations: []model.Toleration{{Key: "t"}},
		Requests:    model.Resources{CPU: 10, Memory: 10, EphemeralStorage: 10, Scalars: []model.Scalar{{Name: "x"}, {Name: "y", Amount: 2}}},
		Devices:     []model.DeviceRequest{{Class: "gpu", Count: 2, Share: model.WholeDevice}},
	}
	for _, c := range []struct {
		name   string
		change func(*model.Workload)
		want   string
	}{
		{"nothing", func(*model.Workload) {}, "Update"},
		{"priority", func(w *model.Workload) { w.Priority = 1 }, "Update"},
		{"label", func(w *model.Workload) { w.Labels = nil }, "UpdateWorkloadLabel"},
		{"one gate", func(w *model.Workload) { w.Gates = w.Gates[:1] }, "Update"},
		{"last gate", func(w *model.Workload) { w.Gates = nil }, "UpdateWorkloadGatesEliminated"},
		{"toleration added", func(w *model.Workload) { w.Tolerations = make([]model.Toleration, 2) }, "UpdateWorkloadToleration"},
		{"toleration changed", func(w *model.Workload) { w.Tolerations = make([]model.Toleration, 1) }, "Update"},
		{"less cpu", func(w *model.Workload) { w.Requests.CPU = 9 }, "UpdateWorkloadScaleDown"},
		{"more memory", func(w *model.Workload) { w.Requests.Memory = 11 }, "UpdateWorkloadScaleUp"},
		{"both", func(w *model.Workload) { w.Requests.CPU, w.Requests.EphemeralStorage = 11, 9 },
			"UpdateWorkloadScaleDown UpdateWorkloadScaleUp"},
		{"scalar removed", func(w *model.Workload) { w.Requests.Scalars = w.Requests.Scalars[1:] }, "UpdateWorkloadScaleDown"},
		{"scalar exchanged", func(w *model.Workload) { w.Requests.Scalars = []model.Scalar{{Name: "y", Amount: 2}, {Name: "z"}} },
			"UpdateWorkloadScaleDown UpdateWorkloadScaleUp"},
		{"fewer devices", func(w *model.Workload) { w.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 1000}} },
			"UpdateWorkloadScaleDown"},
		{"the same devices", func(w *model.Workload) {
			one := model.DeviceRequest{Class: "gpu", Count: 1, Share: 1000}
			w.Devices = []model.DeviceRequest{one, one}
		}, "Update"},
		{"absurdly many devices", func(w *model.Workload) {
			most := model.DeviceRequest{Class: "gpu", Count: math.MaxInt64 / 1000, Share: 1000}
			w.Devices = []model.DeviceRequest{most, most}
		}, "UpdateWorkloadScaleUp"},
		{"a claim is made", func(w *model.Workload) { w.DeviceClaims = []model.DeviceClaimRef{{Name: "gpu", ID: "made"}} },
			"UpdateWorkloadDeviceClaims"},
		{"everything", func(w *model.Workload) { *w = model.Workload{Requests: model.Resources{CPU: 11}} },
			"UpdateWorkloadLabel UpdateWorkloadScaleDown UpdateWorkloadScaleUp UpdateWorkloadGatesEliminated UpdateWorkloadToleration"},
	} {
		w := old
		c.change(&w)
		want := "AssignedWorkload/" + strings.ReplaceAll(c.want, " ", " AssignedWorkload/")
		if got := eventNames(EventsForWorkloadUpdate(&old, &w, AssignedWorkload)); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}
