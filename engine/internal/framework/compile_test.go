package framework

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The test plugins, by what they serve.
type (
	named string
	// base can do what every profile needs.
	base struct{ named }
	// filters filters, and says for which events.
	filters struct{ named }
	// scores scores.
	scores struct{ named }
	// both filters and scores, and does not say for which events.
	both struct{ named }
)

func (n named) Name() string { return string(n) }

func (base) Less(a, b *extpoints.Queued) bool { return false }
func (base) Bind(context.Context, *extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return nil
}

func (filters) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (f filters) EventsToRegister() ([]extpoints.EventHint, error) {
	switch f.named {
	case "BadEvents":
		return nil, errors.New("no idea")
	case "PanicEvents":
		panic("boom")
	}
	return []extpoints.EventHint{{Event: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}}}, nil
}

func (scores) Score(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return 0, nil
}

func (both) Filter(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status {
	return nil
}

func (both) Score(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) (int64, *extpoints.Status) {
	return 0, nil
}

func (both) Permit(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) (*extpoints.Status, time.Duration) {
	return nil, 0
}

var env = Env{Logger: hclog.NewNullLogger()}

// registry has base Base and Base2, filters F1 to F3, scores S1 to S3, and both
// A to D.
func registry() extpoints.Registry {
	r := extpoints.Registry{}
	add := func(p extpoints.Plugin) {
		r[p.Name()] = func(args any, _ extpoints.Handle) (extpoints.Plugin, error) {
			return p, extpoints.NoArgs(p.Name(), args)
		}
	}
	for _, n := range []named{"Base", "Base2"} {
		add(base{n})
	}
	for _, n := range []named{"F1", "F2", "F3", "BadEvents", "PanicEvents"} {
		add(filters{n})
	}
	for _, n := range []named{"S1", "S2", "S3"} {
		add(scores{n})
	}
	for _, n := range []named{"A", "B", "C", "D"} {
		add(both{n})
	}
	r["Panics"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { panic("boom") }
	r["Nothing"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return nil, nil }
	r["Other"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return both{"A"}, nil }
	return r
}

// refs reads "A B*3".
func refs(list string) []extpoints.PluginRef {
	var refs []extpoints.PluginRef
	for _, word := range strings.Fields(list) {
		name, weight, _ := strings.Cut(word, "*")
		ref := extpoints.PluginRef{Name: name}
		if weight != "" {
			for _, digit := range weight {
				ref.Weight = ref.Weight*10 + digit - '0'
			}
		}
		refs = append(refs, ref)
	}
	return refs
}

// TestMultiPoint pins the order in which a point's own set and MultiPoint are
// put together: overrides in the order of the own set, then MultiPoint's, then
// the rest of the own set (kube-scheduler framework/runtime/framework.go
// expandMultiPointPlugins, 1.37.1).
func TestMultiPoint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name          string
		multi         string
		filter, score string
		without       string // disabled at score
		wantFilters   string
		wantScores    string
		wantWeights   []int64
	}{
		{name: "own sets only", filter: "B A", score: "A*3 B",
			wantFilters: "B A", wantScores: "A B", wantWeights: []int64{3, 1}},
		{name: "MultiPoint only, in its order, where the point is served", multi: "C*2 F1 S1 A",
			wantFilters: "C F1 A", wantScores: "C S1 A", wantWeights: []int64{2, 1, 1}},
		{name: "overrides come first, in the order of the own set", multi: "A*2 B*3 C*4", score: "C*7 B",
			wantFilters: "A B C", wantScores: "C B A", wantWeights: []int64{7, 1, 2}},
		{name: "the rest of the own set comes last", multi: "A B", score: "D*5 B*6 S1",
			wantFilters: "A B", wantScores: "B A D S1", wantWeights: []int64{6, 1, 5, 1}},
		{name: "disabled for one point only", multi: "A B C", without: "B",
			wantFilters: "A B C", wantScores: "A C", wantWeights: []int64{1, 1}},
		{name: "* shuts out MultiPoint, not the own set", multi: "A*2 B", score: "C B*4", without: "*",
			wantFilters: "A B", wantScores: "C B", wantWeights: []int64{1, 4}},
		{name: "disabled in MultiPoint, enabled in the own set: no override, so last", multi: "A B", score: "A*9 C", without: "A",
			wantFilters: "A B", wantScores: "B A C", wantWeights: []int64{1, 9, 1}},
		{name: "a weight of MultiPoint counts where the own set has none to say", multi: "A*2", score: "B",
			wantFilters: "A", wantScores: "A B", wantWeights: []int64{2, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := extpoints.Profile{Name: "p"}
			p.Plugins.MultiPoint.Enabled = append(refs("Base"), refs(test.multi)...)
			p.Plugins.Filter.Enabled = refs(test.filter)
			p.Plugins.Score.Enabled = refs(test.score)
			p.Plugins.Score.Disabled = strings.Fields(test.without)
			f, err := New(p, registry(), env)
			require.NoError(t, err)
			require.Equal(t, test.wantFilters, strings.Join(f.FilterNames(), " "))
			require.Equal(t, test.wantScores, strings.Join(f.ScoreNames(), " "))
			require.Equal(t, test.wantWeights, f.ScoreWeights())
		})
	}
}

// TestEachPluginIsMadeOnce also where several sets name it.
func TestEachPluginIsMadeOnce(t *testing.T) {
	t.Parallel()
	made := 0
	r := registry()
	r["A"] = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
		made++
		require.Equal(t, 7, args)
		require.Equal(t, "p", h.Profile())
		return both{"A"}, nil
	}
	p := extpoints.Profile{Name: "p", Args: map[string]any{"A": 7}}
	p.Plugins.MultiPoint.Enabled = refs("Base A")
	p.Plugins.Filter.Enabled = refs("A")
	p.Plugins.Score.Enabled = refs("A")
	_, err := New(p, r, env)
	require.NoError(t, err)
	require.Equal(t, 1, made)
}

// TestHints: a plugin that says for which events it wants to be asked gets
// those, one that rejects and does not say gets all, one that only scores none.
func TestHints(t *testing.T) {
	t.Parallel()
	p := extpoints.Profile{Name: "p"}
	p.Plugins.MultiPoint.Enabled = refs("Base F1 A S1")
	f, err := New(p, registry(), env)
	require.NoError(t, err)
	require.Len(t, f.Hints(), 2)
	require.Equal(t, "F1", f.Hints()[0].Plugin)
	require.Equal(t, extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}, f.Hints()[0].Events[0].Event)
	require.Equal(t, "A", f.Hints()[1].Plugin)
	require.True(t, f.Hints()[1].Events[0].Event.IsWildcard())
}

// TestProblems wants every problem of a profile in one error, in the order of
// the profile.
func TestProblems(t *testing.T) {
	t.Parallel()
	percentage := int32(101)
	for _, test := range []struct {
		name   string
		change func(*extpoints.Profile)
		want   []string
	}{
		{"what can be seen before the points are filled", func(p *extpoints.Profile) {
			p.PercentageOfNodesToScore = &percentage
			p.Plugins.MultiPoint.Enabled = refs("Base A A Unknown Panics Nothing Other")
			p.Plugins.Filter.Enabled = refs("B B Unknown2 Unknown2")
			p.Plugins.Score.Enabled = []extpoints.PluginRef{{Name: "S1", Weight: -1}}
			p.Args = map[string]any{"S3": 1, "S2": 2, "B": "what for"}
		}, []string{
			`profile "p": percentageOfNodesToScore: 101 is not in [0, 100]`,
			`profile "p": multiPoint: plugin "A" is enabled twice`,
			`profile "p": multiPoint: plugin "Unknown" does not exist`,
			`profile "p": initializing plugin "Panics": the factory panicked: boom`,
			`profile "p": initializing plugin "Nothing": the factory returned no plugin`,
			`profile "p": initializing plugin "Other": the plugin calls itself "A"`,
			`profile "p": initializing plugin "B": plugin B takes no arguments, got string`,
			`profile "p": filter: plugin "B" is enabled twice`,
			`profile "p": filter: plugin "Unknown2" does not exist`,
			`profile "p": filter: plugin "Unknown2" is enabled twice`,
			`profile "p": score: plugin "S1": weight -1 is negative`,
			`profile "p": args: plugin "S2" is not enabled`,
			`profile "p": args: plugin "S3" is not enabled`,
		}},
		{"what the points find", func(p *extpoints.Profile) {
			p.Plugins.MultiPoint.Enabled = refs("BadEvents PanicEvents")
			p.Plugins.QueueSort.Enabled = refs("Base Base2")
			p.Plugins.Reserve.Enabled = refs("F1")
			p.Plugins.Score.Enabled = refs("F2")
		}, []string{
			`profile "p": reserve: plugin "F1" does not serve this point`,
			`profile "p": score: plugin "F2" does not serve this point`,
			`profile "p": queueSort: exactly one plugin is needed, got 2: [Base Base2]`,
			`profile "p": bind: at least one plugin is needed`,
			`profile "p": plugin "BadEvents": events to register: no idea`,
			`profile "p": plugin "PanicEvents": events to register: panic: boom`,
		}},
		{"nothing at all", func(*extpoints.Profile) {}, []string{
			`profile "p": queueSort: exactly one plugin is needed, got 0: []`,
			`profile "p": bind: at least one plugin is needed`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := extpoints.Profile{Name: "p"}
			test.change(&p)
			_, err := New(p, registry(), env)
			require.Error(t, err)
			require.Equal(t, test.want, strings.Split(err.Error(), "\n"))
		})
	}
}

// TestTotalWeight: weights are 32 bits wide, so it would take a profile with
// forty million Score plugins to overflow; the check is tried on its own.
func TestTotalWeight(t *testing.T) {
	t.Parallel()
	const most = math.MaxInt64 / extpoints.MaxScore
	for _, test := range []struct {
		weights []int64
		ok      bool
	}{
		{nil, true},
		{[]int64{most}, true},
		{[]int64{most - 1, 1}, true},
		{[]int64{most, 1}, false},
		{[]int64{most + 1}, false},
		{[]int64{math.MaxInt64, math.MaxInt64}, false},
	} {
		c := &compiler{profile: extpoints.Profile{Name: "p"}, f: &Framework{}}
		for _, w := range test.weights {
			c.f.scores = append(c.f.scores, scorer{weight: w})
		}
		c.checkTotalWeight()
		require.Equal(t, test.ok, len(c.problems) == 0, "%v", test.weights)
	}
	p := extpoints.Profile{Name: "p"}
	p.Plugins.MultiPoint.Enabled = append(refs("Base"), extpoints.PluginRef{Name: "S1", Weight: math.MaxInt32}, extpoints.PluginRef{Name: "S2", Weight: math.MaxInt32})
	_, err := New(p, registry(), env)
	require.NoError(t, err)
}
