package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// called is the program as a shell sees it.
func called(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e strings.Builder
	code = command(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

// times are the parts of the output that differ from run to run.
var times = regexp.MustCompile(`[0-9.]+ s\b|[0-9,]+ decisions/s`)

func masked(out string) string { return times.ReplaceAllString(out, "#") }

// The program on a small fleet prints the same each time, times apart.
func TestOutput(t *testing.T) {
	for name, args := range map[string][]string{
		"small":     {"-nodes", "100", "-workloads", "2000"},
		"one":       {"-nodes", "1", "-workloads", "1"},
		"roomy":     {"-nodes", "50", "-workloads", "20", "-seed", "2"},
		"overtaxed": {"-nodes", "3", "-workloads", "900", "-seed", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := called(t, args...)
			if code != 0 || errOut != "" {
				t.Fatalf("exit code %d, stderr %q", code, errOut)
			}
			checkGolden(t, name, masked(out))
			checkLayout(t, out)
		})
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// checkLayout: it fits a terminal, and nothing trails.
func checkLayout(t *testing.T, out string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) > 64 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 100 || strings.TrimRight(line, " ") != line {
			t.Errorf("not laid out well: %q", line)
		}
	}
}

// Who finishes first has no influence: many runs, one output.
func TestOutputIsAFunctionOfTheFlags(t *testing.T) {
	want := ""
	for range 5 {
		_, out, _ := called(t, "-nodes", "40", "-workloads", "800", "-seed", "9")
		if want == "" {
			want = masked(out)
		}
		if got := masked(out); got != want {
			t.Fatalf("got\n%s\nafter\n%s", got, want)
		}
	}
	if _, out, _ := called(t, "-nodes", "40", "-workloads", "800", "-seed", "10"); masked(out) == want {
		t.Error("the seed changes nothing")
	}
}

func TestVerboseLogs(t *testing.T) {
	code, out, errOut := called(t, "-nodes", "20", "-workloads", "500", "-v")
	if code != 0 || !strings.Contains(out, "placed") {
		t.Errorf("exit code %d, got\n%s", code, out)
	}
	for _, want := range []string{"[INFO]", "bound: workload=api-", "rejected: workload="} {
		if !strings.Contains(errOut, want) {
			t.Errorf("the log does not have %q", want)
		}
	}
}

func TestMistakes(t *testing.T) {
	code, out, errOut := called(t, "-nodes", "0", "-workloads", "-3", "rest")
	const want = "quickstart: unexpected argument \"rest\"; -nodes is 0: at least one is needed; " +
		"-workloads is -3: at least one is needed; see quickstart -help\n"
	if code != 2 || out != "" || errOut != want {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errOut)
	}
	if code, _, errOut := called(t, "-colour"); code != 2 || !strings.Contains(errOut, "-colour") {
		t.Errorf("exit code %d, stderr %q", code, errOut)
	}
}

func TestHelp(t *testing.T) {
	code, out, errOut := called(t, "-help")
	if code != 0 || errOut != "" || !strings.Contains(out, "-workloads") {
		t.Errorf("exit code %d, stderr %q, got\n%s", code, errOut, out)
	}
}

// An interrupt ends the run, and the exit code tells.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errOut strings.Builder
	if code := command(ctx, nil, &out, &errOut); code != 1 || !strings.Contains(errOut.String(), "canceled") {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestABrokenOutputIsReported(t *testing.T) {
	var errOut strings.Builder
	code := command(t.Context(), []string{"-nodes", "5", "-workloads", "5"}, brokenWriter{}, &errOut)
	if code != 1 || errOut.String() != "quickstart: broken\n" {
		t.Errorf("exit code %d, stderr %q", code, errOut.String())
	}
}
