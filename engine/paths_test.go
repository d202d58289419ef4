package engine_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files lists the files of the repository with one of the endings, by their paths
// from its root, those of nested modules too. Test data and hidden folders are
// left out.
func files(t *testing.T, endings ...string) (list []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != ".." && (name == "testdata" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		for _, ending := range endings {
			if !d.IsDir() && strings.HasSuffix(name, ending) {
				list = append(list, filepath.ToSlash(strings.TrimPrefix(path, "../")))
			}
		}
		return nil
	})
	require.NoError(t, err)
	return list
}

var (
	link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	// quoted is what stands in backticks on one line.
	quoted = regexp.MustCompile("`([^`\n]+)`")
	// namedPath is what names a file or a folder of the repository, a Go file by its
	// name alone too.
	namedPath = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+/?$|^\w+\.go$`)
	// nameIn is a name said to be in a file: `queue/active.go`, `Pop`.
	nameIn = regexp.MustCompile("`([\\w./-]+\\.go)`, `(\\w+)`")
)

// TestLinksLead: what the documents link to is there.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(document(t, file), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s links to %s, which does not exist", file, m[1])
			}
		}
	}
}

// TestFilesOfTheEngineExist: the package comment of the engine names files of its
// own folder and of the root of the repository.
func TestFilesOfTheEngineExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\b[\w/]+\.(go|md)\b`).FindAllString(document(t, "engine/doc.go"), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		_, here := os.Stat(name)
		_, root := os.Stat(filepath.Join("..", name))
		if here != nil && root != nil {
			t.Errorf("engine/doc.go names %s, which does not exist", name)
		}
	}
}

// TestPathsExist: every file and folder that the documents for contributors name
// in backticks exists, and names said to be in a file are in it. Paths begin at
// the root of the repository.
func TestPathsExist(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"} {
		text := document(t, file)
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if !namedPath.MatchString(m[1]) || m[1] == "testing/synctest" {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
		for _, m := range nameIn.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(document(t, m[1]), m[2]) {
				t.Errorf("%s says that %s has %s, and it has not", file, m[1], m[2])
			}
		}
	}
}

// The name of a file says what is in it, which "more", "other" and "misc" do not. A file for the
// systems that another one is not for may be called other: it has a build constraint.
func TestFilesAreNamedByContent(t *testing.T) {
	t.Parallel()
	says := regexp.MustCompile(`(^|[_-])(more|misc)|(^|[_-])other[_.-]`)
	for _, file := range files(t, ".go", ".md") {
		if !says.MatchString(path.Base(file)) || strings.HasPrefix(file, "engine/decisions/") {
			continue
		}
		if !strings.HasPrefix(document(t, file), "//go:build ") {
			t.Errorf("%s: the name does not say what is in it", file)
		}
	}
}
