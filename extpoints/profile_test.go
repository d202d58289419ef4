package extpoints

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// set reads "a b:3 -c": enabled with weights, and disabled.
func set(text string) PluginSet {
	var s PluginSet
	for _, word := range strings.Fields(text) {
		if name, ok := strings.CutPrefix(word, "-"); ok {
			s.Disabled = append(s.Disabled, name)
			continue
		}
		name, weight, _ := strings.Cut(word, ":")
		ref := PluginRef{Name: name}
		if weight != "" {
			ref.Weight = int32(weight[0] - '0')
		}
		s.Enabled = append(s.Enabled, ref)
	}
	return s
}

func TestMerge(t *testing.T) {
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
		got := Plugins{Score: set(c.defaults)}.Merge(Plugins{Score: set(c.custom)})
		if want := (Plugins{Score: set(c.want)}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", c.name, got.Score, want.Score)
		}
	}
}

// Every set is merged by itself.
func TestMergeOfEachSet(t *testing.T) {
	var defaults, custom, want Plugins
	for i := range reflect.TypeFor[Plugins]().NumField() {
		name := reflect.TypeFor[Plugins]().Field(i).Name
		fill := func(p *Plugins, text string) { reflect.ValueOf(p).Elem().Field(i).Set(reflect.ValueOf(set(text))) }
		fill(&defaults, name+"A "+name+"B")
		fill(&custom, "-"+name+"A "+name+"C")
		fill(&want, name+"B "+name+"C -"+name+"A")
	}
	if got := defaults.Merge(custom); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestMergeLeavesItsSides(t *testing.T) {
	defaults := Plugins{MultiPoint: PluginSet{Enabled: slices.Grow(set("a b").Enabled, 5), Disabled: slices.Grow([]string{"p"}, 5)}}
	one := defaults.Merge(Plugins{MultiPoint: set("a:7 c -q")})
	two := defaults.Merge(Plugins{MultiPoint: set("d -r")})
	if want := set("a b -p"); !reflect.DeepEqual(defaults.MultiPoint, want) {
		t.Errorf("the defaults are %+v", defaults.MultiPoint)
	}
	if want := set("a:7 b c -q -p"); !reflect.DeepEqual(one.MultiPoint, want) {
		t.Errorf("the first is %+v after the second", one.MultiPoint)
	}
	if want := set("a b d -r -p"); !reflect.DeepEqual(two.MultiPoint, want) {
		t.Errorf("the second is %+v", two.MultiPoint)
	}
}
