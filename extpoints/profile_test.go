package extpoints

import (
	"fmt"
	"strings"
	"testing"
)

// named is a plugin whose name is known when it has been made.
type named struct{ name string }

func (n named) Name() string { return n.name }

type first struct{ filtering }

func (*first) Name() string { return "First" }

func newFirst(NoArgs, Handle) (*first, error) { return &first{}, nil }

func newNamed(name string, _ Handle) (named, error) { return named{name}, nil }

// abc has the entries A, B with weight 2, and C, and B with weight 5 at Score.
func abc() Profile {
	return Profile{Name: "p", Plugins: []Entry{
		{Name: "A", New: FactoryOf(newNamed)}, {Name: "B", New: FactoryOf(newNamed), Weight: 2}, {Name: "C", New: FactoryOf(newNamed)},
		{Name: "B", Points: []Point{"Score"}, Weight: 5},
	}}
}

func text(p *Profile) string {
	var words []string
	for _, e := range p.Plugins {
		word := e.Name
		if e.Weight != 0 {
			word += fmt.Sprint("*", e.Weight)
		}
		if len(e.Points) > 0 {
			word += fmt.Sprint(e.Points)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Profile)
		want   string
		err    string
	}{
		{"at the end", func(p *Profile) { Use(p, newFirst, NoArgs{}) }, "A B*2 C B*5[Score] First", ""},
		{"some points", func(p *Profile) { Use(p, newFirst, NoArgs{}, Only("Filter", "Permit"), Weight(3)) }, "A B*2 C B*5[Score] First*3[Filter Permit]", ""},
		{"in front of one", func(p *Profile) { Use(p, newFirst, NoArgs{}, Before("B")) }, "A First B*2 C B*5[Score]", ""},
		{"in front of nobody", func(p *Profile) { Use(p, newFirst, NoArgs{}, Before("D")) }, "A B*2 C B*5[Score] First",
			`profile "p": use plugin "First" before "D": the profile has none of the name`},
		{"in place of one, all of it", func(p *Profile) { Use(p, newFirst, NoArgs{}, InPlaceOf("B")) }, "A First*2 C First*5[Score]", ""},
		{"in place of one, with a weight", func(p *Profile) { Use(p, newFirst, NoArgs{}, InPlaceOf("A"), Weight(7)) }, "First*7 B*2 C B*5[Score]", ""},
		{"in place of nobody", func(p *Profile) { Use(p, newFirst, NoArgs{}, InPlaceOf("D")) }, "A B*2 C B*5[Score]",
			`profile "p": use plugin "First" in place of "D": the profile has none of the name`},
		{"both", func(p *Profile) { Use(p, newFirst, NoArgs{}, InPlaceOf("A"), Before("C")) }, "A B*2 C B*5[Score] First",
			`profile "p": use plugin "First": either before "C" or in place of "A"`},
		{"removed", func(p *Profile) { p.Remove("B", "A") }, "C", ""},
		{"removed twice", func(p *Profile) { p.Remove("B"); p.Remove("B", "D") }, "A C",
			"profile \"p\": remove plugin \"B\": the profile has none of the name\nprofile \"p\": remove plugin \"D\": the profile has none of the name"},
		{"twice", func(p *Profile) { Use(p, newFirst, NoArgs{}); Use(p, newFirst, NoArgs{}) }, "A B*2 C B*5[Score] First First",
			`profile "p": plugin "First": is listed twice`},
	} {
		p, original := abc(), abc()
		untouched := p // a copy
		c.change(&p)
		if got := text(&p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		got := ""
		if err := p.Validate(); err != nil {
			got = err.Error()
		}
		if got != c.err {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.err)
		}
		if text(&untouched) != text(&original) || untouched.Validate() != nil {
			t.Errorf("%s: the copy became %s", c.name, text(&untouched))
		}
	}
}

// The name is known in advance where the type says it, and else when it is made.
func TestNameOfAnEntry(t *testing.T) {
	var p Profile
	Use(&p, newFirst, NoArgs{})
	Use(&p, newNamed, "mine")
	Use(&p, func(NoArgs, Handle) (Plugin, error) { return named{"any"}, nil }, NoArgs{})
	if got := text(&p); got != "First  " {
		t.Errorf("%q", got)
	}
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
}

func TestWeightNeedsScores(t *testing.T) {
	var p Profile
	Use(&p, newFirst, NoArgs{}, Weight(3))
	if _, err := p.Plugins[0].New(nil, nil); err == nil || err.Error() != "has weight 3, and serves neither Score nor PlacementScore" {
		t.Error(err)
	}
	Use(&p, func(NoArgs, Handle) (scores, error) { return scores{}, nil }, NoArgs{}, Weight(3))
	if _, err := p.Plugins[1].New(nil, nil); err != nil {
		t.Error(err)
	}
}

// A slot has the plugin of one engine, and says so where there is none or several.
func TestSlot(t *testing.T) {
	var p Profile
	slot := Use(&p, newFirst, NoArgs{})
	panics := func(want string) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		}()
		slot.Get()
	}
	panics("no engine has been made with the profile yet")
	made, _ := p.Plugins[0].New(nil, nil)
	panics("no engine has been made")
	p.Plugins[0].Made(made)
	if slot.Get() != made.(*first) {
		t.Error("another plugin")
	}
	p.Plugins[0].Made(&first{})
	panics("2 plugins were made of one Use")
}
