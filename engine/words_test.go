package engine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// banned are private words and phrases that are not English. Each has what to write
// instead: the field's term, or the plain word.
var banned = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(haunt|conjur|uproot)\w*`), "placeholder node, remove"},
	{regexp.MustCompile(`(?i)\bghosts?\b`), "placeholder node"},
	{regexp.MustCompile(`(?i)\bstrangers?\b`), "what it is: a plugin without hints, another user"},
	{regexp.MustCompile(`(?i)\bobeys?\b`), "carry out"},
	{regexp.MustCompile(`(?i)\bdeaf\b`), "ignores"},
	{regexp.MustCompile(`(?i)\bwhat bec(a|o)mes? of\b`), "what happens to, the outcome of"},
	{regexp.MustCompile(`(?i)\bsle(eps?|pt|eping) through\b`), "misses, a missed wake-up"},
	{regexp.MustCompile(`(?i)\bturn(s|ed|ing)? (\w+ )?down\b`), "reject"},
	{regexp.MustCompile(`(?i)\bon (its|their) way out\b`), "terminating"},
	{regexp.MustCompile(`(?i)\bworlds? outside\b`), "the orchestrator"},
	{regexp.MustCompile(`(?i)\bfor whose sake\b`), "for which"},
	{regexp.MustCompile(`(?i)\b(draws?|drawn|drawing) lots\b|\blots are drawn\b`), "at random"},
	{regexp.MustCompile(`(?i)\bno books\b`), "no state of its own"},
	{regexp.MustCompile(`(?i)\bhand(s|ed|ing) in\b`), "submit"},
	{regexp.MustCompile(`\b(workload|node|group|claim|plugin|pod) of the (ID|name)\b`), "with the ID, with the name"},
	{regexp.MustCompile(`(^|[.:;] )Who (asks|is|has|had|would|reads|wants|links|runs|makes|gets|comes|waits|sends|uploads|follows|shows|does|cannot)\b[^?]*$`), "a noun: users, a client that"},
}

// coined are files in which one of the words is a name of the code, or a text that is
// compared with another one. A line goes when its file has the word no longer.
var coined = map[string][]string{
	"adapters/fleet/scheduler/conformance_test.go":              {"obey"},
	"adapters/kubernetes/parity/internal/decisionlevel/case.go": {"deaf"},
	"adapters/kubernetes/parity/internal/queuelevel/history.go": {"stranger"},
	"adapters/kubernetes/parity/internal/queuelevel/run.go":     {"deaf"},
	"adapters/kubernetes/parity/internal/queuelevel/script.go":  {"stranger"},
	"adapters/kubernetes/parity/internal/subject/engine.go":     {"deaf"},
	"adapters/kubernetes/statuses_test.go":                      {"deaf"},
	"engine/bindtimeout_test.go":                                {"deaf"},
	"engine/internal/tasks/commands.go":                         {"deaf"},
	"plugins/interpodaffinity/random_test.go":                   {"ghost"},
}

// TestPlainWords: documents, comments and messages do without the banned words.
// Names in code are not looked at, nor are kits and the texts of tests.
func TestPlainWords(t *testing.T) {
	oneGoroutine(t)
	used := map[string]map[string]bool{}
	check := func(file string, line int, text string) {
		for _, b := range banned {
			found := strings.ToLower(strings.TrimLeft(b.words.FindString(text), ".:; "))
			if found == "" {
				continue
			}
			if coinedIn(file, found) {
				if used[file] == nil {
					used[file] = map[string]bool{}
				}
				used[file][found] = true
				continue
			}
			t.Errorf("%s:%d: %q: write %s", file, line, found, b.instead)
		}
	}
	for _, file := range files(t, ".md") {
		for i, line := range strings.Split(document(t, file), "\n") {
			check(file, i+1, line)
		}
	}
	for _, file := range files(t, ".go") {
		eachText(t, file, check)
	}
	for file, words := range coined {
		for _, word := range words {
			if !used[file][word] {
				t.Errorf("%s has no %q any more: take it out of the table", file, word)
			}
		}
	}
}

func coinedIn(file, word string) bool {
	for _, w := range coined[file] {
		if w == word {
			return true
		}
	}
	return false
}

// eachText gives check the lines of the file's comments, and its string literals if
// the file is part of a product: not a test, and not in a kit for tests.
func eachText(t *testing.T, file string, check func(file string, line int, text string)) {
	t.Helper()
	if path.Base(file) == "words_test.go" {
		return
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "../"+file, nil, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, group := range parsed.Comments {
		for _, comment := range group.List {
			for i, line := range strings.Split(comment.Text, "\n") {
				check(file, fset.Position(comment.Pos()).Line+i, strings.TrimLeft(line, "/ \t"))
			}
		}
	}
	if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "test/") ||
		strings.Contains(file, "/e2e/") || strings.Contains(file, "/parity/") {
		return
	}
	for _, lit := range literals(parsed) {
		check(file, fset.Position(lit.Pos()).Line, lit.Value)
	}
}

// literals are the string literals of a file, its imports aside.
func literals(parsed *ast.File) []*ast.BasicLit {
	var list []*ast.BasicLit
	ast.Inspect(parsed, func(n ast.Node) bool {
		if _, is := n.(*ast.ImportSpec); is {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			list = append(list, lit)
		}
		return true
	})
	return list
}

// kubernetesOnly are words of Kubernetes for what has another name here: workload,
// group, volume, volume claim, device claim, device slice, profile.
var kubernetesOnly = regexp.MustCompile(`(?i)pod|persistent ?volume|\bpvcs?\b|resource ?(claim|slice)|\bdra\b|\.spec\b|schedulerName`)

// keptNames are names that have one of these words, and must: of kube-scheduler's plugins
// and of an argument. A name goes when no text has it any longer.
var keptNames = []string{"InterPodAffinity", "PodTopologySpread", "PodGroupPodsCount", "PodState", "hardPodAffinityWeight"}

// TestNeutralTexts: what the engine and its plugins say has no word that only
// Kubernetes has. Texts of kube-scheduler are rendered by adapters/kubernetes/words. The
// adapter of extenders is not looked at, because their protocol is kube-scheduler's.
func TestNeutralTexts(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachOwnLiteral(t, func(file string, line int, text string) {
		for _, name := range keptNames {
			if strings.Contains(text, name) {
				used[name] = true
				text = strings.ReplaceAll(text, name, "")
			}
		}
		if found := kubernetesOnly.FindString(text); found != "" {
			t.Errorf("%s:%d: %q in %s: write what it is called here, and add a row to adapters/kubernetes/words where kube-scheduler says the same", file, line, found, text)
		}
	})
	for _, name := range keptNames {
		if !used[name] {
			t.Errorf("no text has %q any more: take it out of the table", name)
		}
	}
}

// TestRenderedTexts: the engine says what adapters/kubernetes/words renders. A row for
// a text that was changed here would not be noticed otherwise.
func TestRenderedTexts(t *testing.T) {
	oneGoroutine(t)
	verb := regexp.MustCompile(`%[a-z]`)
	plain := func(text string) string { return verb.ReplaceAllString(text, "%v") }
	var said []string
	eachOwnLiteral(t, func(_ string, _ int, text string) { said = append(said, plain(text)) })
	parsed, err := parser.ParseFile(token.NewFileSet(), "../adapters/kubernetes/words/table.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	rows := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		row, is := n.(*ast.CompositeLit)
		if !is || len(row.Elts) != 2 {
			return true
		}
		neutral, is := row.Elts[0].(*ast.BasicLit)
		if !is {
			return true
		}
		rows++
		text, err := strconv.Unquote(neutral.Value)
		require.NoError(t, err)
		if !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, plain(text)) }) {
			t.Errorf("nothing here says %q: adapt the row, or take it out", text)
		}
		return true
	})
	require.NotZero(t, rows)
}

// eachOwnLiteral gives check the string literals of this module, tests and the adapter
// of extenders aside.
func eachOwnLiteral(t *testing.T, check func(file string, line int, text string)) {
	t.Helper()
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || !ownFile.MatchString(file) || file == hostileNames {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, "../"+file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, lit := range literals(parsed) {
			text, err := strconv.Unquote(lit.Value)
			require.NoError(t, err)
			check(file, fset.Position(lit.Pos()).Line, text)
		}
	}
}

// hostileNames has random names, of resources for example, that may be mistaken for
// those of an orchestrator.
const hostileNames = "model/modeltest/draw.go"

// ownFile is a file of this module that speaks of no orchestrator.
var ownFile = regexp.MustCompile(`^(model|extpoints|queue|plugins|engine|adapters/(inproc|adaptertest))/`)
