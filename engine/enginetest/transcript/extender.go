package transcript

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// outside is what an extender answers, beside the code and the reasons of an
// error.
type outside struct {
	pass    []string // from filter: these, in this order; passes is set
	passes  bool
	fail    map[string]string // NODE:REASON
	never   map[string]string // the same, where displacing would not help
	bare    bool
	points  map[string]int64    // NODE:POINTS
	victims map[string][]string // NODE:ID+ID
}

// set understands an extender's option; false where it is none.
func (o *outside) set(name string, list []string) bool {
	switch name {
	case "pass":
		o.pass, o.passes = list, true
	case "fail":
		o.fail = pairs(list, func(s string) string { return s })
	case "never":
		o.never = pairs(list, func(s string) string { return s })
	case "bare":
		o.bare = true
	case "points":
		o.points = pairs(list, func(s string) int64 {
			n, _ := strconv.ParseInt(s, 10, 64)
			return n
		})
	case "victims":
		o.victims = pairs(list, func(s string) []string {
			return strings.FieldsFunc(s, func(r rune) bool { return r == '+' })
		})
	default:
		return false
	}
	return true
}

func pairs[V any](list []string, value func(string) V) map[string]V {
	m := map[string]V{}
	for _, item := range list {
		node, v, _ := strings.Cut(item, ":")
		m[node] = value(v)
	}
	return m
}

// extender answers what the script tells it; where it says nothing, every node
// passes, none gets points, and every candidate will do.
type extender struct {
	env       *env
	name      string
	verbs     extpoints.ExtenderVerbs
	weight    int64
	pattern   string
	ignorable bool
}

var (
	_ extpoints.SelectiveExtender  = (*extender)(nil)
	_ extpoints.FilterExtender     = (*extender)(nil)
	_ extpoints.PrioritizeExtender = (*extender)(nil)
	_ extpoints.PreemptExtender    = (*extender)(nil)
	_ extpoints.BindExtender       = (*extender)(nil)
)

func (e *env) extender(l line) *extender {
	x := &extender{env: e, name: l.words[0], weight: 1, pattern: "*"}
	for verb := range strings.SplitSeq(l.word(1), "+") {
		v, ok := map[string]extpoints.ExtenderVerbs{
			"filter": extpoints.ExtenderFilters, "prioritize": extpoints.ExtenderPrioritizes,
			"preempt": extpoints.ExtenderPreempts, "bind": extpoints.ExtenderBinds,
		}[verb]
		if !ok {
			e.fail(l, "there is no such verb of extenders")
		}
		x.verbs |= v
	}
	if w := l.args["weight"]; w != "" {
		x.weight = number(w)
	}
	if p := l.args["for"]; p != "" {
		x.pattern = p
	}
	x.ignorable = l.word(2) == "ignorable"
	return x
}

// Name implements [extpoints.Extender].
func (x *extender) Name() string { return x.name }

// Ignorable implements [extpoints.Extender].
func (x *extender) Ignorable() bool { return x.ignorable }

// Weight implements [extpoints.PrioritizeExtender].
func (x *extender) Weight() int64 { return x.weight }

// Verbs implements [extpoints.SelectiveExtender].
func (x *extender) Verbs() extpoints.ExtenderVerbs { return x.verbs }

// Interested implements [extpoints.Extender].
func (x *extender) Interested(w *model.Workload) bool {
	ok, _ := path.Match(x.pattern, w.ID)
	return ok
}

// answer looks up what to say, and writes the call down.
func (x *extender) answer(verb, workload string, about []string) (answer, error) {
	if x.env.deaf && verb != "bind" {
		x.env.t.Errorf("extender %s was asked to %s workload %s in a replay", x.name, verb, workload)
	}
	a := x.env.script.find(x.name, verb, workload, "")
	call := fmt.Sprintf("%s %s %s %s: %s", x.name, verb, workload, several(about), a.text)
	if verb == "prioritize" {
		call = sideBySide + call
	}
	x.env.script.note(call)
	return a, a.status().AsError()
}

// several prints a list, a long one by its ends.
func several(list []string) string {
	if n := len(list); n > 8 {
		return fmt.Sprintf("[%s ... %s] (%d)", list[0], list[n-1], n)
	}
	return fmt.Sprint(list)
}

// Filter implements [extpoints.FilterExtender].
func (x *extender) Filter(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	a, err := x.answer("filter", w.ID, nodeNames(nodes))
	if err != nil {
		return nil, err
	}
	r := &extpoints.ExtenderFilterResult{Nodes: a.pass, Failed: a.fail, Unresolvable: a.never, Bare: a.bare}
	if !a.passes {
		r.Nodes = nodeNames(nodes)
	}
	return r, nil
}

// Prioritize implements [extpoints.PrioritizeExtender].
func (x *extender) Prioritize(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	a, err := x.answer("prioritize", w.ID, nodeNames(nodes))
	return a.points, err
}

// Preempt implements [extpoints.PreemptExtender].
func (x *extender) Preempt(_ context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	var about []string
	for node := range candidates {
		about = append(about, node)
	}
	a, err := x.answer("preempt", w.ID, sorted(about))
	if err != nil || a.victims == nil {
		return candidates, err
	}
	chosen := map[string]*extpoints.Victims{}
	for name, ids := range a.victims {
		v := &extpoints.Victims{}
		for _, id := range ids {
			v.Workloads = append(v.Workloads, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}})
		}
		chosen[name] = v
	}
	return chosen, nil
}

// Bind implements [extpoints.BindExtender].
func (x *extender) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	a, err := x.answer("bind", w.ID, []string{b.Node})
	if a.block {
		x.env.script.entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func nodeNames(nodes []*extpoints.NodeInfo) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Node.Name
	}
	return names
}
