package flags

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documented is a row of the table in sbatch.md.
type documented struct{ name, short, state, text string }

// documentedOptions are the rows of the table, and the options of Berth's own that are
// named below it.
func documentedOptions(t *testing.T) (rows []documented, own []string) {
	t.Helper()
	data, err := os.ReadFile("../../sbatch.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)`(?:, `-([A-Za-z])`)? \\| (\\w+) \\| (.*) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(data), -1) {
		rows = append(rows, documented{m[1], m[2], m[3], strings.ReplaceAll(m[4], `\|`, "|")})
	}
	_, below, found := strings.Cut(string(data), "options of Berth's own")
	require.True(t, found)
	for _, m := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(below, -1) {
		own = append(own, m[1])
	}
	return rows, own
}

// states are those that an option can have, by what is said about it.
func states(w *word) []string {
	switch {
	case w == nil || w.verdict == fine && w.judge == nil:
		return []string{"taken", "differs"}
	case w.judge != nil || w.verdict == refused:
		return []string{"refused"}
	case w.verdict == several:
		return []string{"differs"}
	}
	return []string{"warned"}
}

// The table in sbatch.md has each option that "#SBATCH" lines may have, with what becomes
// of it and what is said about it.
func TestTableOfOptions(t *testing.T) {
	rows, own := documentedOptions(t)
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addAll(fs, slurmOptions, func(*option, string, string) error { return nil })
	var read, written []string
	fs.VisitAll(func(f *pflag.Flag) { read = append(read, f.Name) })
	for _, d := range rows {
		written = append(written, d.name)
	}
	assert.ElementsMatch(t, strings.Fields(sbatch), written, "sbatch's manual and the table")
	assert.True(t, slices.IsSorted(written))
	assert.ElementsMatch(t, read, slices.Concat(written, own), "the options that are read, and the document")

	for _, d := range rows {
		w := wordsByName[d.name]
		assert.Contains(t, states(w), d.state, d.name)
		if w != nil {
			assert.Contains(t, d.text, w.text, d.name)
		}
		assert.False(t, d.state == "differs" && d.text == "", "%s: what differs?", d.name)
		if f := fs.Lookup(d.name); d.short != "" && f != nil {
			with := fs.ShorthandLookup(d.short)
			if assert.NotNil(t, with, d.name) {
				assert.Equal(t, canonical(f.Name), canonical(with.Name), d.name)
			}
		}
	}
}

// canonical is the first name of an option.
func canonical(name string) string {
	for _, o := range slurmOptions {
		if slices.Contains(o.names(), name) {
			return o.name
		}
	}
	return name
}
