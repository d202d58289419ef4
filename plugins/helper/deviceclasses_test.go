package helper

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestDeviceClassFor(t *testing.T) {
	view := extpointstest.NewView()
	view.Put(&model.DeviceClass{Name: "a", Resource: "example.com/gpu"}, &model.DeviceClass{Name: "b"})
	for resource, want := range map[string]string{
		"example.com/gpu":               "a",
		model.DeviceClassResource + "a": "a",
		model.DeviceClassResource + "b": "b",
		model.DeviceClassResource + "c": "",
		model.DeviceClassResource:       "",
		"example.com/other":             "",
		"b":                             "",
	} {
		got := ""
		if c := DeviceClassFor(view.Devices(), resource); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", resource, got, want)
		}
		w := &model.Workload{Requests: model.Resources{Scalars: []model.Scalar{{Name: "none"}, {Name: resource, Amount: 1}}}}
		if WantsDeviceResources(func() extpoints.ClusterView { return view }, w) != (want != "") {
			t.Errorf("%s: wanted of devices: %v", resource, want == "")
		}
	}
}

func TestIsExtendedResource(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com/gpu": true, model.DeviceClassResource + "c": true,
		"licences": false, "kubernetes.io/batch-cpu": false, "requests.example.com/gpu": false, "hugepages-2Mi": false,
	} {
		if got := IsExtendedResource(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
