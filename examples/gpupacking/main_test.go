package main

import (
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/openb"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// fixed is a simulator of a known answer.
func fixed(_ context.Context, _ *trace.Trace, policy trace.Policy, seed int64, _ int) (trace.Run, error) {
	r := trace.Run{Policy: policy, Seed: seed, Pods: 3}
	r.Allocation[trace.Full] = float64(seed)
	return r, nil
}

func output(t *testing.T, simulate simulator, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(context.Background(), args, &out, simulate); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// called is the program as a shell sees it.
func called(args ...string) (code int, out, errOut string) {
	var o, e strings.Builder
	code = command(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// The demo: the program without arguments.
func TestDemo(t *testing.T) {
	const want = `GPU allocation, % of capacity, when the arrived demand is 100 % of it.
Mean ± standard deviation over the seeds; ties go to the smallest node rank.

| trace | Random | DotProd | Clustering | Packing | BestFit | FGD | Rollout | Rollout, learned |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| generated | 86.50 ± 2.40 | 96.18 ± 0.87 | 96.28 ± 0.87 | 96.68 ± 0.95 | 98.28 ± 0.41 | 97.94 ± 0.76 | 98.84 ± 0.48 | 98.81 ± 0.46 |
`
	code, got, errOut := called()
	if code != 0 || errOut != "" || got != want {
		t.Errorf("exit code %d, stderr %q, got\n%s", code, errOut, got)
	}
}

func TestChosenPoliciesAndSeeds(t *testing.T) {
	got := output(t, fixed, "-policy", "fgd,random", "-seeds", "10,12,11")
	if !strings.HasSuffix(got, "| generated | 11.00 ± 1.00 | 11.00 ± 1.00 |\n") || !strings.Contains(got, "| Random | FGD |") {
		t.Errorf("got\n%s", got)
	}
}

// The exact form of a line, in the order of policies and seeds.
func TestJSONLines(t *testing.T) {
	line := func(policy, seed string) string {
		return `{"policy":"` + policy + `","seed":` + seed + `,"pods":3,` +
			`"allocation":[` + strings.Repeat("0,", 100) + seed + strings.Repeat(",0", 30) + `],` +
			`"fragmentation":[` + strings.Repeat("0,", 130) + "0]}\n"
	}
	got := output(t, fixed, "-format", "json", "-seeds", "43,-42", "-policy", "packing,fgd")
	want := line("packing", "43") + line("packing", "-42") + line("fgd", "43") + line("fgd", "-42")
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// The published run of FGD with seed 42 as a line of JSON.
func TestPublishedLine(t *testing.T) {
	if testing.Short() {
		t.Skip("a run takes a few seconds")
	}
	published := openb.Published(t)
	dir := filepath.Join(os.Getenv("BERTH_DATA"), "openb")
	code, out, errOut := called("-nodes", filepath.Join(dir, "openb_node_list_gpu_node.csv"),
		"-pods", filepath.Join(dir, "openb_pod_list_default.csv"), "-policy", "fgd", "-seeds", "42", "-format", "json")
	if code != 0 || errOut != "" {
		t.Fatalf("exit code %d, stderr %q", code, errOut)
	}
	key := openb.Key{List: "default", Policy: trace.FGD, Seed: 42}
	var want strings.Builder
	if err := trace.WriteJSON(&want, trace.Run{
		Policy: trace.FGD, Seed: 42, Pods: 10866,
		Allocation: published.Allocation[key], Fragmentation: published.Fragmentation[key],
	}); err != nil {
		t.Fatal(err)
	}
	if out != want.String() {
		t.Errorf("got  %swant %s", out, want.String())
	}
}

const (
	nodesCSV = "sn,cpu_milli,memory_mib,gpu,model\nn,64000,262144,100,A\n"
	podsCSV  = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,500\n"
)

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

// At 100 % count the steps from 99.5 to 100.5: the first is not full yet.
func TestFiles(t *testing.T) {
	for _, pods := range []string{write(t, "mine.csv", podsCSV), write(t, "mine.csv.gz", zipped(t, podsCSV))} {
		got := output(t, withEngine, "-nodes", write(t, "nodes.csv", nodesCSV), "-pods", pods, "-policy", "bestfit", "-seeds", "42")
		if !strings.HasSuffix(got, "| mine | 99.83 |\n") {
			t.Errorf("%s: got\n%s", pods, got)
		}
	}
}

func TestBound(t *testing.T) {
	// One GPU of 100 is taken by each pair of pods of half a GPU: all of the demand fits.
	args := []string{"-nodes", write(t, "nodes.csv", nodesCSV), "-pods", write(t, "mine.csv", podsCSV), "-policy", "fgd", "-seeds", "42,43", "-bound"}
	got := output(t, fixed, args...)
	if !strings.HasSuffix(got, "| trace | FGD | upper bound |\n| --- | --- | --- |\n| mine | 42.50 ± 0.71 | 100.00 ± 0.00 |\n") {
		t.Errorf("got\n%s", got)
	}
	if got := output(t, fixed, append(args, "-format", "json")...); strings.Count(got, `"bound":100`) != 2 {
		t.Errorf("got\n%s", got)
	}
}

func TestSVG(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.svg")
	output(t, fixed, "-svg", file, "-policy", "fgd,rollout")
	drawn, err := os.ReadFile(file)
	if err != nil || strings.Count(string(drawn), "<polyline") != 4 {
		t.Errorf("%v, drawn\n%s", err, drawn)
	}
	if code, _, errOut := called("-svg", filepath.Join(t.TempDir(), "no", "folder.svg"), "-policy", "bestfit", "-seeds", "1"); code != 1 || errOut == "" {
		t.Errorf("a file that cannot be written: exit code %d", code)
	}
}

func TestHelp(t *testing.T) {
	code, out, errOut := called("-help")
	if code != 0 || errOut != "" || !strings.Contains(out, "-policy") {
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
			[]string{"-policy", "fgd,best,fgd", "-seeds", "42,x,42,99999999999999999999", "-format", "xml", "-nodes", "n.csv", "rest"},
			`gpupacking: wrong arguments
  unexpected argument "rest"
  -nodes and -pods go together: only one of them is given
  -format: "xml" is neither table nor json
  -policy: "best" is none of random, dotprod, clustering, packing, bestfit, fgd, rollout, learned
  -policy: fgd is listed twice
  -seeds: "x" is not a whole number
  -seeds: 42 is listed twice
  -seeds: 99999999999999999999 is out of range
See gpupacking -help.
`,
		},
		{[]string{"-seeds", ""}, "gpupacking: -seeds: \"\" is not a whole number\nSee gpupacking -help.\n"},
		{[]string{"-policy", "fgd,"}, "gpupacking: -policy: \"\" is none of random, dotprod, clustering, packing, bestfit, fgd, rollout, learned\nSee gpupacking -help.\n"},
		{[]string{"-seeds", "x", "-colour"}, `gpupacking: wrong arguments
  flag provided but not defined: -colour
  -seeds: "x" is not a whole number
See gpupacking -help.
`},
	}
	for _, test := range tests {
		code, out, errOut := called(test.args...)
		if code != 2 || out != "" || errOut != test.want {
			t.Errorf("%v: exit code %d, stdout %q, stderr\n%s", test.args, code, out, errOut)
		}
	}
}

// Every mistake in both files is in the one message.
func TestMalformedFiles(t *testing.T) {
	nodes := write(t, "nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,-1,x,2,A\nn,1,1,1,A\n")
	pods := write(t, "pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,2,500\n,1,1\n")
	code, out, errOut := called("-nodes", nodes, "-pods", pods)
	const want = `gpupacking: trace: malformed input
  nodes.csv:2: cpu_milli: -1 is negative
  nodes.csv:2: memory_mib: "x" is not a whole number
  nodes.csv:3: sn: "n" is already on line 2
  pods.csv:2: num_gpu: 2 with a gpu_milli of 500: only one GPU can be shared
  pods.csv:3: 3 fields where the header has 5
`
	if code != 1 || out != "" || errOut != want {
		t.Errorf("exit code %d, stdout %q, stderr\n%s", code, out, errOut)
	}
}

func TestMissingFiles(t *testing.T) {
	code, _, errOut := called("-nodes", "no-nodes.csv", "-pods", "no-pods.csv")
	if code != 1 || !strings.Contains(errOut, "no-nodes.csv") || !strings.Contains(errOut, "no-pods.csv") {
		t.Errorf("exit code %d, stderr %q", code, errOut)
	}
}

func TestAFailedRunIsNamed(t *testing.T) {
	broken := errors.New("broken")
	simulate := func(_ context.Context, _ *trace.Trace, policy trace.Policy, seed int64, _ int) (trace.Run, error) {
		if policy == trace.Packing && seed == 44 {
			return trace.Run{}, broken
		}
		return trace.Run{}, nil
	}
	err := run(context.Background(), nil, &strings.Builder{}, simulate)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "packing, seed 44") {
		t.Errorf("got %v", err)
	}
}
