package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
)

// Suite says which plugin to test and how.
type Suite struct {
	// Name is what the plugin must be called.
	Name string
	// Factory makes it from Args and a handle.
	Factory extpoints.Factory
	Args    any
	// Handle makes the handle of each plugin value. Default: [NewHandle].
	Handle func() extpoints.Handle
	// Situations are tried besides random ones.
	Situations []*Situation
	// Groups are tried at the points of groups, besides random ones.
	Groups []*GroupSituation
	// Random makes a random situation. Default: [RandomSituation].
	Random func(r *rand.Rand) *Situation
	// Change makes a random change. Default: [RandomChange].
	Change func(r *rand.Rand, s *Situation) *Changed
	// Rounds is the number of random situations. Default: 300.
	Rounds int
	// Without leaves out parts of the contract, by their name in the output
	// of a verbose test, each with the reason why the plugin need not keep it.
	Without map[string]string
}

// TestPlugin proves that the plugin keeps the contract of package extpoints; see
// the package comment.
func TestPlugin(t *testing.T, s Suite) {
	t.Helper()
	seed := seed(t)
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			if reason := s.Without[part.name]; reason != "" {
				t.Skip(reason)
			}
			tr, err := newTrial(s, seed)
			if err != nil {
				t.Fatal(err)
			}
			part.try(tr)
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

// seed is BERTH_SEED, or else drawn from the clock.
func seed(t *testing.T) uint64 {
	text := os.Getenv("BERTH_SEED")
	if text == "" {
		return uint64(time.Now().UnixNano())
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("BERTH_SEED: %v", err)
	}
	return n
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
	{"Hints", tryHints},
	{"PlacementGenerate", tryPlacementGenerate},
	{"PlacementFeasible", tryPlacementFeasible},
	{"PlacementScore", tryPlacementScore},
	{"GroupPostFilter", tryGroupPostFilter},
}

// maxProblems is how many problems of one part are worth reading.
const maxProblems = 3

// trial is a plugin being tried.
type trial struct {
	suite    Suite
	plugin   extpoints.Plugin
	random   *rand.Rand
	problems []string
	notes    []string
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

func (tr *trial) failf(s *Situation, format string, args ...any) {
	problem := fmt.Sprintf(format, args...)
	if s != nil {
		problem += "\n" + s.String()
	}
	tr.problems = append(tr.problems, problem)
}

func (tr *trial) notef(format string, args ...any) {
	tr.notes = append(tr.notes, fmt.Sprintf(format, args...))
}

// each calls f for the given and the random situations, until there are enough
// problems, and looks whether it changed anything it should not.
func (tr *trial) each(f func(s *Situation)) {
	try := func(s *Situation) bool {
		before := fingerprint(s)
		f(s)
		if fingerprint(s) != before {
			tr.failf(s, "a node or a workload was changed")
		}
		return len(tr.problems) < maxProblems
	}
	for _, s := range tr.suite.Situations {
		if !try(s) {
			return
		}
	}
	for range tr.suite.Rounds {
		if !try(tr.suite.Random(tr.random)) {
			return
		}
	}
}

// allowed reports a status whose code is not among the codes. Every method of a
// status, nil or not, is called on the way.
func (tr *trial) allowed(s *Situation, point string, status *extpoints.Status, codes ...extpoints.Code) bool {
	_, _, _ = status.String(), status.AsError(), status.WithPlugin(tr.suite.Name)
	for _, c := range codes {
		if status.Code() == c {
			return true
		}
	}
	tr.failf(s, "%s says %v, which it may not", point, status)
	return false
}

// The rejections.
var rejections = []extpoints.Code{extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable, extpoints.Pending}

// orRejected is the codes and the rejections.
func orRejected(codes ...extpoints.Code) []extpoints.Code { return append(codes, rejections...) }

func tryFactory(tr *trial) {
	if tr.suite.Name == "" {
		tr.failf(nil, "the suite does not say what the plugin must be called")
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
