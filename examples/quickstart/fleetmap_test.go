package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainAndPainted is the map in a pipe and on a terminal that shows colours.
func plainAndPainted(rows []row) (plain, painted string) {
	var a, b strings.Builder
	(&printer{out: &a}).fleet(rows)
	(&printer{out: &b, colours: true}).fleet(rows)
	return a.String(), b.String()
}

func TestMap(t *testing.T) {
	rows := []row{
		{pool: "general", cells: []cell{{use: 0}, {use: 0.01}, {use: 0.5}, {use: 0.99}, {use: 1}, {use: 0.7, closed: true}}},
		{pool: "none"},
		{pool: "many", cells: make([]cell, perLine+1)},
	}
	plain, painted := plainAndPainted(rows)
	_, nodes, _ := strings.Cut(plain, "closed\n")
	want := "  general   ·▁▅██×\n" +
		"  many      " + strings.Repeat("·", perLine) + "\n" +
		"            ·\n"
	if nodes != want {
		t.Errorf("got\n%swant\n%s", nodes, want)
	}
	for _, want := range []string{"\x1b[90m·\x1b[0m", "\x1b[36m▁\x1b[0m", "\x1b[32m▅\x1b[0m", "\x1b[33m█\x1b[0m", "\x1b[31m×\x1b[0m", "\x1b[1mThe fleet"} {
		if !strings.Contains(painted, want) {
			t.Errorf("no %q in %q", want, painted)
		}
	}
}

// A pipe gets no colours, whatever part of the report it is.
func TestNoColoursInAPipe(t *testing.T) {
	if _, out, _ := called(t, "-nodes", "40", "-workloads", "800"); strings.Contains(out, "\x1b") {
		t.Errorf("got\n%q", out)
	}
}

// The picture is XML, with each node and how much of it is used.
func TestPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "fleet.svg")
	code, out, errOut := called(t, "-nodes", "100", "-workloads", "2000", "-svg", file)
	if code != 0 || !strings.HasSuffix(out, "as a picture: "+file+"\n") {
		t.Fatalf("exit code %d, stderr %q, got\n%s", code, errOut, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	titles := 0
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "title" {
			titles++
		}
	}
	if titles != 100 {
		t.Errorf("%d nodes are in the picture", titles)
	}
	for _, want := range []string{">general-000: ", ">h100-003: ", ": closed<"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the picture does not have %q", want)
		}
	}
}

func TestAPictureThatCannotBeWritten(t *testing.T) {
	code, _, errOut := called(t, "-nodes", "5", "-workloads", "5", "-svg", filepath.Join(t.TempDir(), "none", "fleet.svg"))
	if code != 1 || !strings.Contains(errOut, "the picture: open ") {
		t.Errorf("exit code %d, stderr %q", code, errOut)
	}
}
