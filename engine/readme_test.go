package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeLimit is how long the README may be, in bytes: a page that invites. Tables
// belong to the folder that they are about.
const readmeLimit = 10 << 10

func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, len(document(t, "README.md")), readmeLimit, "README.md")
}

// The explanation in the README is one that a program printed.
func TestReadmeShowsARealExplanation(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(document(t, "README.md"), "\n```\nWhy is ")
	shown, _, _ := strings.Cut(rest, "```\n")
	require.NotEmpty(t, shown, "README.md shows no explanation")
	require.Contains(t, document(t, "examples/quickstart/testdata/small.txt"), "Why is "+shown)
}

// document is the text of a file, by its path from the root of the repository.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	require.NoError(t, err)
	return string(text)
}
