package trace_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// runWith is a run with this allocation at 100 %.
func runWith(policy trace.Policy, seed int64, allocation float64) trace.Run {
	r := trace.Run{Policy: policy, Seed: seed}
	r.Allocation[trace.Full] = allocation
	return r
}

func TestWriteJSON(t *testing.T) {
	run := runWith(trace.FGD, 42, 95.27)
	run.Pods = 10866
	run.Allocation[0], run.Fragmentation[0] = math.NaN(), 13.75
	var out strings.Builder
	if err := trace.WriteJSON(&out, run, run); err != nil {
		t.Fatal(err)
	}
	line := `{"policy":"fgd","seed":42,"pods":10866,` +
		`"allocation":[null` + strings.Repeat(",0", 99) + `,95.27` + strings.Repeat(",0", 30) + `],` +
		`"fragmentation":[13.75` + strings.Repeat(",0", 130) + "]}\n"
	if out.String() != line+line {
		t.Errorf("got  %swant %s", out.String(), line+line)
	}
}

func TestRunSurvivesJSON(t *testing.T) {
	want := runWith(trace.BestFit, 7, 1./3)
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got trace.Run
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestSeriesJSON(t *testing.T) {
	var s trace.Series
	if err := json.Unmarshal([]byte("[null"+strings.Repeat(",1", 130)+"]"), &s); err != nil {
		t.Fatal(err)
	}
	if !math.IsNaN(s[0]) || s[1] != 1 {
		t.Errorf("got %v", s)
	}
	for _, malformed := range []string{"[1,2]", `"x"`} {
		if err := json.Unmarshal([]byte(malformed), &s); err == nil {
			t.Errorf("%s is taken for a series", malformed)
		}
	}
}

func TestSummary(t *testing.T) {
	runs := []trace.Run{
		runWith(trace.FGD, 42, 94), runWith(trace.FGD, 43, 96), runWith(trace.FGD, 44, math.NaN()),
		runWith(trace.BestFit, 42, 90),
	}
	for policy, want := range map[trace.Policy]string{
		trace.FGD:     "95.00 ± 1.41",
		trace.BestFit: "90.00",
		trace.Random:  "-",
	} {
		if got := trace.Summarize(runs, policy).String(); got != want {
			t.Errorf("%s: got %s, want %s", policy, got, want)
		}
	}
}

func TestWriteTable(t *testing.T) {
	var out strings.Builder
	runs := []trace.Run{
		runWith(trace.FGD, 42, 94), runWith(trace.FGD, 43, 96),
		runWith(trace.Random, 42, 80), runWith(trace.Random, 43, math.NaN()),
	}
	if err := trace.WriteTable(&out, "small", runs); err != nil {
		t.Fatal(err)
	}
	const want = `GPU allocation, % of capacity, when the arrived demand is 100 % of it.
Mean ± standard deviation over the seeds; ties go to the smallest node rank.

| trace | Random | FGD |
| --- | --- | --- |
| small | 80.00 | 95.00 ± 1.41 |
`
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	for i := range runs {
		runs[i].Bound = float64(runs[i].Seed) + 50
	}
	out.Reset()
	if err := trace.WriteTable(&out, "small", runs); err != nil {
		t.Fatal(err)
	}
	const bounded = "| trace | Random | FGD | upper bound |\n| --- | --- | --- | --- |\n| small | 80.00 | 95.00 ± 1.41 | 92.50 ± 0.71 |\n"
	if !strings.HasSuffix(out.String(), bounded) {
		t.Errorf("got\n%s", out.String())
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWritersReturnTheError(t *testing.T) {
	if err := trace.WriteJSON(brokenWriter{}, trace.Run{}); !errors.Is(err, errBroken) {
		t.Errorf("JSON: %v", err)
	}
	if err := trace.WriteTable(brokenWriter{}, "", nil); !errors.Is(err, errBroken) {
		t.Errorf("table: %v", err)
	}
}

func TestParsePolicy(t *testing.T) {
	for _, want := range trace.Policies() {
		if got, err := trace.ParsePolicy(string(want)); got != want || err != nil {
			t.Errorf("%s: %s, %v", want, got, err)
		}
		if want.Title() == "" {
			t.Errorf("%s has no title", want)
		}
	}
	if _, err := trace.ParsePolicy("FGD"); err == nil {
		t.Error("names are in lower case")
	}
}
