package main

import (
	"os"
	"strings"
	"testing"
)

// A first decision takes at most twenty lines, blank ones not counted, none of
// which is longer than a README shows without scrolling far.
func TestProgramIsShort(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			count++
		}
		if len(line) > 140 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
	if count > 20 {
		t.Errorf("%d lines, at most 20 are meant", count)
	}
}

// The README shows the program as it is, so what is compiled and run here is
// what a reader copies.
func TestProgramIsInREADME(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "\n```go\n")
	shown, _, _ := strings.Cut(rest, "```\n")
	if shown != string(program) {
		t.Errorf("the first Go block of the README is not examples/hello/main.go:\n%s", shown)
	}
}

// Example runs the program.
func Example() {
	main()
	// Output: web-1 goes to n1 <nil> <nil>
}
