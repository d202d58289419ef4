package engine_test

import (
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/transcript"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/cycle")

// TestTranscripts plays the dialogues in testdata/cycle; the verbs are explained
// in package transcript. With -update the answers are rewritten. Look at the
// diff, and commit it only if you understand what caused it.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cycle/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			transcript.Run(t, file, *update)
		})
	}
}

// stages are the words of a workload's journey that are events.
var stages = []string{
	"submitted", "gated", "enqueued", "popped", "filtered", "scored", "selected", "reserved", "waiting", "permitted",
	"bound", "confirmed", "rejected",
}

// TestStagesAreEvents wants the same word for each stage in the Listener and in
// the transcripts.
func TestStagesAreEvents(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	files, err := filepath.Glob("testdata/cycle/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			said[word] = true
		}
	}
	listener := reflect.TypeFor[engine.Listener]()
	for _, stage := range stages {
		_, ok := listener.FieldByName(strings.ToUpper(stage[:1]) + stage[1:])
		require.True(t, ok, "stage %s is no field of Listener", stage)
		require.True(t, said[stage], "stage %s is in no transcript", stage)
	}
	for i := range listener.NumField() {
		if _, timed := listener.Field(i).Type.In(0).FieldByName("At"); !timed {
			continue // it is measured, and no stage
		}
		require.True(t, said[strings.ToLower(listener.Field(i).Name)], "event %s is in no transcript", listener.Field(i).Name)
	}
}

// scores is a heap with the highest score on top, as kube-scheduler 1.37.1 keeps
// its scored nodes (framework/sorted_nodes.go).
type scores []scored

type scored struct{ node, score int }

func (s scores) Len() int           { return len(s) }
func (s scores) Less(i, j int) bool { return s[i].score > s[j].score }
func (s scores) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *scores) Push(x any)        { *s = append(*s, x.(scored)) }
func (s *scores) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1]
	return last
}

// TestTieBreakHeap compares the engine's choice among 2 to 10 nodes with what
// container/heap gives: for every set of best nodes, and for random scores.
func TestTieBreakHeap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for n := 2; n <= 10; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var commands strings.Builder
			var want []string
			commands.WriteString("profile main S:score\n")
			for i := range n {
				fmt.Fprintf(&commands, "node n%d\n", i)
			}
			try := func(score func(i int) int) {
				h := make(scores, n)
				for i := range h {
					h[i] = scored{i, score(i)}
					fmt.Fprintf(&commands, "plugin S score n%d => %d\n", i, h[i].score)
				}
				id := fmt.Sprint("w", len(want))
				fmt.Fprintf(&commands, "submit %s\nschedule\n", id)
				heap.Init(&h)
				want = append(want, fmt.Sprintf("selected %s: n%d", id, heap.Pop(&h).(scored).node))
			}
			for set := range 1 << min(n, 8) {
				try(func(i int) int { return set >> i & 1 })
			}
			for range 100 {
				try(func(int) int { return random.IntN(4) })
			}
			var got []string
			for line := range strings.Lines(transcript.Play(t, commands.String())) {
				if strings.HasPrefix(line, "selected") {
					line, _, _ = strings.Cut(strings.TrimSpace(line), " of ")
					got = append(got, line)
				}
			}
			require.Equal(t, want, got)
		})
	}
}
