package nodemetadata

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	for _, args := range []Args{{Label: "disk"}, {Label: "disk", Type: Timestamp}} {
		extpointstest.TestPlugin(t, extpointstest.Suite{
			Name: Name, Factory: extpoints.FactoryOf(New), Args: args,
			Random: func(r *rand.Rand) *extpointstest.Situation {
				s := extpointstest.RandomSituation(r)
				for _, node := range s.View.NodeInfos {
					value := fmt.Sprint(r.IntN(50))
					if args.Type == Timestamp {
						value = extpointstest.Now.Add(time.Duration(r.IntN(50)) * time.Hour).Format(time.RFC3339)
					}
					node.Node.Labels = map[string]string{"disk": value}
				}
				return s
			},
		})
	}
}

// missing is a node without the label.
const missing = "-"

// Answers by the upstream rules that its own tests do not have, and what is no number and no time.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		args   Args
		values []string // of the label, by node
		want   []int64
	}{
		{Args{}, []string{"10", "20", "30"}, []int64{1, 50, 100}},
		{Args{Strategy: Lowest}, []string{"10", "20", "30"}, []int64{100, 50, 1}},
		{Args{}, []string{"5", "5", missing}, []int64{1, 1, 0}},
		{Args{}, []string{"1", "2", missing, "100"}, []int64{1, 2, 0, 100}},
		{Args{}, []string{"1.9", "1", "2"}, []int64{1, 1, 100}},
		{Args{}, []string{missing, missing}, []int64{0, 0}},
		{Args{}, []string{"NaN", "Inf", "-Inf", "1e300", "many", "", "3"}, []int64{0, 0, 0, 0, 0, 0, 1}},
		{Args{}, []string{"-9e18", "9e18", "0"}, []int64{1, 100, 50}},
		{Args{Type: Timestamp}, []string{"2024-01-01T00:00:00Z", "2024-01-03T00:00:00Z", "2024-01-02T00:00:00Z", "yesterday"}, []int64{1, 100, 50, 0}},
		{Args{Type: Timestamp, Strategy: Oldest}, []string{"2024-01-01T00:00:00Z", "2024-01-03T00:00:00Z"}, []int64{100, 1}},
		{Args{Type: Timestamp, Layout: "2006-01-02"}, []string{"2024-01-01", "2025-01-01", "2024-01-01T00:00:00Z"}, []int64{1, 100, 0}},
	} {
		c.args.Label = "x"
		if _, got := scored(t, c.args, c.values...); !slices.Equal(got, c.want) {
			t.Errorf("%+v of %v: got %v, want %v", c.args, c.values, got, c.want)
		}
	}
}

// scored are the scores of nodes whose label x has the values: raw, and normalised.
func scored(t *testing.T, args Args, values ...string) (raw, normal []int64) {
	t.Helper()
	p, err := New(args, extpointstest.NewHandle())
	if err != nil {
		t.Fatal(err)
	}
	var list []*extpoints.NodeInfo
	for i, v := range values {
		n := &model.Node{Name: fmt.Sprint("n", i)}
		if v != missing {
			n.Labels = map[string]string{"x": v}
		}
		list = append(list, extpointstest.NodeWith(n))
	}
	return extpointstest.NewSituation(&model.Workload{ID: "w"}, list...).Scores(t, p)
}

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		args Args
		want []string
	}{
		{Args{Strategy: Newest, Layout: "2006"}, []string{"Label: must not be empty", `Strategy: "Newest" is neither "Highest" nor "Lowest"`, "Layout: is only for"}},
		{Args{Label: "x", Type: Timestamp, Strategy: Highest}, []string{`Strategy: "Highest" is neither "Newest" nor "Oldest"`}},
		{Args{Label: "x", Type: "Word"}, []string{`Type: "Word" is neither`}},
	} {
		_, err := New(c.args, extpointstest.NewHandle())
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in %v", want, err)
			}
		}
	}
}
