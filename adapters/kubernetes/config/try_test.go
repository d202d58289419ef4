package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
	"github.com/berth-project/berth/extpoints"
)

// tried are the problems that Try finds, each once.
func tried(t *testing.T, c *config.Config, registry, own config.Registry) (list []string) {
	t.Helper()
	err := c.Try(devices, registry, own)
	var all utilerrors.Aggregate
	if errors.As(err, &all) {
		for _, err := range all.Errors() {
			list = append(list, err.Error())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// What Validate and Try have nothing against an engine can be made of, and nothing else.
func TestTrySaysWhatTheEngineWould(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(text, gates(t, text))
		if err != nil {
			continue
		}
		base := filepath.Base(name)
		wrong := strings.HasPrefix(base, "wrong-") || strings.HasPrefix(base, "refused-")
		problems := tried(t, c, configtest.Registry(), nil)
		if (c.Validate() != nil || len(problems) > 0) != wrong && base != "wrong-tls.yaml" { // a file that is missing
			t.Errorf("%s: %v, %q", base, c.Validate(), problems)
		}
	}
}

// All that is wrong with plugins is said at once, also where Validate finds something, and nothing
// is said twice.
func TestTry(t *testing.T) {
	t.Parallel()
	registry := config.DefaultRegistry()
	if err := registry.Merge(config.OutOfTree()); err != nil {
		t.Fatal(err)
	}
	c := load(t, head+`
parallelism: 0
profiles:
- schedulerName: a
  plugins:
    multiPoint: {enabled: [{name: DevicePacking}, {name: Nope}, {name: EBSLimits}]}
    score: {enabled: [{name: NodeName}, {name: InterPodAffinity}]}
    filter: {enabled: [{name: PodState}]}
  pluginConfig:
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}
  - {name: DevicePacking, args: {unitsPerDevice: 0, modelLabels: x}}
  - {name: NodeResourcesFit, args: {scoringStrategy: {type: Some}}}
  - {name: NodeAffinity, args: {addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: k, operator: Near}]}}]}}}
- schedulerName: b
  plugins:
    queueSort: {enabled: [{name: QOSSort}], disabled: [{name: PrioritySort}]}
    multiPoint: {disabled: [{name: DefaultBinder}]}
- schedulerName: c
  plugins: {multiPoint: {enabled: [{name: QOSSort}]}}
extenders:
- {urlPrefix: 'ftp://x', prioritizeVerb: p, weight: 0, httpTimeout: -1s}
`)
	want := []string{
		`extenders[0]: extender "ftp://x": HTTPTimeout: -1s is negative`,
		`extenders[0]: extender "ftp://x": URLPrefix: "ftp://x" begins with neither http:// nor https://`,
		`profiles[0].pluginConfig[1].args: DevicePacking: arguments: modelLabels: unknown field, not one of apiVersion, kind, modelLabel, relearn, resource, unitsPerDevice`,
		`profiles[0].pluginConfig[1].args: DevicePacking: arguments: resource: must be set, to the extended resource of the devices`,
		`profiles[0].pluginConfig[1].args: DevicePacking: arguments: unitsPerDevice: 0 is less than 1`,
		`profiles[0].pluginConfig[2].args.scoringStrategy.type: Unsupported value: "Some": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
		`profiles[0].plugins.filter.enabled[0].name: Invalid value: "PodState": the plugin does not serve this point`,
		`profiles[0].plugins.multiPoint.enabled[21].name: Invalid value: "Nope": the plugin does not exist`,
		`profiles[0].plugins.score.enabled[0].name: Invalid value: "NodeName": the plugin does not serve this point`,
		`profiles[1].plugins.bind: Required value: at least one plugin must bind pods`,
		`profiles[2].plugins.queueSort: Invalid value: ["PrioritySort","QOSSort"]: exactly one plugin must sort the queue`,
	}
	got := tried(t, c, registry, nil)
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("it says\n%s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("nothing says\n%s", line)
		}
	}
}

// An operator's own plugins are not made, and nothing is said that may depend on them.
func TestTryLeavesOwnPluginsAlone(t *testing.T) {
	t.Parallel()
	own := config.Registry{"Mine": func(any, extpoints.Handle) (extpoints.Plugin, error) {
		t.Error("it was made")
		return nil, errors.New("it is not connected")
	}}
	registry := config.DefaultRegistry()
	if err := registry.Merge(own); err != nil {
		t.Fatal(err)
	}
	c := load(t, head+"profiles: [{plugins: {queueSort: {disabled: [{name: PrioritySort}]}, multiPoint: {enabled: [{name: Mine}]}, score: {enabled: [{name: Mine}]}}}]")
	if got := tried(t, c, registry, own); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// Profiles that sort by different plugins are refused where MultiPoint brings them, too.
func TestTryOneQueue(t *testing.T) {
	t.Parallel()
	const other = "plugins: {multiPoint: {enabled: [{name: Sorter}], disabled: [{name: PrioritySort}]}}"
	c := load(t, head+"profiles: [{schedulerName: a}, {schedulerName: b, "+other+"}]")
	want := []string{`profiles[1].plugins.queueSort: Invalid value: "Sorter": must be PrioritySort, as in the first profile: there is one queue`}
	if got := tried(t, c, configtest.Registry(), nil); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A plan that does not go with queues does not go with the quotas of objects.
func TestTryQuotaObjects(t *testing.T) {
	t.Parallel()
	c := load(t, head+"profiles: [{plugins: {multiPoint: {enabled: [{name: CapacityScheduling}]}}}]"+second+"backfill: {mode: EASY, shortestFirst: true}")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	want := []string{"QueueingConfiguration: backfill.shortestFirst: Invalid value: true: does not go with queues, which take turns"}
	if got := tried(t, c, configtest.Registry(), nil); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
