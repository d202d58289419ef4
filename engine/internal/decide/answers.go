package decide

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// What extenders are asked while a decision is made.
const (
	verbFilter     = "filter"
	verbPrioritize = "prioritize"
	verbPreempt    = "preempt"
)

// Answers is where the answers of extenders come from in the engine's own
// decisions: from them, and then they are written down, or in a replay from what
// was written down. Branches and explanations have none (nil): they ask, and
// nobody writes it down.
type Answers struct {
	// ctx is the context of decisions; it leads preempters to the answers.
	ctx context.Context
	// given are the answers in the present call of Schedule, in order.
	given []Answer

	playing bool     // a replay: nobody is asked
	tape    []Answer // what is still to be given
	lost    error    // the first question that the tape has no answer to
}

// Answer is an extender's answer, as the recorder keeps it.
type Answer struct {
	Extender string
	Verb     string
	Workload string
	Filter   *extpoints.ExtenderFilterResult `json:",omitempty"`
	Points   map[string]int64                `json:",omitempty"`
	Victims  map[string]*victims             `json:",omitempty"`
	Error    string                          `json:",omitempty"`

	err error // Error with everything that belongs to it
}

// victims are [extpoints.Victims] by ID.
type victims struct {
	Workloads        []string
	BudgetViolations int `json:",omitempty"`
}

// question is a call of an extender that fills in an answer.
type question struct {
	extender *framework.Extender
	verb     string
	call     func(*Answer) error
}

// ask puts the questions, side by side where there are several, and returns the
// answers in their order.
func (l *Answers) ask(w *extpoints.WorkloadInfo, questions ...question) []Answer {
	list := make([]Answer, len(questions))
	indexes := make([]int, len(questions))
	for i, q := range questions {
		list[i] = Answer{Extender: q.extender.Name, Verb: q.verb, Workload: w.ID}
		indexes[i] = i
	}
	if l != nil && l.playing {
		for i := range list {
			l.play(&list[i])
		}
	} else {
		parallel.Together(indexes, func(i int) {
			a := &list[i]
			if err := framework.Guard(func() error { return questions[i].call(a) }); err != nil {
				a.fail(err)
			}
			a.own()
		})
	}
	if l != nil {
		l.given = append(l.given, list...)
	}
	for i, q := range questions {
		list[i].err = q.extender.Failed(q.verb, w.Workload, list[i].err)
	}
	return list
}

// fail makes the answer an error. Its text is what the record keeps of it.
func (a *Answer) fail(err error) {
	*a = Answer{Extender: a.Extender, Verb: a.Verb, Workload: a.Workload, err: err}
	a.Error = validText(err.Error())
	if a.Error == "" {
		a.Error = "an error without a text"
	}
	if a.Error != err.Error() {
		a.err = errors.New(a.Error)
	}
}

// own makes what the answer holds the engine's own, in valid text.
func (a *Answer) own() {
	if f := a.Filter; f != nil {
		a.Filter = &extpoints.ExtenderFilterResult{
			Nodes: make([]string, len(f.Nodes)), Failed: ownReasons(f.Failed), Unresolvable: ownReasons(f.Unresolvable), Bare: f.Bare,
		}
		for i, name := range f.Nodes {
			a.Filter.Nodes[i] = validText(name)
		}
	}
	if a.Points != nil {
		points := make(map[string]int64, len(a.Points))
		for _, name := range slices.Sorted(maps.Keys(a.Points)) {
			points[validText(name)] = a.Points[name]
		}
		a.Points = points
	}
}

func ownReasons(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	reasons := make(map[string]string, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		reasons[validText(name)] = validText(m[name])
	}
	return reasons
}

// play fills in the answer that was recorded.
func (l *Answers) play(a *Answer) {
	if len(l.tape) > 0 {
		if next := l.tape[0]; next.Extender == a.Extender && next.Verb == a.Verb && next.Workload == a.Workload {
			l.tape = l.tape[1:]
			*a = next
			if a.Error != "" {
				a.err = errors.New(a.Error)
			}
			return
		}
	}
	a.fail(fmt.Errorf("there is no answer of extender %q to %s workload %q on record", a.Extender, a.Verb, a.Workload))
	if l.lost == nil {
		l.lost = a.err
	}
}

// Take returns the answers that were given since the last call.
func (l *Answers) Take() []Answer {
	given := l.given
	l.given = nil
	return given
}

// Replay answers what f asks from the record. It is an error if f asks
// anything else.
func (l *Answers) Replay(record []Answer, f func()) error {
	l.playing, l.tape, l.lost = true, record, nil
	f()
	rest := l.tape
	l.playing, l.tape = false, nil
	if l.lost == nil && len(rest) > 0 {
		return fmt.Errorf("the answer of extender %q to %s workload %q was not asked for", rest[0].Extender, rest[0].Verb, rest[0].Workload)
	}
	return l.lost
}

// answersKey is where contexts have the *Answers.
type answersKey struct{}

// Under makes ctx the one that ends decisions.
func (l *Answers) Under(ctx context.Context) { l.ctx = context.WithValue(ctx, answersKey{}, l) }

// context is the context of the decider's decisions.
func (d *Decider) context() context.Context {
	if d.Answers == nil {
		return context.Background()
	}
	return d.Answers.ctx
}

// Preempters are the extenders that have a say in who is displaced, as plugins
// get them.
func Preempters(list []*framework.Extender) []extpoints.PreemptExtender {
	var out []extpoints.PreemptExtender
	for _, x := range list {
		if x.Preempt != nil {
			out = append(out, preempter{x})
		}
	}
	return out
}

// preempter stands between a plugin and an extender: it has the answers
// recorded, and checks them.
type preempter struct{ *framework.Extender }

var _ extpoints.PreemptExtender = preempter{}

// Name implements [extpoints.Extender].
func (p preempter) Name() string { return p.Extender.Name }

// Ignorable implements [extpoints.Extender].
func (p preempter) Ignorable() bool { return p.Extender.Ignorable }

// Interested implements [extpoints.Extender]. One that cannot say is asked, and
// fails then.
func (p preempter) Interested(w *model.Workload) bool {
	interested, err := p.Extender.Interested(w)
	return interested || err != nil
}

// Preempt implements [extpoints.PreemptExtender].
func (p preempter) Preempt(ctx context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	log, _ := ctx.Value(answersKey{}).(*Answers)
	a := log.ask(w, question{p.Extender, verbPreempt, func(a *Answer) error {
		chosen, err := p.Extender.Preempt.Preempt(ctx, w, cloned(candidates), nodes)
		a.Victims = byID(chosen)
		return err
	}})[0]
	if a.err != nil {
		return nil, a.err
	}
	chosen, err := found(a.Victims, nodes)
	return chosen, p.Failed(verbPreempt, w.Workload, err)
}

// cloned is what an extender gets of the candidates: it may change that, which in
// a replay nobody does.
func cloned(candidates map[string]*extpoints.Victims) map[string]*extpoints.Victims {
	list := make(map[string]*extpoints.Victims, len(candidates))
	for node, v := range candidates {
		if v != nil {
			v = &extpoints.Victims{Workloads: slices.Clone(v.Workloads), BudgetViolations: v.BudgetViolations}
		}
		list[node] = v
	}
	return list
}

func byID(chosen map[string]*extpoints.Victims) map[string]*victims {
	list := make(map[string]*victims, len(chosen))
	for _, node := range slices.Sorted(maps.Keys(chosen)) {
		var v *victims
		if c := chosen[node]; c != nil {
			v = &victims{BudgetViolations: c.BudgetViolations}
			for _, w := range c.Workloads {
				v.Workloads = append(v.Workloads, validText(w.ID))
			}
		}
		list[validText(node)] = v
	}
	return list
}

// found turns the IDs into the workloads on the nodes.
func found(chosen map[string]*victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	list := make(map[string]*extpoints.Victims, len(chosen))
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		node := nodes.Get(name)
		if node == nil {
			return nil, fmt.Errorf("the answer claims to preempt on node %q, which there is not", name)
		}
		if chosen[name] == nil {
			list[name] = nil // the caller knows what to make of it
			continue
		}
		v := &extpoints.Victims{BudgetViolations: chosen[name].BudgetViolations}
		for _, id := range chosen[name].Workloads {
			i := slices.IndexFunc(node.Workloads, func(w *extpoints.WorkloadInfo) bool { return w.ID == id })
			if i < 0 {
				return nil, fmt.Errorf("the answer claims to preempt workload %q on node %q, but it is not found on that node", id, name)
			}
			v.Workloads = append(v.Workloads, node.Workloads[i])
		}
		list[name] = v
	}
	return list, nil
}
