package config_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// watcher is what all plugins that go by measured load need.
const watcher = "watcherAddress: 'http://load-watcher.example:2020'"

// outOfTree makes the plugin as a profile does whose file has these arguments.
func outOfTree(t *testing.T, name, args string) (extpoints.Plugin, error) {
	t.Helper()
	text := head + "profiles: [{plugins: {multiPoint: {enabled: [{name: " + name + ", weight: 3}]}}, pluginConfig: [{name: " + name + ", args: {" + args + "}}]}]"
	registry := config.DefaultRegistry()
	if err := registry.Merge(config.OutOfTree()); err != nil {
		t.Fatal(err)
	}
	profiles, err := load(t, text).Profiles(devices, registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range profiles[0].Plugins {
		if e.Name == name {
			return e.New(e.Args, extpointstest.NewHandle())
		}
	}
	t.Fatalf("%s is not in the profile", name)
	return nil, nil
}

// The plugins of scheduler-plugins take the arguments that they take there.
func TestOutOfTree(t *testing.T) {
	for _, c := range []struct{ name, args, problem string }{
		{plugins.PodState, "", ""},
		{plugins.PodState, "mode: Most", "arguments: mode: unknown field"},
		{plugins.NodeResourcesAllocatable, "", ""},
		{plugins.NodeResourcesAllocatable, "apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesAllocatableArgs, mode: Most, resources: [{name: cpu, weight: 1000000}, {name: memory, weight: 1}]", ""},
		{plugins.NodeResourcesAllocatable, "resources: [{name: cpu, weight: 0}]", `the weight 0 of "cpu" is less than 1`},
		{plugins.NodeMetadata, "metadataKey: price, metadataSource: Label, metadataType: Number, scoringStrategy: Lowest", ""},
		{plugins.NodeMetadata, "metadataKey: since, metadataSource: Label, metadataType: Timestamp, scoringStrategy: Newest, timestampFormat: \"2006-01-02\"", ""},
		{plugins.NodeMetadata, "metadataKey: price, metadataSource: Annotation", `metadataSource: "Annotation": only "Label" is read here`},
		{plugins.QOSSort, "", ""},
		{plugins.Coscheduling, "permitWaitingTimeSeconds: 30, podGroupBackoffSeconds: 20, podGroupRejectPercentage: 0", ""},
		{plugins.Coscheduling, "permitWaitingTimeSeconds: -1", "permitWaitingTimeSeconds: -1 is not between 0 and"},
		{plugins.Coscheduling, "permitWaitingTimeSeconds: 900", "permitTimeout: 15m0s is not between 0 and 15m0s"},
		{plugins.Coscheduling, "podGroupRejectPercentage: 101", "rejectPercentage: 101 is not between 0 and 100"},
		{plugins.Coscheduling, "minMember: 3", "arguments: minMember: unknown field"},
		{config.CapacityScheduling, "", ""},
		{config.CapacityScheduling, "namespace: a", "arguments: namespace: unknown field"},
		{plugins.SySched, "", ""},
		{plugins.SySched, "defaultProfileNamespace: ns, defaultProfileName: all", ""},
		{plugins.SySched, "default: [read]", "arguments: default: unknown field"},
		{plugins.PreemptionToleration, "", ""},
		{plugins.PreemptionToleration, "minCandidateNodesPercentage: 20, minCandidateNodesAbsolute: 10", ""},
		{plugins.PreemptionToleration, "minCandidateNodesPercentage: 101", "minCandidateNodesPercentage: 101 is not in [0, 100]"},
		{plugins.PreemptionToleration, "seconds: 10", "arguments: seconds: unknown field"},
		{plugins.NodeMetadata, "", "Label: must not be empty"},
		{plugins.TargetLoadPacking, watcher + `, defaultRequests: {cpu: "2"}, defaultRequestsMultiplier: "1.8", targetUtilization: 70`, ""},
		{plugins.TargetLoadPacking, watcher + ", targetUtilization: -1", ""},
		{plugins.TargetLoadPacking, watcher + ", targetUtilization: 101", "target: 101 is not between 1 and 100"},
		{plugins.TargetLoadPacking, watcher + ", defaultRequestsMultiplier: much", `defaultRequestsMultiplier: "much" is no number`},
		{plugins.TargetLoadPacking, "", ""},
		{plugins.TargetLoadPacking, "metricProvider: {type: KubernetesMetricsServer}", ""},
		{plugins.TargetLoadPacking, "metricProvider: {type: Prometheus, address: 'http://prometheus-k8s.monitoring.svc:9090', token: t, insecureSkipVerify: false}", ""},
		{plugins.TargetLoadPacking, "metricProvider: {type: Prometheus, address: x}", `metricProvider.address: "x" is no URL of a service`},
		{plugins.TargetLoadPacking, "metricProvider: {type: Prometheus}", "metricProvider.address: must be set, to the URL of Prometheus"},
		{plugins.LowRiskOverCommitment, "metricProvider: {type: SignalFx, address: 'https://s'}", `metricProvider.type: "SignalFx" is neither "KubernetesMetricsServer" nor "Prometheus"; of others run load-watcher as a service`},
		{plugins.LowRiskOverCommitment, watcher + ", metricProvider: {type: SignalFx}", ""},
		{plugins.LoadVariationRiskBalancing, watcher + ", safeVarianceMargin: -5, safeVarianceSensitivity: 2", ""},
		{plugins.LoadVariationRiskBalancing, "watcherAddress: somewhere", `watcherAddress: "somewhere" is no URL of a service`},
		{plugins.LowRiskOverCommitment, watcher + ", smoothingWindowSize: -5, riskLimitWeights: {cpu: 0.5, memory: 7, gpu: 1}", ""},
		{plugins.LowRiskOverCommitment, "", ""},
		{plugins.Peaks, watcher + ", nodePowerModel: {n1: {k0: 471.7, k1: -91.5, k2: -0.07}}", ""},
		{plugins.Peaks, watcher, "nodePowerModel: must not be empty"},
		{plugins.Peaks, "nodePowerModel: {n1: {k1: 1}}", "watcherAddress: must be set"},
		{plugins.DevicePacking, "resource: nvidia.com/gpu, modelLabel: nvidia.com/gpu.product, unitsPerDevice: 4, relearn: 5m", ""},
		{plugins.DevicePacking, "", "resource: must be set"},
		{plugins.DevicePacking, "unitsPerDevice: 0, relearn: 5, resourc: memory", "[arguments: relearn: 5 is not a duration, such as 90s, 10m or 168h, arguments: resourc: unknown field, not one of " +
			"apiVersion, kind, modelLabel, relearn, resource, unitsPerDevice, arguments: resource: must be set, to the extended resource of the devices, arguments: unitsPerDevice: 0 is less than 1]"},
		{plugins.DevicePacking, "resource: nvidia.com/gpu, unitsPerDevice: 0", "unitsPerDevice: 0 is less than 1"},
		{plugins.DevicePacking, "resource: nvidia.com/gpu, relearn: 0s", "relearn: 0s is not above 0"},
		{plugins.DevicePacking, "resource: memory", "memory does not come in devices"},
		{plugins.NodeResourceTopologyMatch, "", ""},
		{plugins.NodeResourceTopologyMatch, "scoringStrategy: {type: LeastNUMANodes, resources: [{name: cpu, weight: 1}, {name: memory}]}, cacheResyncPeriodSeconds: 5, " +
			"discardReservedNodes: true, cache: {foreignPodsDetect: None, resyncMethod: All, informerMode: Shared, resyncScope: OnlyResources}, preemptionMode: Enabled", ""},
		{plugins.NodeResourceTopologyMatch, "scoringStrategy: {type: Best}", `strategy: "Best" is not one of`},
		{plugins.NodeResourceTopologyMatch, "cache: {informerMode: Some}", `cache.informerMode: "Some" is not one of ["Dedicated" "Shared"]`},
		{plugins.NodeResourceTopologyMatch, "cacheResync: 1", "arguments: cacheResync: unknown field"},
		{plugins.NetworkOverhead, "namespaces: [default, other], weightsName: NetperfCosts, networkTopologyName: net-topology-test", ""},
		{plugins.NetworkOverhead, "namespace: default", "arguments: namespace: unknown field"},
		{plugins.TopologicalSort, "namespaces: [default]", ""},
		{plugins.NodeResourcesFitPlus, "resources: {nvidia.com/gpu: {type: MostAllocated, weight: 2}, cpu: {type: LeastAllocated, weight: 1}}", ""},
		{plugins.NodeResourcesFitPlus, "", "resources: must not be empty"},
		{plugins.NodeResourcesFitPlus, "resources: {cpu: {type: RequestedToCapacityRatio, weight: 1}}", `"RequestedToCapacityRatio" of "cpu" is neither "LeastAllocated" nor "MostAllocated"`},
		{plugins.NodeResourcesFitPlus, "resources: {cpu: {type: LeastAllocated}}", `0 of "cpu" is not between 1 and 100`},
		{plugins.ScarceResourceAvoidance, "resources: [nvidia.com/gpu]", ""},
		{plugins.ScarceResourceAvoidance, "", "resources: must not be empty"},
		{plugins.ScarceResourceAvoidance, "resource: nvidia.com/gpu", "arguments: resource: unknown field"},
		{plugins.LoadAwareScheduling, watcher, ""},
		{plugins.LoadAwareScheduling, watcher + ", filterExpiredNodeMetrics: false, nodeMetricExpirationSeconds: 300, enableScheduleWhenNodeMetricsExpired: true, resourceWeights: {cpu: 1}, dominantResourceWeight: 2, " +
			"usageThresholds: {cpu: 70}, estimatedScalingFactors: {cpu: 80}, estimatedSecondsAfterPodScheduled: 30, aggregated: {usageThresholds: {cpu: 60}, usageAggregationType: p95, usageAggregatedDuration: 5m}", ""},
		{plugins.LoadAwareScheduling, watcher + ", nodeMetricExpirationSeconds: 0", "nodeMetricExpirationSeconds: 0 is not greater than 0"},
		{plugins.LoadAwareScheduling, watcher + ", prodUsageThresholds: {cpu: 50}", "arguments: prodUsageThresholds: unknown field"},
		{plugins.LoadAwareScheduling, watcher + ", usageThresholds: {cpu: 101}", `thresholds: 101 of "cpu" is not between 0 and 100`},
	} {
		p, err := outOfTree(t, c.name, c.args)
		switch {
		case c.problem == "" && err != nil:
			t.Errorf("%s {%s}: %v", c.name, c.args, err)
		case c.problem == "" && p.Name() != c.name:
			t.Errorf("%s is called %s", c.name, p.Name())
		case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
			t.Errorf("%s {%s}: %v", c.name, c.args, err)
		}
	}
}

// The READMEs have a row for each of them, and say how many there are. DevicePacking is Berth's own.
func TestREADMEsListThePlugins(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	readme := read("../README.md")
	_, rest, _ := strings.Cut(readme, "| plugin | what differs |\n|---|---|\n")
	table, _, _ := strings.Cut(rest, "\n\n")
	var listed []string
	koordinators := 0
	for row := range strings.SplitSeq(table, "\n") {
		cell, _, _ := strings.Cut(row, " | ")
		names := strings.Split(cell, "`")
		for i := 1; i < len(names); i += 2 {
			listed = append(listed, names[i])
			if strings.Contains(cell, "(Koordinator)") {
				koordinators++
			}
		}
	}
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(config.OutOfTree())), func(name string) bool { return name == plugins.DevicePacking })
	slices.Sort(listed)
	if !slices.Equal(listed, all) {
		t.Errorf("the README lists %q, and there are %q", listed, all)
	}
	words := map[int]string{3: "three", 15: "fifteen", 18: "eighteen"} // with the numbers that there are now
	for text, want := range map[string]string{
		strings.ToLower(readme):    words[len(all)] + " plugins that people run beside kube-scheduler's",
		readme:                     words[len(all)-koordinators] + " of\nkubernetes-sigs/scheduler-plugins and " + words[koordinators] + " of Koordinator",
		read("../../../README.md"): "[" + words[len(all)] + "](plugins)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("a README does not say %q", want)
		}
	}
}

// A pod without GPUs goes to the smaller node as the weights of the other plugins have it, unless
// the profile packs GPUs: then the CPU beside the GPU is left for a pod that needs both.
func TestDevicePackingOfAProfile(t *testing.T) {
	const packed = head + "profiles: [{plugins: {multiPoint: {enabled: [{name: DevicePacking, weight: 20}]}}, pluginConfig: [" +
		"{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}, {name: DevicePacking, args: {resource: example.com/gpu}}]}]"
	const without = head + "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]}]"
	registry := config.DefaultRegistry()
	if err := registry.Merge(config.OutOfTree()); err != nil {
		t.Fatal(err)
	}
	node := func(name string, cores float64, gpus int64) engine.Change {
		return engine.PutNode(&model.Node{Name: name, Allocatable: model.Resources{CPU: model.Cores(cores), Memory: model.GiB(64)}.With("example.com/gpu", gpus)})
	}
	for text, want := range map[string]string{without: "gpu", packed: "cpu"} {
		profiles, err := load(t, text).Profiles(devices, registry)
		if err != nil {
			t.Fatal(err)
		}
		eng, err := engine.NewRaw(engine.Config{Profiles: profiles, Orchestrator: inproc.New(inproc.Options{})})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(0, 0)
		pod := &model.Workload{ID: "w", Profile: profiles[0].Name, Requests: model.Resources{CPU: model.Cores(8), Memory: model.GiB(1)}}
		if err := eng.Apply(now, node("gpu", 10, 1), node("cpu", 40, 0), engine.Submit(pod)); err != nil {
			t.Fatal(err)
		}
		plan, err := eng.Branch().Schedule(now, "w")
		if err != nil || plan.Binding.Node != want {
			t.Errorf("went to %q, want %q: %v", plan.Binding.Node, want, err)
		}
	}
}

// The profile with DevicePacking in the README is one that works, in a file of its own.
func TestDevicePackingOfREADME(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```yaml\nprofiles:\n")
	profile, _, _ := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README shows no profile")
	}
	registry := config.DefaultRegistry()
	if err := registry.Merge(config.OutOfTree()); err != nil {
		t.Fatal(err)
	}
	profiles, err := load(t, head+"profiles:\n"+profile).Profiles(devices, registry)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.NewRaw(engine.Config{Profiles: profiles, Orchestrator: inproc.New(inproc.Options{})}); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(profiles[0].Plugins, func(e extpoints.Entry) bool { return e.Name == plugins.DevicePacking }) {
		t.Errorf("profile %q has no DevicePacking", profiles[0].Name)
	}
}
