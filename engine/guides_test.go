package engine_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guides are pages of documentation with code, each in the folder that it is about.
var guides = []string{
	"engine/embed.md", "engine/restart.md", "engine/plan.md", "engine/replay.md", "engine/measure.md",
	"plugins/newplugin.md", "adapters/newadapter.md",
}

// A guide is one page, and ARCHITECTURE.md leads to it.
func TestGuidesAreOnePage(t *testing.T) {
	t.Parallel()
	for _, guide := range guides {
		require.LessOrEqual(t, strings.Count(document(t, guide), "\n"), 90, "lines of %s", guide)
		require.Contains(t, document(t, "ARCHITECTURE.md"), "("+guide+")")
	}
}

// comparedElsewhere are the documents whose Go code another test compares, which is named.
var comparedElsewhere = map[string]string{
	"README.md":                            "examples/hello",
	"adapters/kubernetes/bridge/README.md": "adapters/kubernetes/parity/cmd/withplugins",
}

var (
	goBlock = regexp.MustCompile("(?s)```go\n(.*?)```\n")
	goFile  = regexp.MustCompile(`\]\(([\w./-]+\.go)\)`)
)

// The Go code in a document is that of a file, to which the last link before it leads: an Example or
// a program with a test. So it is compiled, and run.
func TestCodeInDocuments(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, ".md") {
		if comparedElsewhere[file] != "" {
			continue
		}
		text := document(t, file)
		blocks := goBlock.FindAllStringSubmatchIndex(text, -1)
		for _, at := range blocks {
			links := goFile.FindAllStringSubmatch(text[:at[0]], -1)
			if len(links) == 0 {
				t.Errorf("%s: no link to a Go file stands before the code\n%s", file, text[at[2]:at[3]])
				continue
			}
			source := path.Join(path.Dir(file), links[len(links)-1][1])
			requireCode(t, file, text[at[2]:at[3]], source)
		}
	}
	for _, guide := range guides {
		require.Regexp(t, goBlock, document(t, guide), guide)
	}
}

// The code in doc comments is that of the examples. A blank line stands for what is left out.
func TestCodeInComments(t *testing.T) {
	t.Parallel()
	for file, source := range map[string]string{
		"engine/doc.go":     "engine/example_test.go",
		"engine/restart.go": "engine/example_restart_test.go",
	} {
		code := regexp.MustCompile(`(?m)(^//\t.*\n)+`).FindAllString(document(t, file), -1)
		require.NotEmpty(t, code, file)
		for _, block := range code {
			requireCode(t, file, regexp.MustCompile(`(?m)^//\t`).ReplaceAllString(block, ""), source)
		}
	}
}

// requireCode requires that the file has the lines of the code. How far they are indented does not
// matter.
func requireCode(t *testing.T, from, code, file string) {
	t.Helper()
	if !strings.Contains(flat(document(t, file)), flat(code)) {
		t.Errorf("%s shows code that is not in %s:\n%s", from, file, code)
	}
}

// flat is the text without indentation, between two newlines.
func flat(text string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSpace(line))
		b.WriteByte('\n')
	}
	return b.String()
}
