package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/adapters/kubernetes/internal/golden"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

// now is the time at which answers are shown.
var now = time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)

// shown is what is shown of an answer.
func shown(t *testing.T, file, output string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := &options{IOStreams: genericiooptions.IOStreams{Out: &out}, output: output, now: func() time.Time { return now }}
	var (
		x api.PodExplanation
		q api.Queue
		u api.QueueTree
		s api.Simulation
	)
	switch {
	case bytes.Contains(text, []byte(`"`+api.PodExplanationKind+`"`)):
		err = o.show(text, &x, api.PodExplanationKind, func(p *printer) { p.explanation(&x) })
	case bytes.Contains(text, []byte(`"`+api.QueueKind+`"`)):
		err = o.show(text, &q, api.QueueKind, func(p *printer) { p.queue(&q) })
	case bytes.Contains(text, []byte(`"`+api.QueueTreeKind+`"`)):
		err = o.show(text, &u, api.QueueTreeKind, func(p *printer) { p.queues(&u) })
	default:
		err = o.show(text, &s, api.SimulationKind, func(p *printer) { p.simulation(&s) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Answers of a real engine (those of package explain) and made-up ones with everything
// that can be in them.
func TestTables(t *testing.T) {
	real, err := filepath.Glob("../../explain/testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	madeUp, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(real) < 4 || len(madeUp) < 5 {
		t.Fatalf("there are %d and %d answers", len(real), len(madeUp))
	}
	for _, file := range append(real, madeUp...) {
		var got strings.Builder
		for _, output := range []string{outputTable, outputWide} {
			got.WriteString("# -o " + output + "\n" + shown(t, file, output) + "\n")
		}
		golden.Compare(t, filepath.Join("testdata", strings.TrimSuffix(filepath.Base(file), ".json")+".golden"), []byte(got.String()))
	}
}

// JSON and YAML are what the scheduler says, with what this version does not know.
func TestAnswersAsTheyAre(t *testing.T) {
	for output, want := range map[string]string{outputJSON: "\n    \"aFieldOfALaterVersion\": true\n}\n", outputYAML: "aFieldOfALaterVersion: true\napiVersion: "} {
		if got := shown(t, "testdata/mixed.json", output); !strings.Contains(got, want) {
			t.Errorf("-o %s shows\n%s", output, got)
		}
	}
}

func TestAnswersOfAnotherVersion(t *testing.T) {
	o := &options{output: outputJSON}
	for _, answer := range []string{`{"kind": "Queue", "apiVersion": "explain.berth/v2"}`, `{"kind": "Simulation", "apiVersion": "explain.berth/v1"}`, "{}", "ok"} {
		err := o.show([]byte(answer), &api.Queue{}, api.QueueKind, func(*printer) { t.Error("it is shown") })
		if err == nil || !strings.Contains(err.Error(), `it knows "Queue" of "explain.berth/v1"`) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
