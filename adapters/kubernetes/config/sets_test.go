package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/extpoints"
)

// set reads "a b:3 -c": enabled with weights, and disabled.
func set(text string) configv1.PluginSet {
	var s configv1.PluginSet
	for word := range strings.FieldsSeq(text) {
		if name, ok := strings.CutPrefix(word, "-"); ok {
			s.Disabled = append(s.Disabled, configv1.Plugin{Name: name, Weight: new(int32(0))})
			continue
		}
		name, weight, _ := strings.Cut(word, ":")
		plugin := configv1.Plugin{Name: name, Weight: new(int32(0))}
		if weight != "" {
			*plugin.Weight = int32(weight[0] - '0')
		}
		s.Enabled = append(s.Enabled, plugin)
	}
	return s
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, defaults, custom, want string }{
		{"nothing custom", "a b c", "", "a b c"},
		{"nothing by default", "", "a b", "a b"},
		{"more", "a b", "c d", "a b c d"},
		{"without one", "a b c", "-b", "a c -b"},
		{"without all", "a b c", "-*", "-*"},
		{"without all, and some of one's own", "a b c", "-* d b", "d b -*"},
		{"another order: without all, and all again", "a b c", "-* c b a", "c b a -*"},
		{"one weight changed, place kept", "a:1 b:2 c:3", "b:7", "a:1 b:7 c:3"},
		{"one weight left out is not the default's", "a:1 b:2", "b", "a:1 b"},
		{"two changed, places kept", "a b c", "c:2 a:3", "a:3 b c:2"},
		{"without one and with it again: to the end", "a b c", "-a a:5", "b c a:5 -a"},
		{"without one that is not there", "a", "-x", "a -x"},
		{"some changed, some new", "a b", "x b:9 y", "a b:9 x y"},
		{"names disabled on both sides", "a -p", "b -q", "a b -q -p"},
		{"disabled by default already", "a p -p", "b", "a b -p"},
		{"twice, beside a default", "a b", "b:1 b:2", "a b:2 b:1"},
		{"twice, all new", "a", "b b", "a b b"},
	} {
		defaults, custom, want := set(c.defaults), set(c.custom), set(c.want)
		if got := mergeSet(&defaults, &custom); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
		if before := set(c.defaults); !reflect.DeepEqual(defaults, before) {
			t.Errorf("%s: the defaults became %+v", c.name, defaults)
		}
	}
}

// TestPointsAreThoseOfTheFile: every set of a file is a point of the engine, or
// MultiPoint, with its name in the file, and is merged by itself.
func TestPointsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	var defaults, custom, want configv1.Plugins
	fields := reflect.TypeFor[configv1.Plugins]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		found := false
		for j := range points {
			found = found || points[j].field == i && points[j].name == name
		}
		if !found {
			t.Errorf("the set %s is no point", name)
		}
		fill := func(p *configv1.Plugins, text string) {
			reflect.ValueOf(p).Elem().Field(i).Set(reflect.ValueOf(set(text)))
		}
		fill(&defaults, name+"A "+name+"B")
		fill(&custom, "-"+name+"A "+name+"C")
		fill(&want, name+"B "+name+"C -"+name+"A")
	}
	if got := mergePlugins(&defaults, &custom); !reflect.DeepEqual(got, &want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if len(points) != fields.NumField() || points[0].name != multiPoint {
		t.Errorf("the points are %+v", points)
	}
}

// TestEntries pins the order in which a point's own set and MultiPoint are put
// together: overrides in the order of the own set, then MultiPoint's, then the rest
// of the own set (kube-scheduler framework/runtime/framework.go
// expandMultiPointPlugins, 1.37.1).
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, multi, filter, score, wantFilter, wantScore string }{
		{"own sets only", "", "B A", "A:3 B", "B A", "A:3 B"},
		{"MultiPoint only", "C:2 F A", "", "", "C:2 F A", "C:2 F A"},
		{"overrides come first, in the order of the own set", "A:2 B:3 C:4", "", "C:7 B", "A:2 B:3 C:4", "C:7 B A:2"},
		{"the rest of the own set comes last", "A B", "", "D:5 B:6 S", "A B", "B:6 A D:5 S"},
		{"disabled for one point only", "A B C", "", "-B", "A B C", "A C"},
		{"* shuts out MultiPoint, not the own set", "A:2 B", "", "-* C B:4", "A:2 B", "C B:4"},
		{"disabled in MultiPoint, enabled in the own set: no override, so last", "A B", "", "-A A:9 C", "A B", "B A:9 C"},
		{"weights that mean nothing are left out", "A", "A:3 B:4", "", "A B", "A"},
	} {
		sets := &configv1.Plugins{MultiPoint: set(c.multi), Filter: set(c.filter), Score: set(c.score)}
		p := extpoints.Profile{Plugins: entries(sets)}
		for point, want := range map[extpoints.Point]string{"Filter": c.wantFilter, "Score": c.wantScore} {
			var got []string
			for _, e := range p.At(point) {
				text := e.Name
				if e.Weight != 0 {
					text += fmt.Sprint(":", e.Weight)
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: at %s %v, want %s", c.name, point, got, want)
			}
		}
	}
}

// A plugin that only one point's set has is asked there, and what cannot be configured.
func TestEntryOfOnePoint(t *testing.T) {
	t.Parallel()
	p := extpoints.Profile{Plugins: entries(&configv1.Plugins{PreEnqueue: set("A")})}
	for _, point := range extpoints.Points() {
		want := 0
		if point == "PreEnqueue" || point == "PlacementFeasible" {
			want = 1
		}
		if got := len(p.At(point)); got != want {
			t.Errorf("at %s: %d, want %d", point, got, want)
		}
	}
}

func TestRegistryMerge(t *testing.T) {
	t.Parallel()
	r := Registry{"B": nil}
	if err := r.Merge(Registry{"C": nil, "B": nil}); err == nil || err.Error() != `add plugin "B": the name is taken` || len(r) != 1 {
		t.Errorf("%v, %v", err, r)
	}
	if err := r.Merge(Registry{"C": nil}); err != nil || len(r) != 2 {
		t.Errorf("%v, %v", err, r)
	}
}
