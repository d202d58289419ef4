package config_test

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/config"
)

// Only what enabled plugins name is listed, and each once. Trimaran's plugins that name nothing have a metrics
// server, as upstream.
func TestLoadSources(t *testing.T) {
	const text = head + `profiles:
- schedulerName: a
  plugins: {multiPoint: {enabled: [{name: TargetLoadPacking}, {name: Peaks}, {name: NodeMetadata}, {name: LoadVariationRiskBalancing}]}}
  pluginConfig:
  - {name: TargetLoadPacking, args: {watcherAddress: "http://b", metricProvider: {type: SignalFx}}}
  - {name: Peaks, args: {watcherAddress: "http://a"}}
  - {name: LoadAwareScheduling, args: {watcherAddress: "http://off"}}
  - {name: NodeMetadata, args: {watcherAddress: "http://other"}}
  - {name: LoadVariationRiskBalancing, args: {metricProvider: {type: Prometheus, address: "https://p", token: secret}}}
- schedulerName: b
  plugins: {score: {enabled: [{name: TargetLoadPacking}]}}
  pluginConfig:
  - {name: TargetLoadPacking, args: {watcherAddress: "http://b"}}
- schedulerName: c
  plugins: {score: {enabled: [{name: TargetLoadPacking}, {name: LoadVariationRiskBalancing}, {name: LowRiskOverCommitment}, {name: Peaks}, {name: LoadAwareScheduling}]}}
  pluginConfig:
  - {name: TargetLoadPacking, args: {metricProvider: {type: Prometheus, address: "https://p", insecureSkipVerify: false}}}
  - {name: LowRiskOverCommitment, args: {metricProvider: {type: SignalFx, address: "https://s"}}}
  - {name: LoadVariationRiskBalancing}
`
	want := []config.LoadSource{
		{Address: "http://a"}, {Address: "http://b"}, {Provider: "KubernetesMetricsServer"},
		{Provider: "Prometheus", Address: "https://p"}, {Provider: "Prometheus", Address: "https://p", Token: "secret", Unverified: true},
	}
	if got := load(t, text).LoadSources(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := load(t, head).LoadSources(); got != nil {
		t.Errorf("by default %+v", got)
	}
}
