package main

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output to testdata instead of comparing it")

const golden = "testdata/output.txt"

// TestOutput runs the program and compares what it prints.
func TestOutput(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if line(got, i) != line(wanted, i) {
			t.Fatalf("line %d:\n got %s\nwant %s\n(go test -update writes it, if that is how it should be)", i+1, line(got, i), line(wanted, i))
		}
	}
}

// line is the i-th line, or says that there is none.
func line(lines []string, i int) string {
	if i >= len(lines) {
		return "(the end)"
	}
	return lines[i]
}
