package helper

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/berth-project/berth/model"
)

func TestDefaultNormalizeScore(t *testing.T) {
	for _, c := range []struct {
		reverse      bool
		scores, want []int64
	}{
		{false, []int64{1, 2, 3, 4}, []int64{25, 50, 75, 100}},
		{true, []int64{1, 2, 3, 4}, []int64{75, 50, 25, 0}},
		{false, []int64{1000, 10, 20, 30}, []int64{100, 1, 2, 3}},
		{true, []int64{1000, 10, 20, 30}, []int64{0, 99, 98, 97}},
		{false, []int64{1, 1, 1, 1}, []int64{100, 100, 100, 100}},
		{false, []int64{1, 3}, []int64{33, 100}},
		{true, []int64{1, 3}, []int64{67, 0}},
		{false, []int64{0, 0}, []int64{0, 0}},
		{true, []int64{0, 0}, []int64{100, 100}},
		{false, nil, nil},
	} {
		got := slices.Clone(c.scores)
		if status := DefaultNormalizeScore(100, c.reverse, got); status != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, reverse %v: %v, want %v", c.scores, c.reverse, got, c.want)
		}
	}
}

func TestBrokenLinear(t *testing.T) {
	type at struct{ u, want int64 }
	for _, c := range []struct {
		shape  []ShapePoint
		points []at
	}{
		{[]ShapePoint{{10, 1}, {90, 9}}, []at{{-10, 1}, {0, 1}, {10, 1}, {15, 1}, {19, 1}, {20, 2}, {89, 8}, {90, 9}, {110, 9}}},
		{[]ShapePoint{{0, 2}, {40, 10}, {100, 0}}, []at{{-10, 2}, {0, 2}, {20, 6}, {30, 8}, {40, 10}, {70, 5}, {100, 0}, {110, 0}}},
		{[]ShapePoint{{0, 2}, {40, 2}, {100, 2}}, []at{{-10, 2}, {30, 2}, {110, 2}}},
		{[]ShapePoint{{0, 10}, {3, 0}}, []at{{1, 7}, {2, 4}}}, // towards the left one
		{[]ShapePoint{{50, 5}}, []at{{0, 5}, {50, 5}, {100, 5}}},
	} {
		f := BrokenLinear(c.shape)
		for _, p := range c.points {
			if got := f(p.u); got != p.want {
				t.Errorf("%v at %d: %d, want %d", c.shape, p.u, got, p.want)
			}
		}
	}
}

func TestFirstUntolerated(t *testing.T) {
	taints := []model.Taint{{Key: "soft", Effect: model.PreferNoSchedule}, {Key: "a", Effect: model.NoSchedule}, {Key: "b", Effect: model.NoExecute}}
	tolerate := func(keys ...string) []model.Toleration {
		var list []model.Toleration
		for _, k := range keys {
			list = append(list, model.Toleration{Key: k, Operator: model.Exists})
		}
		return list
	}
	for _, c := range []struct {
		tolerated []string
		want      string
	}{{nil, "a"}, {[]string{"a"}, "b"}, {[]string{"b"}, "a"}, {[]string{"a", "b"}, ""}, {[]string{""}, ""}} {
		got := ""
		if taint := FirstUntolerated(taints, tolerate(c.tolerated...)); taint != nil {
			got = taint.Key
		}
		if got != c.want {
			t.Errorf("tolerating %q: %q, want %q", c.tolerated, got, c.want)
		}
	}
}

func TestStretchScore(t *testing.T) {
	for _, c := range []struct{ scores, want []int64 }{
		{nil, nil},
		{[]int64{7}, []int64{0}},
		{[]int64{3, 3}, []int64{0, 0}},
		{[]int64{-3, 0, 1}, []int64{0, 75, 100}},
		{[]int64{0, 1, 3}, []int64{0, 33, 100}},
		{[]int64{math.MinInt64, 0, math.MaxInt64}, []int64{0, 50, 100}},
	} {
		got := slices.Clone(c.scores)
		if status := StretchScore(100, got); status != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v, %v", c.scores, got, c.want, status)
		}
	}
}

func TestNormalizedImageName(t *testing.T) {
	for name, want := range map[string]string{
		"root": "root:latest", "root:tag": "root:tag",
		"registry.example:80/root":             "registry.example:80/root:latest",
		"registry.example/root@sha256:0123abc": "registry.example/root@sha256:0123abc",
		"":                                     ":latest",
	} {
		if got := NormalizedImageName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	var p Problems
	if err := p.Err("X"); err != nil {
		t.Errorf("no problems: %v", err)
	}
	p.Addf("a[0]", "%d is too many", 7)
	p.Addf("b", "is wrong")
	err := p.Err("X")
	if err.Error() != `arguments of plugin "X": a[0]: 7 is too many; b: is wrong` || !errors.Is(err, model.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// Strings that contain the marks of the form cannot pass for something else.
func TestCanonIsUnambiguous(t *testing.T) {
	seen := map[string][]string{}
	for _, list := range [][]string{nil, {""}, {"a", "b"}, {"a b"}, {`a" "b`}, {"[a]"}, {"a", "b", ""}} {
		form := string(Canon(nil).Strs(list))
		if other, ok := seen[form]; ok {
			t.Errorf("%q and %q have the same form %s", list, other, form)
		}
		seen[form] = list
	}
}
