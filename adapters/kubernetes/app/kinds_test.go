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
)

// kindOf says which kind the objects of an event are of.
var kindOf = map[extpoints.Resource]kubernetes.Kind{
	extpoints.NamespaceResource:        kubernetes.Namespaces,
	extpoints.BudgetResource:           kubernetes.DisruptionBudgets,
	extpoints.VolumeClaimResource:      kubernetes.VolumeClaims,
	extpoints.VolumeResource:           kubernetes.Volumes,
	extpoints.StorageClassResource:     kubernetes.StorageClasses,
	extpoints.StorageDriverResource:    kubernetes.StorageDrivers,
	extpoints.NodeStorageResource:      kubernetes.StorageNodes,
	extpoints.StorageCapacityResource:  kubernetes.StorageCapacities,
	extpoints.VolumeAttachmentResource: kubernetes.VolumeAttachments,
	extpoints.DeviceSliceResource:      kubernetes.DeviceSlices,
	extpoints.DeviceClassResource:      kubernetes.DeviceClasses,
	extpoints.DeviceClaimResource:      kubernetes.DeviceClaims,
}

// alwaysWatched are the rest, and groups, which gates decide about.
var alwaysWatched = []extpoints.Resource{
	extpoints.AnyWorkload, extpoints.AssignedWorkload, extpoints.UnscheduledWorkload, extpoints.TargetWorkload,
	extpoints.NodeResource, extpoints.GroupResource,
}

// Every plugin that the configuration can name has an entry, and no event that it
// waits for is of a kind that is not watched for it.
func TestKindsOfPlugins(t *testing.T) {
	profiles, err := config.Default(config.DefaultGates()).Profiles(cel.New())
	if err != nil {
		t.Fatal(err)
	}
	for name, factory := range config.Registry() {
		of, known := kindsOf[name]
		if !known {
			t.Errorf("%s: it is not said what it looks at", name)
			continue
		}
		plugin, err := factory(profiles[0].Args[name], extpointstest.NewHandle())
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
		if _, there := config.Registry()[name]; !there {
			t.Errorf("%s: there is no such plugin", name)
		}
	}
}

func TestKinds(t *testing.T) {
	all := kubernetes.DefaultKinds()
	only := func(names ...string) []extpoints.Profile {
		p := extpoints.Profile{Name: "x"}
		for _, name := range names {
			p.Plugins.Filter.Enabled = append(p.Plugins.Filter.Enabled, extpoints.PluginRef{Name: name})
		}
		return []extpoints.Profile{p}
	}
	byDefault, err := config.Default(config.DefaultGates()).Profiles(cel.New())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		profiles []extpoints.Profile
		own      extpoints.Registry
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
		{name: "somebody's own of a known name", profiles: only("NodeName"), own: extpoints.Registry{"NodeName": nil}, want: all},
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

// Plugins count wherever in the profile they are named.
func TestNamed(t *testing.T) {
	ref := func(name string) extpoints.PluginSet {
		return extpoints.PluginSet{Enabled: []extpoints.PluginRef{{Name: name}}}
	}
	p := extpoints.Plugins{
		MultiPoint: ref("a"), PreEnqueue: ref("b"), QueueSort: ref("c"), PreFilter: ref("d"), Filter: ref("e"), PostFilter: ref("f"),
		PreScore: ref("g"), Score: ref("h"), Reserve: ref("i"), Permit: ref("j"), PreBind: ref("k"), Bind: ref("l"), PostBind: ref("m"),
		PlacementGenerate: ref("n"), PlacementScore: ref("o"), GroupPostFilter: ref("p"),
	}
	if got := named(&p); len(got) != 16 {
		t.Errorf("got %q", got)
	}
}
