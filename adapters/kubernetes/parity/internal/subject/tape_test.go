package subject

import (
	"testing"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// A line is short, and loses nothing: an empty label stays, a selector without
// requirements is not none.
func TestTape(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC)
	var tape Tape
	tape.Apply(at, []engine.Change{engine.Submit(&model.Workload{ID: "a", Labels: map[string]string{"app": ""},
		Requests:      model.Resources{CPU: 1, Scalars: []model.Scalar{{Name: "x.io/y"}}},
		OwnerSelector: &model.Selector{}, Gates: []string{}})})
	tape.Tick(at)
	tape.Begin(at)
	tape.Schedule(answer.Decision{Workload: "a", Node: "n", Evaluated: 1})
	want := `{"Apply":[{"Submit":{"ID":"a","Labels":{"app":""},"OwnerSelector":{},"Requests":{"CPU":1,"Scalars":[{"Name":"x.io/y"}]}}}],"At":"2026-01-01T00:00:01Z"}
{"At":"2026-01-01T00:00:01Z","Tick":true}
{"At":"2026-01-01T00:00:01Z","Schedule":{"Evaluated":1,"Node":"n","Workload":"a"}}
`
	if got := tape.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := tape.Config(); got != "{}\n" {
		t.Errorf("config: %s", got)
	}
	tape.PercentageOfNodesToScore = new(int32(20))
	if got := tape.Config(); got != "{\"PercentageOfNodesToScore\":20}\n" {
		t.Errorf("config: %s", got)
	}
}
