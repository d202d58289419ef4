package nodemetadata

import (
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints/extpointstest"
)

// The known answers of the upstream plugin are those of node_metadata_test.go, all rows (commit
// 903da7df). Where a row there has an annotation, a label has the value here.

// TestCalculateScore there: what a node scores before scores are normalised.
func TestKnownRawScores(t *testing.T) {
	timestamp := Args{Label: "x", Type: Timestamp, Layout: time.RFC3339}
	for _, c := range []struct {
		name, value string
		args        Args
		want        int64
		leftOut     string
	}{
		{"the highest number", "100", Args{Label: "x", Strategy: Highest}, 100, ""},
		{"the lowest number", "50", Args{Label: "x", Strategy: Lowest}, -50, ""},
		{"the newest", "", timestamp, 0, "a time scores as it stands and not by its age; how times compare is in the rows of TestKnownNormalizedScores"},
		{"no such label", missing, Args{Label: "x"}, unknown, ""},
		{"no number", "not-a-number", Args{Label: "x"}, unknown, ""},
		{"no time", "not-a-timestamp", timestamp, unknown, ""},
	} {
		if c.leftOut != "" {
			continue
		}
		if raw, _ := scored(t, c.args, c.value); raw[0] != c.want {
			t.Errorf("%s: %d", c.name, raw[0])
		}
	}
}

// TestValidateArgs there.
func TestKnownArgs(t *testing.T) {
	for _, c := range []struct {
		name    string
		args    Args
		wrong   bool
		leftOut string
	}{
		{"a number", Args{Label: "x", Type: Number, Strategy: Highest}, false, ""},
		{"a time", Args{Label: "x", Type: Timestamp, Strategy: Newest, Layout: time.RFC3339}, false, ""},
		{"no label", Args{Type: Number, Strategy: Highest}, true, ""},
		{"neither a label nor an annotation", Args{}, true, "the plugin has no such argument; package config of the adapter for Kubernetes refuses it"},
		{"no such type", Args{Label: "x", Type: "Invalid", Strategy: Highest}, true, ""},
		{"a time without a layout", Args{Label: "x", Type: Timestamp, Strategy: Newest}, false, ""},
		{"the newest number", Args{Label: "x", Type: Number, Strategy: Newest}, true, ""},
	} {
		if c.leftOut != "" {
			continue
		}
		if _, err := New(c.args, extpointstest.NewHandle()); (err != nil) != c.wrong {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNormalizeScore there. It gives the order of the nodes, and the highest and the lowest score; the
// scores in between are by the formula.
func TestKnownNormalizedScores(t *testing.T) {
	ago := func(hours int) string {
		return extpointstest.Now.Add(-time.Duration(hours) * time.Hour).Format(time.RFC3339)
	}
	for _, c := range []struct {
		name   string
		args   Args
		values []string
		want   []int64
	}{
		{"the highest of three", Args{Strategy: Highest}, []string{"10", "100", "50"}, []int64{1, 100, 45}},
		{"the lowest of three", Args{Strategy: Lowest}, []string{"100", "10", "50"}, []int64{1, 100, 56}},
		{"the newest of three", Args{Type: Timestamp, Strategy: Newest}, []string{ago(72), ago(1), ago(24)}, []int64{1, 100, 67}},
		{"the oldest of three", Args{Type: Timestamp, Strategy: Oldest}, []string{ago(1), ago(72), ago(24)}, []int64{1, 100, 33}},
		{"one of three has a value", Args{Strategy: Highest}, []string{missing, "100", missing}, []int64{0, 1, 0}},
		{"none has a value", Args{Strategy: Highest}, []string{missing, missing}, []int64{0, 0}},
		{"all have the same value", Args{Strategy: Highest}, []string{"50", "50", "50"}, []int64{1, 1, 1}},
		{"all but one have a value", Args{Strategy: Lowest}, []string{"200", "100", "150", missing}, []int64{1, 100, 50, 0}},
	} {
		c.args.Label = "x"
		if _, got := scored(t, c.args, c.values...); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
