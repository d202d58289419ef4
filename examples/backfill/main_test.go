package main

import (
	"compress/gzip"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output to testdata instead of comparing it")

// called is the program as a shell sees it.
func called(args ...string) (code int, out, errOut string) {
	var o, e strings.Builder
	code = command(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// output is what the program prints when nothing is wrong.
func output(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := called(args...)
	if code != 0 || errOut != "" {
		t.Fatalf("%v: exit code %d, stderr\n%s", args, code, errOut)
	}
	return out
}

// The demo: the program without arguments.
func TestDemo(t *testing.T) {
	const golden = "testdata/output.txt"
	got := output(t)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s\n(go test -update writes it, if that is how it should be)", got, want)
	}
}

// The small log of the tests: 4 processors. Job 3 waits for job 1 to end, and job 4 may
// start before it: on the one processor that job 3 will leave.
const small = `; MaxProcs: 4
1 0 -1 4 3 -1 -1 3 6 -1 1 1 1 1 1 1 -1 -1
3 1 -1 2 3 -1 -1 3 2 -1 1 1 1 1 1 1 -1 -1
4 2 -1 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1
`

// write makes a file in a folder of its own and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const (
	smallJobs = `{"job":1,"wait":0,"backfilled":false}
{"job":3,"wait":3,"backfilled":false}
{"job":4,"wait":0,"backfilled":true}
`
	// (1 + 1 + 1) / 3; 3 / 3; (3*4 + 3*2 + 1*9) / (4 * 11)
	smallSummary = `{"backfill":"easy","jobs":3,"left_out":0,"average_bounded_slowdown":1,"mean_wait":1,"utilisation":0.6136363636363636,"backfilled":1}
`
)

// The exact form of the lines, in file order.
func TestJSON(t *testing.T) {
	for _, file := range []string{write(t, "small.swf", small), write(t, "small.swf.gz", zipped(t, small))} {
		if got := output(t, "-swf", file, "-backfill", "easy", "-format", "json"); got != smallJobs+smallSummary {
			t.Errorf("%s: got\n%s", file, got)
		}
	}
}

// With -out the lines of the jobs go to the file, and the summary stays.
func TestOut(t *testing.T) {
	out := filepath.Join(t.TempDir(), "waits.jsonl")
	got := output(t, "-swf", write(t, "small.swf", small), "-backfill", "easy", "-format", "json", "-out", out)
	lines, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if string(lines) != smallJobs || got != smallSummary {
		t.Errorf("got\n%s, in the file\n%s", got, lines)
	}
}

// Job 4 ends after job 3 is to start, which needs all of the 3 processors that there are
// now: nobody overtakes.
func TestEstimatesAndProcs(t *testing.T) {
	file := write(t, "small.swf", small)
	got := output(t, "-swf", file, "-procs", "3", "-estimates", "perfect", "-backfill", "easy", "-format", "json")
	const want = `{"job":1,"wait":0,"backfilled":false}
{"job":3,"wait":3,"backfilled":false}
{"job":4,"wait":4,"backfilled":false}
`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

// An order of the program's own, over windows that are runs of their own. In the
// second one job 3 is the first, and job 4 is not before anything.
func TestPriority(t *testing.T) {
	got := output(t, "-swf", write(t, "small.swf", small), "-priority", "sjf", "-backfill", "none",
		"-window", "2", "-starts", "0,1", "-format", "json")
	const want = `{"window":0,"job":1,"wait":0,"backfilled":false}
{"window":0,"job":3,"wait":3,"backfilled":false}
{"window":1,"job":3,"wait":0,"backfilled":false}
{"window":1,"job":4,"wait":0,"backfilled":false}
{"priority":"sjf","backfill":"none","jobs":4,`
	if !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestTable(t *testing.T) {
	const unknown = "5 3 -1 -1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
	got := output(t, "-swf", write(t, "small.swf", small+unknown), "-backfill", "k=2")
	const want = `3 jobs on 4 processors; 1 of the log say too little and are left out

| backfill | average bounded slowdown | mean wait (s) | utilisation | backfilled |
| --- | --- | --- | --- | --- |
| k=2 | 1.0000 | 1.0 | 61.36 % | 1 |
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestHelp(t *testing.T) {
	code, out, errOut := called("-help")
	if code != 0 || errOut != "" || !strings.Contains(out, "-estimates") {
		t.Errorf("exit code %d, stderr %q, got\n%s", code, errOut, out)
	}
}

// Every mistake in the arguments is in the one message.
func TestMistakes(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{
			[]string{"-procs", "0", "-estimates", "mine", "-priority", "lifo", "-backfill", "k=0", "-window", "-1", "-starts", "1,x,-2,99999999999999999999", "-format", "xml", "rest"},
			`backfill: wrong arguments
  unexpected argument "rest"
  -procs: 0 is not in [1, 16777216]
  -estimates: "mine" is neither user nor perfect
  -priority: "lifo" is none of fcfs, sjf, f1, wfp3, unicep
  -backfill: "k=0" is neither none, easy, easy-sjf, conservative nor k=N with N from 1
  -window: -1 is negative
  -starts: "x" is not a whole number
  -starts: -2 is negative
  -starts: 99999999999999999999 is out of range
  -format: "xml" is neither text nor json
See backfill -help.
`,
		},
		{[]string{"-priority", "fcfs", "-backfill", "conservative"}, "backfill: -backfill: with -priority it is none or easy, not conservative\nSee backfill -help.\n"},
		{[]string{"-window", "3"}, "backfill: -window and -starts need -priority\nSee backfill -help.\n"},
		{[]string{"-format", "json"}, "backfill: -format json needs -backfill\nSee backfill -help.\n"},
		{[]string{"-out", "x"}, "backfill: -out needs -format json\nSee backfill -help.\n"},
		{[]string{"-starts", "", "-colour"}, `backfill: wrong arguments
  flag provided but not defined: -colour
  -starts: "" is not a whole number
  -window and -starts need -priority
See backfill -help.
`},
	}
	for _, test := range tests {
		code, out, errOut := called(test.args...)
		if code != 2 || out != "" || errOut != test.want {
			t.Errorf("%v: exit code %d, stdout %q, stderr\n%s", test.args, code, out, errOut)
		}
	}
}

// What is wrong with a log, or with what is wanted of it.
func TestBadLogs(t *testing.T) {
	good := write(t, "small.swf", small)
	none := write(t, "none.swf", strings.TrimPrefix(small, "; MaxProcs: 4\n"))
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-swf", write(t, "bad.swf", small+"5 x\n3 1 -1 2 3 -1 -1 3 2 -1 1 1 1 1 1 1 -1 -1\n")}, `backfill: malformed log
  bad.swf:5: 2 fields, want 18
  bad.swf:6: job 3 is already on line 3
`},
		{[]string{"-swf", none}, "backfill: the header of " + none + " does not say how many processors the machine has: say it with -procs\n"},
		{[]string{"-swf", good, "-procs", "2"}, `backfill: job 1: larger than the machine: it needs 3 processors, there are 2
job 3: larger than the machine: it needs 3 processors, there are 2
`},
		{[]string{"-swf", good, "-priority", "f1", "-window", "3", "-starts", "0,1,3"}, `backfill: -starts: the window from 1 does not end within the 3 jobs of the log
-starts: the window from 3 does not end within the 3 jobs of the log
`},
		{[]string{"-swf", good, "-backfill", "none", "-format", "json", "-out", filepath.Join(good, "x")},
			"backfill: write the jobs' lines: open " + filepath.Join(good, "x") + ": not a directory\n"},
		{[]string{"-swf", "no.swf"}, "backfill: read log: open no.swf: no such file or directory\n"},
	}
	for _, test := range tests {
		code, out, errOut := called(test.args...)
		if code != 1 || out != "" || errOut != test.want {
			t.Errorf("%v: exit code %d, stdout %q, stderr\n%s", test.args, code, out, errOut)
		}
	}
}

// A run that is interrupted says so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{nil, {"-priority", "fcfs"}} {
		var out, errOut strings.Builder
		code := command(ctx, args, &out, &errOut)
		if code != 1 || out.Len() > 0 || !strings.Contains(errOut.String(), "context canceled") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, out.String(), errOut.String())
		}
	}
}
