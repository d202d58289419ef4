package defaultpreemption

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/helper"
)

// candidate is a node on which the workload would fit if the victims left.
type candidate struct {
	node    *extpoints.NodeInfo
	place   int // in visiting order, among the nodes that could be candidates
	victims *extpoints.Victims
}

func (c *candidate) name() string { return c.node.Node.Name }

// found is what the search came to.
type found struct {
	// candidates has those without victims that no budget allows first.
	candidates []candidate
	// statuses are those of the nodes that are none, errs the errors among
	// them.
	statuses []*extpoints.Status
	errs     problems
	possible *roster // of the last node
}

// search tries the nodes one after the other, around once from a place that the
// seed decides, until there are enough candidates and at least one that breaks
// no budget. It keeps at most that many of either kind.
func (p *DefaultPreemption) search(s *extpoints.CycleState, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo, q *queues) found {
	trial := newTrial(p.handle.Preemption(), s, w, q)
	trial.possible.tolerations, trial.possible.strict = p.tolerations, p.compat == extpoints.KubeScheduler137
	f := found{possible: &trial.possible}
	if len(nodes) == 0 {
		return f
	}
	offset, wanted := helper.Draw(s.Seed(), offsetStream, len(nodes)), p.args.wanted(len(nodes))
	var allowed, violating []candidate
	for i := range nodes {
		place := (offset + i) % len(nodes)
		victims, st := trial.victimsOn(nodes[place])
		if st != nil {
			f.reject(st)
			continue
		}
		list := &allowed
		if victims.BudgetViolations > 0 {
			list = &violating
		}
		if len(*list) < wanted {
			*list = append(*list, candidate{nodes[place], place, victims})
		}
		if len(allowed) > 0 && len(allowed)+len(violating) >= wanted {
			break
		}
	}
	f.candidates = slices.Concat(allowed, violating)
	return f
}

func (f *found) reject(st *extpoints.Status) {
	f.statuses = append(f.statuses, st)
	if st.Code() == extpoints.Error {
		f.errs = append(f.errs, st.AsError())
	}
}

// message says why nothing can be done, in the form of kube-scheduler's
// FitError (framework/types.go, 1.37.1): how many of the total of nodes have
// which reason, sorted by the finished strings.
func (f *found) message(total int) string {
	counts := map[string]int{}
	if rest := total - len(f.statuses); rest > 0 {
		counts["Preemption is not helpful for scheduling"] = rest
	}
	nodes := map[*extpoints.Status]int{} // most nodes share a few statuses
	for _, st := range f.statuses {
		nodes[st]++
	}
	for st, n := range nodes {
		for _, reason := range st.Reasons() {
			counts[reason] += n
		}
	}
	lines := make([]string, 0, len(counts))
	for reason, n := range counts {
		lines = append(lines, fmt.Sprintf("%v %v", n, reason))
	}
	sort.Strings(lines)
	text := fmt.Sprintf("0/%v nodes are available:", total)
	if len(lines) > 0 {
		text += " " + strings.Join(lines, ", ") + "."
	}
	return text
}

// problems are the errors of several nodes as one, in the words of
// k8s.io/apimachinery pkg/util/errors, v0.37.1: what is the same is said once.
type problems []error

// Error joins them.
func (p problems) Error() string {
	var texts []string
	for _, err := range p {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Unwrap returns them.
func (p problems) Unwrap() []error { return p }

// The streams of draws of a cycle.
const (
	offsetStream uint64 = iota
	tieStream
)
