package server

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// failed is what attempts have in common that never ran.
type failed struct {
	state   job.State
	code    int
	message string
}

// failedAs is what the attempt has in common with others; ok is false where it ran, or
// where nothing failed.
func failedAs(r *state.Record) (f failed, ok bool) {
	o := &r.Outcome
	switch {
	case !r.Started.IsZero() || o.Message == "":
		return f, false
	case o.State != job.Failed && o.State != job.BootFail && o.State != job.NodeFail:
		return f, false
	}
	f = failed{state: o.State, message: o.Message}
	if o.Exit != nil {
		f.code = o.Exit.Code
	}
	return f, true
}

// maxKinds is how many kinds of failures are counted of a job: users' paths may make
// each one different.
const maxKinds = 1000

// failures groups attempts that never ran, and say the same of why: those of two and
// more attempts, the most frequent first. The records are by element. Place is where a
// kind is, from 1.
func failures(records iter.Seq[*state.Record]) (list []api.Failure, place map[failed]int) {
	type group struct {
		kind     failed
		attempts int
		nodes    []string
		elements []int32
		exit     *api.Exit
	}
	groups := map[failed]*group{}
	var order []*group
	for r := range records {
		kind, ok := failedAs(r)
		if !ok {
			continue
		}
		g := groups[kind]
		if g == nil {
			if len(order) == maxKinds {
				continue
			}
			g = &group{kind: kind, exit: r.Outcome.Exit}
			groups[kind] = g
			order = append(order, g)
		}
		g.attempts++
		if n := len(g.elements); n == 0 || g.elements[n-1] != r.Element {
			g.elements = append(g.elements, r.Element)
		}
		if n := r.Node(); n != "" && len(g.nodes) < api.MaxNodesShown && !slices.Contains(g.nodes, n) {
			g.nodes = append(g.nodes, n)
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return cmp.Compare(b.attempts, a.attempts) })
	place = map[failed]int{}
	for _, g := range order {
		if g.attempts < 2 || len(list) == api.MaxFailuresShown {
			break
		}
		slices.Sort(g.nodes)
		list = append(list, api.Failure{
			State: g.kind.state, Exit: g.exit, Message: g.kind.message, Attempts: g.attempts,
			Elements: firstOf(job.IndexesOf(g.elements).String()), Nodes: g.nodes,
		})
		place[g.kind] = len(list)
	}
	return list, place
}

// maxElements is how long a list of elements may be, in bytes.
const maxElements = 1000

// firstOf is a list of elements, or the first of them.
func firstOf(elements string) string {
	if len(elements) <= maxElements {
		return elements
	}
	return elements[:strings.LastIndexByte(elements[:maxElements], ',')] + ",..."
}

// whyFailed says why what has ended did not complete, as far as is known. A node that
// is at fault is named.
func whyFailed(r *state.Record) string {
	if r == nil || r.Outcome.Message == "" {
		return ""
	}
	switch n := r.Node(); {
	case n == "":
	case r.Outcome.State == job.BootFail, r.Outcome.State == job.NodeFail:
		return n + ": " + r.Outcome.Message
	}
	return r.Outcome.Message
}
