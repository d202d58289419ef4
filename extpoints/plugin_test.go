package extpoints

import (
	"maps"
	"slices"
	"testing"
)

func TestRegistry(t *testing.T) {
	none := func(any, Handle) (Plugin, error) { return nil, nil }
	r := Registry{}
	for _, name := range []string{"B", "A"} {
		if err := r.Register(name, none); err != nil {
			t.Error(err)
		}
	}
	if err := r.Register("A", nil); err == nil || err.Error() != `register plugin "A": the name is taken` || r["A"] == nil {
		t.Errorf("twice: %v", err)
	}
	if err := r.Merge(Registry{"C": none, "B": none, "A": none}); err == nil || err.Error() != `merge registries: plugin "A" is in both` {
		t.Errorf("%v", err)
	}
	if len(r) != 2 {
		t.Error("a merge that failed added something")
	}
	if err := r.Merge(Registry{"C": none}); err != nil {
		t.Error(err)
	}
	if got := slices.Sorted(maps.Keys(r)); !slices.Equal(got, []string{"A", "B", "C"}) {
		t.Error(got)
	}
}

func TestArgs(t *testing.T) {
	type args struct{ N int }
	if err := NoArgs("P", nil); err != nil {
		t.Error(err)
	}
	if err := NoArgs("P", args{}); err == nil || err.Error() != "plugin P takes no arguments, got extpoints.args" {
		t.Errorf("%v", err)
	}
	defaults := args{7}
	for _, c := range []struct {
		given any
		want  args
		err   string
	}{
		{nil, args{7}, ""},
		{args{1}, args{1}, ""},
		{args{}, args{}, ""},
		{&args{2}, args{2}, ""},
		{(*args)(nil), args{7}, ""},
		{"x", args{7}, "plugin P: arguments of type string, want extpoints.args"},
		{map[string]any{"n": 1}, args{7}, "plugin P: arguments of type map[string]interface {}, want extpoints.args"},
	} {
		got, err := ArgsAs("P", c.given, defaults)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != c.want || text != c.err {
			t.Errorf("%v: %v, %q", c.given, got, text)
		}
	}
}
