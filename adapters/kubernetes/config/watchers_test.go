package config_test

import (
	"slices"
	"testing"
)

// Only what enabled plugins name is listed, and each once.
func TestLoadWatchers(t *testing.T) {
	const text = head + `profiles:
- schedulerName: a
  plugins: {multiPoint: {enabled: [{name: TargetLoadPacking}, {name: Peaks}, {name: NodeMetadata}]}}
  pluginConfig:
  - {name: TargetLoadPacking, args: {watcherAddress: "http://b"}}
  - {name: Peaks, args: {watcherAddress: "http://a"}}
  - {name: LoadAwareScheduling, args: {watcherAddress: "http://off"}}
  - {name: NodeMetadata, args: {watcherAddress: "http://other"}}
- schedulerName: b
  plugins: {score: {enabled: [{name: TargetLoadPacking}]}}
  pluginConfig:
  - {name: TargetLoadPacking, args: {watcherAddress: "http://b"}}
`
	if got := load(t, text).LoadWatchers(); !slices.Equal(got, []string{"http://a", "http://b"}) {
		t.Errorf("%v", got)
	}
	if got := load(t, head).LoadWatchers(); got != nil {
		t.Errorf("by default %v", got)
	}
}
