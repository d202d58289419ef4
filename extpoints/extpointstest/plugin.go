package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model/modeltest"
)

// TestPlugin proves that the plugin keeps the contract of package extpoints; see
// the package comment.
func TestPlugin(t *testing.T, s Suite) {
	t.Helper()
	seed := modeltest.Seed(t)
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			if reason := s.Without[part.name]; reason != "" {
				t.Skip(reason)
			}
			tr, err := newTrial(s, seed)
			if err != nil {
				t.Fatal(err)
			}
			tr.run(part.try)
			for _, problem := range tr.problems {
				t.Error(problem)
			}
			if len(tr.problems) > 0 {
				t.Logf("BERTH_SEED=%d", seed)
			}
			for _, note := range tr.notes {
				t.Log(note)
			}
		})
	}
}

// parts are the parts of the contract. Each is tried with a plugin of its own.
var parts = []struct {
	name string
	try  func(*trial)
}{
	{"Factory", tryFactory},
	{"PreEnqueue", tryPreEnqueue},
	{"QueueSort", tryQueueSort},
	{"Filter", tryFilter},
	{"Extensions", tryExtensions},
	{"Score", tryScore},
	{"PostFilter", tryPostFilter},
	{"Reserve", tryReserve},
	{"Binding", tryBinding},
	{"Sign", trySign},
	{"NodeLocal", tryNodeLocal},
	{"Slots", trySlots},
	{"Hints", tryHints},
	{"PlacementGenerate", tryPlacementGenerate},
	{"PlacementFeasible", tryPlacementFeasible},
	{"PlacementScore", tryPlacementScore},
	{"GroupPostFilter", tryGroupPostFilter},
}

func newTrial(s Suite, seed uint64) (*trial, error) {
	if s.Handle == nil {
		s.Handle = func() extpoints.Handle { return NewHandle() }
	}
	if s.Random == nil {
		s.Random = RandomSituation
	}
	if s.Change == nil {
		s.Change = RandomChange
	}
	if s.Rounds == 0 {
		s.Rounds = 300
	}
	plugin, err := s.Factory(s.Args, s.Handle())
	if err != nil {
		return nil, fmt.Errorf("making the plugin: %w", err)
	}
	return &trial{suite: s, plugin: plugin, random: rand.New(rand.NewPCG(seed, 0))}, nil
}

// run tries a part. A plugin that panics fails it, and does not end the test binary.
func (tr *trial) run(part func(*trial)) {
	defer tr.recovered(nil)
	part(tr)
}

func tryFactory(tr *trial) {
	if tr.suite.Name == "" {
		tr.failf(nil, "the suite does not say what the plugin must be called")
	}
	for _, err := range extpoints.CheckPlugin(tr.plugin) {
		tr.failf(nil, "%v", err)
	}
	if name := tr.plugin.Name(); name != tr.suite.Name || tr.plugin.Name() != name {
		tr.failf(nil, "the plugin is called %q (and then %q), not %q", name, tr.plugin.Name(), tr.suite.Name)
	}
	again, err := tr.suite.Factory(tr.suite.Args, tr.suite.Handle())
	if err != nil {
		tr.failf(nil, "making a second plugin: %v", err)
	} else if again.Name() != tr.suite.Name {
		tr.failf(nil, "the second plugin is called %q", again.Name())
	}
	type unheardOf struct{ NoSuchArgument int }
	if p, err := tr.suite.Factory(unheardOf{1}, tr.suite.Handle()); err == nil {
		tr.failf(nil, "the factory took arguments of a type that it cannot know")
	} else if p != nil {
		tr.failf(nil, "the factory gave an error and a plugin")
	}
}
