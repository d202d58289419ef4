package app

import (
	"slices"
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/component-base/featuregate"
)

func TestGateFlags(t *testing.T) {
	tests := []struct {
		name, flags string
		want        []string // parts of the problems, in any order; none: it is accepted
	}{
		{name: "defaults"},
		{name: "gates of other components", flags: "--feature-gates=KubeletInUserNamespace=true,APIResponseCompression=false,NodeLogQuery=true"},
		{name: "the same, by the name of the component", flags: "--feature-gates=kube:NodeSwap=true"},
		{name: "of groups", flags: "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,PodGroupPreemptionPolicy=true,DRAWorkloadResourceClaims=true"},
		{name: "of queue and preemption", flags: "--feature-gates=SchedulerAsyncPreemption=false,SchedulerPopFromBackoffQ=false,SchedulerAsyncAPICalls=true,OpportunisticBatching=false,SchedulerPreQueueingHints=true"},
		{name: "of devices", flags: "--feature-gates=DRADeviceTaintRules=false,DRASchedulerFilterTimeout=false"},
		{name: "of storage", flags: "--feature-gates=StorageCapacityScoring=false"},
		{name: "of leaders", flags: "--feature-gates=CoordinatedLeaderElection=true"},
		{name: "of tolerations", flags: "--feature-gates=TaintTolerationComparisonOperators=true"},
		{name: "an alpha one that is not there", flags: "--feature-gates=DRADerivedAttributes=true",
			want: []string{"feature gate DRADerivedAttributes is true, and Berth can only work with false: set --feature-gates=DRADerivedAttributes=false"}},
		{name: "a beta one that cannot be left out", flags: "--feature-gates=DRAConsumableCapacity=false,DRAFractionalCapacityRange=false",
			want: []string{"DRAConsumableCapacity is false"}},
		{name: "one that needs another", flags: "--feature-gates=CompositePodGroup=true",
			want: []string{"CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload TopologyAwareWorkloadScheduling]"}},
		{name: "as an older version", flags: "--emulated-version=1.34",
			want: []string{"DRAConsumableCapacity is false", "DRADeviceTaints is false", "DRAExtendedResource is false", "DRAPartitionableDevices is false",
				"DRADeviceBindingConditions is false", "InPlacePodLevelResourcesVerticalScaling is false", "VolumeLimitScaling is false"}},
		{name: "a version that is none", flags: "--emulated-version=1.20", want: []string{"emulation version 1.20 is not between", "minCompatibilityVersion version 1.34 is not between"}},
		{name: "one that there never was", flags: "--feature-gates=Telepathy=true", want: []string{"unrecognized feature gate: Telepathy"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOptions()
			if err := o.flags.FlagSet("feature gate").Parse(strings.Fields(tt.flags)); err != nil {
				t.Fatal(err)
			}
			problems := []error{o.gates.registry.Set()}
			if problems[0] == nil {
				problems = o.gates.validate()
			}
			if len(problems) != len(tt.want) {
				t.Errorf("got %d problems, want %d: %v", len(problems), len(tt.want), problems)
			}
			for _, part := range tt.want {
				if !slices.ContainsFunc(problems, func(err error) bool { return strings.Contains(err.Error(), part) }) {
					t.Errorf("nothing says %q: %v", part, problems)
				}
			}
		})
	}
}

// Gates that Berth has in one state are in that one by default, and exist.
func TestFixedGatesAreTheDefaults(t *testing.T) {
	gate := newGates().gate
	all := gate.GetAll()
	for name, state := range fixed {
		if spec, ok := all[name]; !ok || spec.Default != state {
			t.Errorf("%s: there %t, by default %t, fixed %t", name, ok, spec.Default, state)
		}
	}
}

func TestParseGates(t *testing.T) {
	specs, needs, err := parseGates("# a comment\nA 1.8:alpha 1.30:beta:on 1.37:ga:on:locked\nB 1.36:beta 1.36:beta:on:with-1.36 needs:A,C\n")
	if err != nil {
		t.Fatal(err)
	}
	a, b := specs["A"], specs["B"]
	switch {
	case len(a) != 3 || len(b) != 2:
		t.Errorf("got %v and %v", a, b)
	case a[0].PreRelease != featuregate.Alpha || a[0].Default || a[0].Version.String() != "1.8":
		t.Errorf("got %+v", a[0])
	case a[2].PreRelease != featuregate.GA || !a[2].Default || !a[2].LockToDefault:
		t.Errorf("got %+v", a[2])
	case b[1].MinCompatibilityVersion.String() != "1.36" || b[0].MinCompatibilityVersion != nil:
		t.Errorf("got %+v", b)
	case !slices.Equal(needs["B"], []featuregate.Feature{"A", "C"}) || needs["A"] != nil:
		t.Errorf("got %v", needs)
	}
	for _, wrong := range []string{"A 1.8:gamma", "A x:alpha", "A 1.8:alpha:with-y"} {
		if _, _, err := parseGates(wrong); err == nil || !strings.Contains(err.Error(), "A: ") {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}

// What libraries ask for is what the flags say.
func TestApplyToProcess(t *testing.T) {
	const ofServer, ofClient = "UnauthenticatedHTTP2DOSMitigation", clientfeatures.InformerResourceVersion
	t.Cleanup(func() {
		if err := newGates().applyToProcess(); err != nil {
			t.Error(err)
		}
		if err := utilfeature.DefaultMutableFeatureGate.ResetFeatureValueToDefault(ofServer); err != nil {
			t.Error(err)
		}
	})
	for _, state := range []bool{false, true} {
		value := map[bool]string{false: "=false", true: "=true"}[state]
		o := parsed(t, "--feature-gates="+ofServer+value+","+string(ofClient)+value)
		if err := o.gates.applyToProcess(); err != nil {
			t.Fatal(err)
		}
		if utilfeature.DefaultFeatureGate.Enabled(ofServer) != state || clientfeatures.FeatureGates().Enabled(ofClient) != state {
			t.Errorf("set to %t: server %t, client %t", state, utilfeature.DefaultFeatureGate.Enabled(ofServer), clientfeatures.FeatureGates().Enabled(ofClient))
		}
	}
}
