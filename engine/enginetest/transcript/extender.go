package transcript

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// extender answers what the script tells it; where it says nothing, every node
// passes, none gets points, and every candidate will do.
type extender struct {
	extpoints.Extender
	env     *env
	pattern string
}

func (e *env) extender(l line) *extender {
	x := &extender{env: e, pattern: "*"}
	x.Extender = extpoints.Extender{Name: l.words[0], Weight: 1, Ignorable: l.word(2) == "ignorable", Interested: x.interested}
	for verb := range strings.SplitSeq(l.word(1), "+") {
		switch verb {
		case "filter":
			x.Filter = x.filter
		case "prioritize":
			x.Prioritize = x.prioritize
		case "preempt":
			x.Preempt = x.preempt
		case "bind":
			x.Bind = x.bind
		default:
			e.fail(l, "there is no such verb of extenders")
		}
	}
	if w := l.args["weight"]; w != "" {
		x.Weight = number(w)
	}
	if p := l.args["for"]; p != "" {
		x.pattern = p
	}
	return x
}

func (x *extender) interested(w *model.Workload) bool {
	ok, _ := path.Match(x.pattern, w.ID)
	return ok
}

// answer looks up what to say, and writes the call down.
func (x *extender) answer(verb, workload string, about []string) (answer, error) {
	if x.env.deaf && verb != "bind" {
		x.env.t.Errorf("extender %s was asked to %s workload %s in a replay", x.Name, verb, workload)
	}
	a := x.env.script.find(x.Name, verb, workload, "")
	call := fmt.Sprintf("%s %s %s %s: %s", x.Name, verb, workload, several(about), a.text)
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

func (x *extender) filter(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
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

func (x *extender) prioritize(_ context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	a, err := x.answer("prioritize", w.ID, nodeNames(nodes))
	return a.points, err
}

func (x *extender) preempt(_ context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
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

func (x *extender) bind(ctx context.Context, w *model.Workload, b model.Binding) error {
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
