package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/podtopologyspread"
)

// TestRecordedDecisions replays histories that the real kube-scheduler has gone
// through (testdata/parity, written by adapters/kubernetes/parity) and expects
// its decisions: who is next, the node, how many nodes were looked at and would
// do, the message byte for byte, who rejected it, who is displaced, and the
// nomination.
//
// A difference here means that the engine decides differently from before. If
// that is right, adapters/kubernetes/parity must say so too: record the files
// anew, and understand every line that changes.
func TestRecordedDecisions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/parity/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			r := newReferenceRun(t, section(t, string(text), "config"))
			lines := json.NewDecoder(strings.NewReader(section(t, string(text), "history")))
			for n := 1; r.line(t, lines, n); n++ {
			}
		})
	}
}

// section is the part of the text behind the line "-- name --" and before the
// next such line (golang.org/x/tools/txtar).
func section(t *testing.T, text, name string) string {
	_, rest, found := strings.Cut(text, "\n-- "+name+" --\n")
	require.True(t, found, "there is no section %s", name)
	if end := strings.Index(rest, "\n-- "); end >= 0 {
		return rest[:end+1]
	}
	return rest
}

// referenceLine is one line of a history: a time and one of the others.
type referenceLine struct {
	At       time.Time
	Apply    []engine.Change
	Tick     bool
	Schedule *referenceDecision
}

type referenceDecision struct {
	Workload            string
	Node                string
	Evaluated, Feasible int
	Message             string
	Plugins             []string
	Nominated           string
	Victims             []string
}

// referenceRun is an engine that goes through a history.
type referenceRun struct {
	raw      *engine.Raw
	decision referenceDecision // of the last cycle
}

func newReferenceRun(t *testing.T, config string) *referenceRun {
	r := &referenceRun{}
	profile := plugins.DefaultProfile()
	strictly(t, json.NewDecoder(strings.NewReader(config)), &profile.PercentageOfNodesToScore)
	profile.Args = map[string]any{
		plugins.InterPodAffinity:  interpodaffinity.Args{ReferenceHints: true},
		plugins.PodTopologySpread: podtopologyspread.Args{ReferenceHints: true},
	}
	d := &r.decision
	var err error
	r.raw, err = engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Registry: plugins.Default(), Orchestrator: &world{}, ReferenceWakeUps: true,
		Listener: engine.Listener{
			Popped:   func(e engine.PoppedEvent) { *d = referenceDecision{Workload: e.Workload.ID} },
			Filtered: func(e engine.FilteredEvent) { d.Evaluated, d.Feasible = e.Evaluated, e.Feasible },
			Selected: func(e engine.SelectedEvent) { d.Node = e.Node },
			Rejected: func(e engine.RejectedEvent) {
				*d = referenceDecision{Workload: d.Workload, Message: e.Message, Plugins: e.Plugins, Nominated: e.Nominated, Victims: d.Victims}
			},
			Evicting: func(e engine.EvictingEvent) { d.Victims = append(d.Victims, e.Workload.ID) },
			Failed:   func(e engine.FailedEvent) { t.Errorf("failure: %v", e.Err) },
		},
	})
	require.NoError(t, err)
	return r
}

// strictly decodes what must be {"PercentageOfNodesToScore": ...} or {}.
func strictly(t *testing.T, config *json.Decoder, percentage **int32) {
	config.DisallowUnknownFields()
	fields := struct{ PercentageOfNodesToScore **int32 }{percentage}
	require.NoError(t, config.Decode(&fields))
}

// line does what the next line says; false where there is none.
func (r *referenceRun) line(t *testing.T, lines *json.Decoder, n int) bool {
	lines.DisallowUnknownFields()
	var l referenceLine
	err := lines.Decode(&l)
	if errors.Is(err, io.EOF) {
		return false
	}
	require.NoError(t, err, "line %d", n)
	switch {
	case l.Apply != nil:
		require.NoError(t, r.raw.Apply(l.At, l.Apply...), "line %d", n)
	case l.Tick:
		r.raw.Tick(l.At)
	default:
		require.True(t, r.raw.Schedule(l.At), "line %d: nothing waits", n)
		for task := r.raw.NextTask(); task != nil; task = r.raw.NextTask() {
			task.Run(context.Background())
			r.raw.Finish(l.At, task)
		}
		require.Equal(t, inJSON(t, l.Schedule), inJSON(t, &r.decision), "line %d", n)
	}
	return true
}

// inJSON shows a decision with one field on each line.
func inJSON(t *testing.T, d *referenceDecision) string {
	text, err := json.Marshal(d)
	require.NoError(t, err)
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, text, "", " "))
	return indented.String()
}
