package differences

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A line that says nothing of why is refused, and so is one that is no pattern.
func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"comments and empty lines", "# a\n\n  # b\n", ""},
		{"a line", "a b: .* -> because", ""},
		{"no arrow", "# a\na: .*", "line 2: there is no reason: want PATTERN -> REASON"},
		{"no reason", "a: .* -> ", "line 1: there is no reason: want PATTERN -> REASON"},
		{"no pattern", "( -> because", "line 1: error parsing regexp: missing closing ): `^(?s:()$`"},
		{"all of them", "a\nb\n", "line 1: there is no reason: want PATTERN -> REASON\nline 2: there is no reason: want PATTERN -> REASON"},
	} {
		_, err := Parse(c.text)
		if got := text(err); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The list that there is can be read.
func TestList(t *testing.T) {
	if _, err := New(); err != nil {
		t.Fatal(err)
	}
}

// A pattern must match all of a difference: place and both answers.
func TestReport(t *testing.T) {
	known, err := Parse("X Filter: yes \\| no -> they never agree")
	if err != nil {
		t.Fatal(err)
	}
	r := NewWith(known)
	long := func() string { return "a long detail" }
	short := func() string { return "short" }
	run(t, r, "again 1", func(r *Report) {
		r.Compare("X Filter", "yes", "yes", long)
		r.Compare("X Filter", "yes", "no", long)
		r.Compare("X Filter", "no", "yes", long)
	})
	run(t, r, "again 2", func(r *Report) {
		r.Compare("X Filter", "no", "yes", short)
		r.Compare("X Filter for two", "yes", "no", long)
	})
	if r.Explained() != 1 || r.Unexplained() != 3 || r.Counted("X Filter") != 5 {
		t.Errorf("%d explained, %d not, %d counted", r.Explained(), r.Unexplained(), r.Counted("X Filter"))
	}
	if got := strings.Join(r.Places(), ", "); got != "X Filter, X Filter for two" {
		t.Errorf("places: %s", got)
	}
	var printed strings.Builder
	r.Print(&printed)
	if got := text(r.Err()); got != printed.String() {
		t.Errorf("the error is %s", got)
	}
	if err := NewWith(known).Err(); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"        5 comparisons in 2 cases\n",
		"        1 known differences, X Filter: they never agree\n",
		"        2 UNEXPLAINED, X Filter\n  reference: no\n  subject:   yes\n  short\n  again: again 2\n",
		"        1 differences explained, 3 unexplained\n",
	} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("not printed: %s\nin %s", want, printed.String())
		}
	}
}

func run(t *testing.T, r *Report, name string, compare func(*Report)) {
	t.Helper()
	if err := r.Run(name, func(r *Report) error {
		compare(r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// What the reference does not answer in each run is chance, and what it answers in all of them is not. Nothing
// is counted of runs that are repeated.
func TestChance(t *testing.T) {
	r := NewWith(nil)
	for i, c := range []struct {
		answers     string // of the reference, run by run
		unexplained int
		chance      bool
	}{{"y", 0, false}, {"ny", 0, true}, {"nnnnny", 0, true}, {"nnnnnn", 1, false}} {
		before, asked := r.Unexplained(), 0
		name := fmt.Sprint("case ", i)
		run(t, r, name, func(r *Report) {
			r.Compare("X", c.answers[asked:asked+1], "y", func() string { return "" })
			asked++
		})
		if asked != len(c.answers) || r.Unexplained()-before != c.unexplained || slices.Contains(r.chance, name) != c.chance {
			t.Errorf("%s: asked %d times, %d unexplained, by chance %v", c.answers, asked, r.Unexplained()-before, r.chance)
		}
	}
	if r.Counted("X") != 4 || r.cases != 4 {
		t.Errorf("%d comparisons in %d cases", r.Counted("X"), r.cases)
	}
	var printed strings.Builder
	r.Print(&printed)
	if want := "2 cases in which kube-scheduler does not always decide the same, and once did as the subject: case 1; case 2\n"; !strings.Contains(printed.String(), want) {
		t.Errorf("not printed: %s\nin %s", want, printed.String())
	}
	failure := errors.New("no")
	if err := r.Run("", func(*Report) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
}
