package decisionlevel

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/words"
)

// Of each recorded message the engine's own words, which the engine's test expects of
// it, are rendered as kube-scheduler's bytes.
func TestRecordedWords(t *testing.T) {
	files, err := filepath.Glob("../../../../../engine/testdata/parity/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	messages, differ := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, history, _ := strings.Cut(string(text), "-- history --\n")
		for n, text := range strings.Split(strings.TrimSpace(history), "\n") {
			var line subject.Line
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatalf("%s, line %d: %v", file, n+1, err)
			}
			if line.Schedule == nil {
				continue
			}
			for _, d := range append([]answer.Decision{*line.Schedule}, line.Schedule.Members...) {
				neutral := d.Message
				if d.Neutral != "" {
					neutral = d.Neutral
					differ++
				}
				if messages++; words.Text(neutral) != d.Message {
					t.Errorf("%s, line %d: %q becomes %q, want %q", file, n+1, neutral, words.Text(neutral), d.Message)
				}
			}
		}
	}
	if messages == 0 || differ == 0 {
		t.Errorf("of %d messages %d differ", messages, differ)
	}
}
