package extpointstest

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
)

// Suite says which plugin to test and how.
type Suite struct {
	// Name is what the plugin must be called.
	Name string
	// Factory makes it from Args and a handle: [extpoints.FactoryOf] its New.
	Factory extpoints.Factory
	Args    any // nil: the zero value, as FactoryOf has it
	// Handle makes the handle of each plugin value. Default: [NewHandle].
	Handle func() extpoints.Handle
	// Situations are tried besides random ones.
	Situations []*Situation
	// Groups are tried at the points of groups, besides random ones.
	Groups []*GroupSituation
	// Random makes a random situation. Default: [RandomSituation].
	Random func(r *rand.Rand) *Situation
	// Change makes a random change; nil for none. Default: [RandomChange], which knows of no labels but its
	// own. Besides, nodes and workloads take over the labels of others that Random makes.
	Change func(r *rand.Rand, s *Situation) *Changed
	// Rounds is the number of random situations. Default: 300.
	Rounds int
	// Without leaves out parts of the contract, by their name in the output
	// of a verbose test, each with the reason why the plugin need not keep it.
	Without map[string]string
	// OneSided names parts in which the plugin never gives one of its answers in these situations,
	// each with the reason: PreEnqueue and Filter, which accept and reject, Score, which tells
	// nodes apart, and Hints, where a change makes acceptable what was rejected. Elsewhere that is a
	// failure, since the part has proved little then.
	OneSided map[string]string
}

// trial is a plugin being tried.
type trial struct {
	suite    Suite
	plugin   extpoints.Plugin
	random   *rand.Rand
	problems []string
	notes    []string
}

// failf reports a problem in a situation; nil where it is in none.
func (tr *trial) failf(s fmt.Stringer, format string, args ...any) {
	problem := fmt.Sprintf(format, args...)
	if s != nil {
		problem += "\n" + s.String()
	}
	tr.problems = append(tr.problems, problem)
}

func (tr *trial) notef(format string, args ...any) {
	tr.notes = append(tr.notes, fmt.Sprintf(format, args...))
}

// given is an answer that a point can give, and how often the plugin gave it.
type given struct {
	what  string
	times int
}

// mustGive requires that each of the answers was given, unless the suite says why not.
func (tr *trial) mustGive(part string, answers ...given) {
	for _, a := range answers {
		tr.notef("%s %s %d times", part, a.what, a.times)
		if a.times == 0 && tr.suite.OneSided[part] == "" && len(tr.problems) == 0 {
			tr.failf(nil, "%s never %s: give the suite situations in which it does (Random or Situations; for hints also Change), or say in OneSided why there are none", part, a.what)
		}
	}
}

// each calls f for the situations that were given and for random ones.
func (tr *trial) each(f func(s *Situation)) {
	random := func() *Situation { return tr.suite.Random(tr.random) }
	tryEach(tr, "a node or a workload", tr.suite.Situations, random, f)
}

// eachGroup is each for the points of groups.
func (tr *trial) eachGroup(f func(s *GroupSituation)) {
	random := func() *GroupSituation { return RandomGroupSituation(tr.random) }
	tryEach(tr, "a node, a group or a workload", tr.suite.Groups, random, f)
}

// tryEach calls f for the given and for random situations, until there are enough
// problems, and looks whether it changed what it should not.
func tryEach[S fmt.Stringer](tr *trial, what string, given []S, random func() S, f func(S)) {
	try := func(s S) bool {
		before := fingerprint(s)
		func() {
			defer tr.recovered(s)
			f(s)
		}()
		if fingerprint(s) != before {
			tr.failf(s, "%s was changed", what)
		}
		return len(tr.problems) < maxProblems
	}
	for _, s := range given {
		if !try(s) {
			return
		}
	}
	for range tr.suite.Rounds {
		if !try(random()) {
			return
		}
	}
}

// allowed reports a status whose code is not among the codes, or that rejects without a
// reason, which would leave a user without one; who could not make room adds none to what
// the filters said. Every method of a status, nil or not, is
// called on the way.
func (tr *trial) allowed(s fmt.Stringer, point string, status *extpoints.Status, codes ...extpoints.Code) bool {
	_, _, _ = status.String(), status.AsError(), status.WithPlugin(tr.suite.Name)
	if slices.Contains(codes, status.Code()) {
		if status.IsRejected() && !strings.HasSuffix(point, "PostFilter") && strings.Join(status.Reasons(), "") == "" {
			tr.failf(s, "%s says %v without a reason", point, status.Code())
			return false
		}
		return true
	}
	tr.failf(s, "%s says %v, which it may not", point, status)
	return false
}

// The rejections.
var rejections = []extpoints.Code{extpoints.Unschedulable, extpoints.UnschedulableAndUnresolvable, extpoints.Pending}

// orRejected is the codes and the rejections.
func orRejected(codes ...extpoints.Code) []extpoints.Code { return append(codes, rejections...) }

// maxProblems is how many problems of one part are worth reading.
const maxProblems = 3

// recovered reports a panic; it must be deferred.
func (tr *trial) recovered(s fmt.Stringer) {
	if what := recover(); what != nil {
		tr.failf(s, "plugin %s panics: %v\n%s", tr.suite.Name, what, debug.Stack())
	}
}
