package differences

import (
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
	r.Case("again 1")
	long := func() string { return "a long detail" }
	short := func() string { return "short" }
	r.Compare("X Filter", "yes", "yes", long)
	r.Compare("X Filter", "yes", "no", long)
	r.Compare("X Filter", "no", "yes", long)
	r.Case("again 2")
	r.Compare("X Filter", "no", "yes", short)
	r.Compare("X Filter for two", "yes", "no", long)
	if r.Explained() != 1 || r.Unexplained() != 3 || r.Counted("X Filter") != 5 {
		t.Errorf("%d explained, %d not, %d counted", r.Explained(), r.Unexplained(), r.Counted("X Filter"))
	}
	if got := strings.Join(r.Places(), ", "); got != "X Filter, X Filter for two" {
		t.Errorf("places: %s", got)
	}
	var printed strings.Builder
	r.Print(&printed)
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
