package app

import (
	"slices"
	"testing"

	"k8s.io/component-base/featuregate"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// kindOf says which kind the objects of an event are of.
var kindOf = map[model.ObjectKind]kubernetes.Kind{
	extpoints.NamespaceResource: kubernetes.Namespaces,
	extpoints.BudgetResource:    kubernetes.DisruptionBudgets,
	model.VolumeClaimKind:       kubernetes.VolumeClaims,
	model.VolumeKind:            kubernetes.Volumes,
	model.StorageClassKind:      kubernetes.StorageClasses,
	model.StorageDriverKind:     kubernetes.StorageDrivers,
	model.NodeStorageKind:       kubernetes.StorageNodes,
	model.StorageCapacityKind:   kubernetes.StorageCapacities,
	model.VolumeAttachmentKind:  kubernetes.VolumeAttachments,
	model.DeviceSliceKind:       kubernetes.DeviceSlices,
	model.DeviceClassKind:       kubernetes.DeviceClasses,
	model.DeviceClaimKind:       kubernetes.DeviceClaims,
}

// alwaysWatched are the rest, and groups, which gates decide about.
var alwaysWatched = []model.ObjectKind{
	extpoints.AnyWorkload, extpoints.AssignedWorkload, extpoints.UnscheduledWorkload, extpoints.TargetWorkload,
	extpoints.NodeResource, extpoints.GroupResource, model.NodeLoadKind, // of a watcher, if of any
}

// Every plugin that the configuration can name has an entry, and no event that it
// waits for is of a kind that is not watched for it.
func TestKindsOfPlugins(t *testing.T) {
	profiles, err := config.Default(config.DefaultGates()).Profiles(cel.New(), config.DefaultRegistry())
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]any{}
	for _, e := range profiles[0].Plugins {
		args[e.Name] = e.Args
	}
	for name, factory := range config.DefaultRegistry() {
		of, known := kindsOf[name]
		if !known {
			t.Errorf("%s: it is not said what it looks at", name)
			continue
		}
		plugin, err := factory(args[name], extpointstest.NewHandle())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		waits, ok := plugin.(extpoints.EnqueueExtensions)
		if !ok {
			continue
		}
		events, err := waits.EventsToRegister()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, e := range events {
			if kind := kindOf[e.Event.Resource]; !slices.Contains(alwaysWatched, e.Event.Resource) && !slices.Contains(of, kind) {
				t.Errorf("%s waits for events of %s, which are not watched", name, e.Event.Resource)
			}
		}
	}
	for name := range kindsOf {
		// NodeHolds is there where the configuration sets nodes aside.
		_, there := config.DefaultRegistry()[name]
		_, outOfTree := config.OutOfTree()[name]
		if !there && !outOfTree && name != plugins.NodeHolds {
			t.Errorf("%s: there is no such plugin", name)
		}
	}
}

func TestKinds(t *testing.T) {
	all := kubernetes.DefaultKinds()
	only := func(names ...string) []extpoints.Profile {
		p := extpoints.Profile{Name: "x"}
		for _, name := range names {
			p.Plugins = append(p.Plugins, extpoints.Entry{Name: name})
		}
		return []extpoints.Profile{p}
	}
	byDefault, err := config.Default(config.DefaultGates()).Profiles(cel.New(), config.DefaultRegistry())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		profiles []extpoints.Profile
		own      config.Registry
		extended bool
		gates    []featuregate.Feature
		want     []kubernetes.Kind
	}{
		{name: "by default", profiles: byDefault, gates: []featuregate.Feature{"DRADeviceTaintRules"}, want: append(all[:len(all):len(all)], kubernetes.DeviceTaintRules)},
		{name: "without taint rules", profiles: byDefault, want: all},
		{name: "of nodes alone", profiles: only("NodeName", "NodePorts")},
		{name: "of nodes alone, with an extender", profiles: only("NodeName"), extended: true, want: all},
		{name: "with namespaces", profiles: only("NodeName", "InterPodAffinity"), want: []kubernetes.Kind{kubernetes.Namespaces}},
		{name: "in several profiles", profiles: append(only("DefaultPreemption"), only("VolumeRestrictions")...),
			want: []kubernetes.Kind{kubernetes.DisruptionBudgets, kubernetes.VolumeClaims}},
		{name: "groups", profiles: only("NodeName"), gates: []featuregate.Feature{"GenericWorkload", "CompositePodGroup", "DRADeviceTaintRules"},
			want: []kubernetes.Kind{kubernetes.CompositeGroups, kubernetes.Groups}},
		{name: "somebody's own", profiles: only("NodeName", "Mine"), want: all},
		{name: "somebody's own of a known name", profiles: only("NodeName"), own: config.Registry{"NodeName": nil}, want: all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := kinds(tt.profiles, tt.own, tt.extended, func(f featuregate.Feature) bool { return slices.Contains(tt.gates, f) })
			want := slices.Sorted(slices.Values(tt.want))
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
