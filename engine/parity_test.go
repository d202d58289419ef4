package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// TestRecordedDecisions replays histories that the real kube-scheduler has gone
// through (testdata/parity, written by adapters/kubernetes/parity) and expects
// its decisions: who is next, the node, how many nodes were looked at and would
// do, the message byte for byte, who rejected it, who is displaced, and the
// nomination. Where the engine words a message in another way than kube-scheduler,
// the recording has both, and adapters/kubernetes/parity proves that the one is
// rendered as the other.
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
	Message             string // as kube-scheduler words it
	Neutral             string // as the engine does, where that differs
	Plugins             []string
	Nominated           string
	Victims             []string
	Decided             []string            // about volumes, in words
	Members             []referenceDecision // of a group, by Workload
}

// referenceConfig is what the profile has beside its defaults.
type referenceConfig struct {
	PercentageOfNodesToScore *int32
	Without                  []string
	Placements               map[string]int64
}

// referenceRun is an engine that goes through a history.
type referenceRun struct {
	raw      *engine.Raw
	decision referenceDecision            // of the last cycle
	members  map[string]referenceDecision // in the cycle of a group
}

func newReferenceRun(t *testing.T, text string) *referenceRun {
	var config referenceConfig
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&config))
	profile := plugins.DefaultProfile()
	profile.PercentageOfNodesToScore = config.PercentageOfNodesToScore
	profile.Remove(config.Without...)
	if config.Placements != nil {
		tellPlacementsApart(&profile, config.Placements)
	}
	r := &referenceRun{}
	var err error
	r.raw, err = engine.NewRaw(engine.Config{
		Profiles: []extpoints.Profile{profile}, Orchestrator: &world{}, Compat: extpoints.KubeScheduler137, Listener: r.listener(t),
		FastPath: engine.FastPathVerify,
	})
	require.NoError(t, err)
	return r
}

// listener writes down what comes of a cycle.
func (r *referenceRun) listener(t *testing.T) engine.Listener {
	d := &r.decision
	return engine.Listener{
		Popped: func(e engine.PoppedEvent) {
			if e.Workload.Group == "" {
				*d = referenceDecision{Workload: e.Workload.ID}
			}
		},
		Filtered: func(e engine.FilteredEvent) { d.Evaluated, d.Feasible = e.Evaluated, e.Feasible },
		Selected: func(e engine.SelectedEvent) { d.Node = e.Node },
		Rejected: func(e engine.RejectedEvent) {
			said := referenceDecision{Workload: e.Workload.ID, Message: e.Message, Plugins: e.Plugins, Nominated: e.Nominated}
			if e.Workload.Group != "" {
				r.members[said.Workload] = said
				return
			}
			said.Victims = d.Victims
			*d = said
		},
		Bound: func(e engine.PlacedEvent) {
			d.Decided = append(d.Decided, aboutVolumes(e.Binding.Decided)...)
			if id := e.Workload.ID; e.Workload.Group != "" {
				r.members[id] = referenceDecision{Workload: id, Node: e.Binding.Node}
			}
		},
		Decided: func(e engine.GroupEvent) {
			if e.Group.Parent == "" {
				d.Workload = groupInWords(e.Group)
			}
		},
		Evicting: func(e engine.EvictingEvent) { d.Victims = append(d.Victims, e.Workload.ID) },
		Failed: func(e engine.FailedEvent) {
			if len(r.members) == 0 { // that members do not agree is one
				t.Errorf("failure: %v", e.Err)
			}
		},
	}
}

// groupInWords is a group as recordings name it: groups of groups have "composite"
// before their ID there, as adapters/kubernetes/convert gives it.
func groupInWords(g *model.Group) string {
	if g.Composite {
		return "compositepodgroup " + g.Namespace + "/" + g.Name
	}
	return "podgroup " + g.ID
}

// aboutVolumes says in words which volumes are for which claims.
func aboutVolumes(decided model.Objects) []string {
	var words []string
	for _, o := range decided {
		switch o := o.(type) {
		case *model.Volume:
			words = append(words, fmt.Sprintf("volume %s for claim %s", o.Name, o.Claim.ID))
		case *model.VolumeClaim:
			if o.SelectedNode != "" && o.Volume == "" {
				words = append(words, fmt.Sprintf("volume for claim %s on %s", o.ID, o.SelectedNode))
			}
		}
	}
	slices.Sort(words)
	return words
}

// tellPlacementsApart adds a plugin that decides between equal placements of a
// group, where kube-scheduler chooses at random; the others weigh far more.
func tellPlacementsApart(profile *extpoints.Profile, scores map[string]int64) {
	for _, name := range []string{plugins.NodeResourcesFit, plugins.PodGroupPodsCount} {
		profile.Plugins = append(profile.Plugins, extpoints.Entry{Name: name, Points: []extpoints.Point{"PlacementScore"}, Weight: 101})
	}
	extpoints.Use(profile, func(extpoints.NoArgs, extpoints.Handle) (byName, error) { return scores, nil }, extpoints.NoArgs{})
}

type byName map[string]int64

func (byName) Name() string { return "NoEqualPlacements" }

func (scores byName) ScorePlacement(_ *extpoints.CycleState, _ *extpoints.GroupInfo, a *extpoints.Assignments) (int64, *extpoints.Status) {
	return scores[a.Placement.Name], nil
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
		r.decision, r.members = referenceDecision{}, map[string]referenceDecision{}
		require.True(t, r.raw.Schedule(l.At), "line %d: nothing waits", n)
		for task := r.raw.NextTask(); task != nil; task = r.raw.NextTask() {
			task.Run(context.Background())
			r.raw.Finish(l.At, task)
		}
		require.Equal(t, inJSON(t, neutral(l.Schedule)), inJSON(t, r.outcome()), "line %d", n)
	}
	return true
}

// neutral is the decision in the words of the engine.
func neutral(d *referenceDecision) *referenceDecision {
	if d.Neutral != "" {
		d.Message, d.Neutral = d.Neutral, ""
	}
	for i := range d.Members {
		neutral(&d.Members[i])
	}
	return d
}

// outcome is what the cycle came to.
func (r *referenceRun) outcome() *referenceDecision {
	d := r.decision
	if len(r.members) > 0 {
		d = referenceDecision{Workload: d.Workload, Victims: d.Victims, Decided: d.Decided}
		for _, id := range slices.Sorted(maps.Keys(r.members)) {
			d.Members = append(d.Members, r.members[id])
		}
	}
	return &d
}

// inJSON shows a decision with one field on each line.
func inJSON(t *testing.T, d *referenceDecision) string {
	text, err := json.Marshal(d)
	require.NoError(t, err)
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, text, "", " "))
	return indented.String()
}
