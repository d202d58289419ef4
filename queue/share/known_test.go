package share

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answer is one known answer of a file in testdata: a block of lines, each a key and
// fields. The first line has its id.
type answer struct {
	id    string
	lines [][]string
}

// known runs check on each answer of the file. Answers that are left out have a reason.
func known(t *testing.T, file string, check func(t *testing.T, a answer)) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	seen := map[string]bool{}
	var a answer
	flush := func() {
		if a.id == "" {
			return
		}
		require.False(t, seen[a.id], "%s is listed twice", a.id)
		seen[a.id] = true
		one := a
		t.Run(one.id, func(t *testing.T) {
			if reason, left := one.optional("leftout"); left {
				t.Skip(strings.Join(reason, " "))
			}
			check(t, one)
		})
		a = answer{}
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || fields[0] == "#":
		case fields[0] == "case":
			flush()
			a.id = fields[1]
		default:
			a.lines = append(a.lines, fields)
		}
	}
	flush()
	require.NotEmpty(t, seen)
}

// all returns the fields of each line with the key.
func (a answer) all(key string) (lines [][]string) {
	for _, l := range a.lines {
		if l[0] == key {
			lines = append(lines, l[1:])
		}
	}
	return lines
}

func (a answer) optional(key string) ([]string, bool) {
	if lines := a.all(key); len(lines) > 0 {
		return lines[0], true
	}
	return nil, false
}

func (a answer) one(t *testing.T, key string) []string {
	t.Helper()
	fields, ok := a.optional(key)
	require.True(t, ok, "no %s in %s", key, a.id)
	return fields
}

// number reads an integer; max is Unlimited.
func number(t *testing.T, s string) int64 {
	t.Helper()
	if s == "max" || s == "-" {
		return Unlimited
	}
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return n
}

// vector reads integers that are separated by commas.
func vector(t *testing.T, s string) (v []int64) {
	t.Helper()
	if s == "nil" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		v = append(v, number(t, part))
	}
	return v
}

func numbers(t *testing.T, fields []string) (v []int64) {
	t.Helper()
	for _, f := range fields {
		v = append(v, number(t, f))
	}
	return v
}

// thousandths reads a decimal fraction as thousandths; max is Unlimited.
func thousandths(t *testing.T, s string) int64 {
	t.Helper()
	if s == "max" {
		return Unlimited
	}
	whole, part, _ := strings.Cut(s, ".")
	require.LessOrEqual(t, len(part), 3, s)
	return number(t, "0"+whole+(part + "000")[:3])
}

// options reads key=value fields.
func options(fields []string) map[string]string {
	o := map[string]string{}
	for _, f := range fields {
		if key, value, is := strings.Cut(f, "="); is {
			o[key] = value
		}
	}
	return o
}

// plain are the fields without options.
func plain(fields []string) (p []string) {
	for _, f := range fields {
		if !strings.Contains(f, "=") {
			p = append(p, f)
		}
	}
	return p
}

// table gives names numbers.
type table map[string]int

func (n table) at(t *testing.T, name string) int {
	t.Helper()
	if name == "-" {
		return Root
	}
	i, ok := n[name]
	require.True(t, ok, "no %q", name)
	return i
}
