package framework

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// makers has base Base and Base2, filters F1 to F3, scores S1 to S3, and both A to
// D.
func makers() map[string]extpoints.Factory {
	list := map[string]extpoints.Factory{}
	add := func(p extpoints.Plugin) {
		list[p.Name()] = extpoints.FactoryOf(func(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) { return p, nil })
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
	list["Panics"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { panic("boom") }
	list["Nothing"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return nil, nil }
	list["Other"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return both{"A"}, nil }
	list["Nameless"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return (*both)(nil), nil }
	list["Idle"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return named("Idle"), nil }
	list["Wrong"] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return wrong{named: "Wrong"}, nil }
	return list
}

// wrong has a Filter that is none, and half of what Reserve needs.
type wrong struct {
	named
	scores
}

func (wrong) Name() string                    { return "Wrong" }
func (wrong) Filter(int) bool                 { return false }
func (wrong) Unreserve(*extpoints.CycleState) {}

// profileOf reads "A B*3 C:Filter+Score D!Score": plugins with weights, at some
// points only, and not at some points. Where a name is there several times, the entry
// without points makes the plugin, or else the first.
func profileOf(list string) extpoints.Profile {
	p := extpoints.Profile{Name: "p"}
	points := func(text string) (list []extpoints.Point) {
		for point := range strings.SplitSeq(text, "+") {
			list = append(list, extpoints.Point(point))
		}
		return list
	}
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		var e extpoints.Entry
		word, at, only := strings.Cut(word, ":")
		if only {
			e.Points = points(at)
		}
		word, at, except := strings.Cut(word, "!")
		if except {
			e.Except = points(at)
		}
		name, weight, _ := strings.Cut(word, "*")
		n, _ := strconv.Atoi(weight)
		e.Name, e.Weight = name, int32(n)
		if !only || !seen[name] && !slices.Contains(strings.Fields(list), name) {
			e.New = makers()[name]
		}
		seen[name] = true
		p.Plugins = append(p.Plugins, e)
	}
	return p
}

// TestOrder pins which plugins are asked at a point, in which order and with which
// weight.
func TestOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, profile           string
		wantFilters, wantScores string
		wantWeights             []int64
	}{
		{"the order of the profile, where the point is served", "C*2 F1 S1 A",
			"C F1 A", "C S1 A", []int64{2, 1, 1}},
		{"some points only", "A:Filter B*7:Score C:Filter+Score",
			"A C", "B C", []int64{7, 1}},
		{"some points not", "A!Score B!Filter C!Filter+Score D",
			"A D", "B D", []int64{1, 1}},
		{"another place at one point", "C:Score A B C",
			"A B C", "C A B", []int64{1, 1, 1}},
		{"another weight at one point", "A*2 B*3 A*5:Score",
			"A B", "B A", []int64{3, 5}},
		{"a weight of its own is not inherited", "A*2 A:Score",
			"A", "A", []int64{1}},
		{"every point has an order of its own", "B:Filter A:Filter A:Score B:Score C:Filter C:Score",
			"B A C", "A B C", []int64{1, 1, 1}},
		{"not where it is not asked, but where another entry says so", "A!Filter+Score A:Score B",
			"B", "A B", []int64{1, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, err := New(profileOf("Base "+test.profile), env)
			require.NoError(t, err)
			require.Equal(t, test.wantFilters, strings.Join(f.FilterNames(), " "))
			require.Equal(t, test.wantScores, strings.Join(f.ScoreNames(), " "))
			require.Equal(t, test.wantWeights, f.ScoreWeights())
		})
	}
}

// TestEveryPointIsCompiled: a point of the table that New forgets would never be
// asked.
func TestEveryPointIsCompiled(t *testing.T) {
	t.Parallel()
	c := &compiler{profile: profileOf("Base"), f: &Framework{env: env}, made: map[string]extpoints.Plugin{}}
	c.makePlugins()
	c.fillPoints()
	require.Empty(t, c.problems)
	require.ElementsMatch(t, extpoints.Points(), c.filled)
}

// TestEachPluginIsMadeOnce also where several entries name it, and told of when the
// engine says so.
func TestEachPluginIsMadeOnce(t *testing.T) {
	t.Parallel()
	made := 0
	var told extpoints.Plugin
	p := profileOf("Base A A:Filter A:Score")
	p.Plugins[1].Args = 7
	p.Plugins[1].New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
		made++
		require.Equal(t, 7, args)
		require.Equal(t, "p", h.Profile())
		return both{"A"}, nil
	}
	p.Plugins[1].Made = func(plugin extpoints.Plugin) { told = plugin }
	f, err := New(p, env)
	require.NoError(t, err)
	require.Equal(t, 1, made)
	require.Nil(t, told)
	f.Made()
	require.Equal(t, both{"A"}, told)
}

// TestNameOfThePlugin: an entry without a name has its plugin's.
func TestNameOfThePlugin(t *testing.T) {
	t.Parallel()
	p := profileOf("Base A A:Filter B")
	p.Plugins[3].Name = ""
	f, err := New(p, env)
	require.NoError(t, err)
	require.Equal(t, []string{"A", "B"}, f.FilterNames())
	require.Empty(t, p.Plugins[3].Name, "the profile is the caller's")
	p.Plugins[1].Name = ""
	_, err = New(p, env)
	require.EqualError(t, err, `profile "p": plugin "A": has no function that makes it`)
}

// TestArgumentsWithSeveralMistakes: each problem that a factory joins names the profile and the plugin.
func TestArgumentsWithSeveralMistakes(t *testing.T) {
	t.Parallel()
	empty, negative := errors.New("args: Label is empty"), errors.New("args: PerRack is -1")
	for want, err := range map[string]error{
		"profile \"p\": plugin \"A\": args: Label is empty\nprofile \"p\": plugin \"A\": args: PerRack is -1": errors.Join(empty, negative),
		"profile \"p\": plugin \"A\": wrong: args: Label is empty":                                            fmt.Errorf("wrong: %w", empty),
		"profile \"p\": plugin \"A\": args: Label is empty, args: PerRack is -1":                              fmt.Errorf("%w, %w", empty, negative),
	} {
		p := profileOf("Base A")
		p.Plugins[1].New = func(any, extpoints.Handle) (extpoints.Plugin, error) { return nil, err }
		_, got := New(p, env)
		require.EqualError(t, got, want)
		require.ErrorIs(t, got, empty)
	}
}

// several is an error of one's own that may be made of others.
type several []error

func (several) Error() string { return "several" }

func (s several) Unwrap() []error { return s }

// badly is one that cannot say of which.
type badly struct{ several }

func (badly) Unwrap() []error { panic("nobody knows") }

// TestErrorsOfFactoriesOfTheirOwn: whatever an error says of what it is made of, New goes on.
func TestErrorsOfFactoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		`profile "p": plugin "A": several`:                                                    several{},
		`profile "p": plugin "A": the error, a framework.badly, cannot be read: nobody knows`: badly{},
		`profile "p": plugin "B": several`:                                                    several{nil},
	} {
		p := profileOf("Base A B")
		for i := range p.Plugins {
			if strings.Contains(want, strconv.Quote(p.Plugins[i].Name)) {
				p.Plugins[i].New = func(any, extpoints.Handle) (extpoints.Plugin, error) { return nil, err }
			}
		}
		_, got := New(p, env)
		require.EqualError(t, got, want)
	}
}

// TestHints: a plugin that says for which events it wants to be asked gets
// those, one that rejects and does not say gets all, one that only scores none.
func TestHints(t *testing.T) {
	t.Parallel()
	f, err := New(profileOf("Base F1 A S1"), env)
	require.NoError(t, err)
	require.Len(t, f.Hints(), 2)
	require.Equal(t, "F1", f.Hints()[0].Plugin)
	require.Equal(t, extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}, f.Hints()[0].Events[0].Event)
	require.Equal(t, "A", f.Hints()[1].Plugin)
	require.True(t, f.Hints()[1].Events[0].Event.IsWildcard())
}

// TestProblems wants every problem of a profile in one error.
func TestProblems(t *testing.T) {
	t.Parallel()
	percentage := int32(101)
	for _, test := range []struct {
		name   string
		change func(*extpoints.Profile)
		want   []string
	}{
		{"what can be seen before the points are filled", func(p *extpoints.Profile) {
			*p = profileOf("A A*2 Unknown Panics Nothing Other Nameless B:Reserve B:Reserve C:Filtering D!Filter:Score Idle Wrong")
			p.PercentageOfNodesToScore = &percentage
			p.Plugins[0].Args = "what for"
			p.Plugins[7].Weight = -1
			p.Plugins = append(p.Plugins, extpoints.Entry{Points: []extpoints.Point{"Filter"}}, extpoints.Entry{Name: "A"},
				extpoints.Entry{New: makers()["B"]})
			p.Remove("Nobody")
		}, []string{
			`profile "p": remove plugin "Nobody": the profile has none of the name`,
			`profile "p": percentageOfNodesToScore: 101 is not in [0, 100]`,
			`profile "p": plugin "A": is listed twice`,
			`profile "p": plugin "Unknown": has no function that makes it`,
			`profile "p": plugin "B": weight -1 is negative`,
			`profile "p": plugin "B": Reserve: is listed twice`,
			`profile "p": plugin "C": there is no point "Filtering"; the points are ` +
				`[PreEnqueue QueueSort PreFilter Filter PostFilter PreScore Score Reserve Permit PreBind Bind PostBind ` +
				`PlacementGenerate PlacementFeasible PlacementScore GroupPostFilter]`,
			`profile "p": plugin "D": an entry has either Points or Except`,
			`profile "p": plugin 13: has neither a name nor a function that makes it`,
			`profile "p": plugin "A": has an entry without New that does not say at which points`,
			`profile "p": plugin "A": arguments of type string, want extpoints.NoArgs`,
			`profile "p": plugin "Panics": New panicked: boom`,
			`profile "p": plugin "Nothing": New returned no plugin`,
			`profile "p": plugin "Other": the plugin that New made calls itself "A"`,
			`profile "p": plugin "Nameless": Name panicked: runtime error: invalid memory address or nil pointer dereference`,
			`profile "p": plugin "Idle": framework.named serves no extension point`,
			`profile "p": plugin "Wrong": Filter: Filter is func(int) bool, and must be ` +
				`func(*extpoints.CycleState, *extpoints.WorkloadInfo, *extpoints.NodeInfo) *extpoints.Status`,
			`profile "p": plugin "Wrong": Reserve: Reserve is missing`,
			`profile "p": plugin "Wrong": Reserve: Unreserve is func(*extpoints.CycleState), and must be ` +
				`func(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding)`,
			`profile "p": plugin "B": is listed twice`,
		}},
		{"what the points find", func(p *extpoints.Profile) {
			*p = profileOf("BadEvents PanicEvents Base:QueueSort Base2:QueueSort F1:Reserve F2:Filter+Score")
		}, []string{
			`profile "p": plugin "F1": Reserve: the plugin does not serve this point`,
			`profile "p": plugin "F2": Score: the plugin does not serve this point`,
			`profile "p": QueueSort: exactly one plugin is needed, got 2: [Base Base2]`,
			`profile "p": Bind: at least one plugin is needed`,
			`profile "p": plugin "BadEvents": events to register: no idea`,
			`profile "p": plugin "PanicEvents": events to register: panic: boom`,
		}},
		{"nothing at all", func(*extpoints.Profile) {}, []string{
			`profile "p": QueueSort: exactly one plugin is needed, got 0: []`,
			`profile "p": Bind: at least one plugin is needed`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := extpoints.Profile{Name: "p"}
			test.change(&p)
			_, err := New(p, env)
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
	p := profileOf("Base S1 S2")
	p.Plugins[1].Weight, p.Plugins[2].Weight = math.MaxInt32, math.MaxInt32
	_, err := New(p, env)
	require.NoError(t, err)
}
