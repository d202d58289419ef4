package subject

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/engine"
)

// Tape writes down a history: what the engine is told, and what the reference
// decided. Each entry is a line of JSON, a [Line].
type Tape struct {
	TapeConfig

	lines []string
	cycle time.Time // when the last cycle was
	at    int       // how many lines there were then
}

// TapeConfig is what the profile of a case has beside its defaults.
type TapeConfig struct {
	PercentageOfNodesToScore *int32
	// Without are the plugins that are left out.
	Without []string
	// Placements are scores that tell equal placements of groups apart, by name;
	// nil: nothing does.
	Placements map[string]int64
}

// Line is one entry of a tape: a time and one of the others.
type Line struct {
	At time.Time
	// Apply are changes that are made together.
	Apply []engine.Change `json:",omitempty"`
	// Tick: what is due is done.
	Tick bool `json:",omitempty"`
	// Schedule is a cycle, its evictions and its binding, and what it comes to.
	Schedule *answer.Decision `json:",omitempty"`
}

// Apply writes down changes.
func (t *Tape) Apply(now time.Time, changes []engine.Change) { t.add(Line{At: now, Apply: changes}) }

// Tick writes down that what is due is done.
func (t *Tape) Tick(now time.Time) { t.add(Line{At: now, Tick: true}) }

// Begin notes that a cycle begins.
func (t *Tape) Begin(now time.Time) { t.cycle, t.at = now, len(t.lines) }

// Schedule writes down what the last cycle came to, before what has been done
// since.
func (t *Tape) Schedule(d answer.Decision) {
	t.lines = slices.Insert(t.lines, t.at, short(Line{At: t.cycle, Schedule: &d})+"\n")
}

// String is the history as it is so far.
func (t *Tape) String() string { return strings.Join(t.lines, "") }

// Tie returns the function, which writes down what it says from now on.
func (t *Tape) Tie(score func(placement string) int64) func(placement string) int64 {
	t.Placements = map[string]int64{}
	return func(placement string) int64 {
		t.Placements[placement] = score(placement)
		return t.Placements[placement]
	}
}

// Config is what the profile has beside its defaults, as a line of JSON.
func (t *Tape) Config() string {
	return fmt.Sprintln(short(t.TapeConfig))
}

func (t *Tape) add(l Line) { t.lines = append(t.lines, short(l)+"\n") }

// short is a value as JSON, as short as it can be; see prune.
func short(value any) string {
	text, err := json.Marshal(value)
	var plain any
	if err == nil {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		err = decoder.Decode(&plain)
	}
	if err == nil {
		text, err = json.Marshal(prune(plain))
	}
	if err != nil {
		panic(fmt.Sprintf("subject: %v", err))
	}
	return string(text)
}

// prune leaves out what a reader fills in by itself: nothing, zero, empty lists.
// An object stays even where nothing is in it, because a selector without
// requirements is not the same as none; and labels stay as they are, because an
// empty value is not the same as no label, and no volumes at most as no limit.
func prune(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if _, is := item.(map[string]any); is && (key == "Labels" || key == "NodeSelector") || key == "MaxVolumes" {
				continue
			}
			if item = prune(item); item == nil {
				delete(v, key)
			} else {
				v[key] = item
			}
		}
		return v
	case []any:
		for i := range v {
			if item := prune(v[i]); item != nil {
				v[i] = item
			}
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" || v == "0001-01-01T00:00:00Z" {
			return nil
		}
	case json.Number:
		if v == "0" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return value
}
