package decide

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/engine/internal/parallel"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var errEndedGoroutine = errors.New("it has ended its goroutine")

// What extenders are asked while a decision is made.
const (
	verbFilter     = "filter"
	verbPrioritize = "prioritize"
	verbPreempt    = "preempt"
)

// Answers is where answers come from that the engine's own state does not determine:
// those of extenders, and of plugins at PreEnqueue and Permit. Outside a replay they
// are asked and what they say is written down; in a replay it comes from what was
// written down. Branches and explanations have none (nil): they ask, and nobody
// writes it down.
type Answers struct {
	// ctx is the context of decisions; it leads preempters to the answers.
	ctx context.Context
	// given are the answers in the present input, in order.
	given []Answer
	// consulted is how often plugins were asked in the present input.
	consulted int

	playing bool        // a replay: nobody is asked
	tape    []Answer    // what is still to be given
	lost    *LostAnswer // the first question or answer that does not fit
}

// Answer is the answer of an extender or a plugin, as the recorder keeps it.
type Answer struct {
	Extender string        `json:",omitempty"`
	Verb     string        `json:",omitempty"`
	Plugin   *PluginAnswer `json:",omitempty"` // then Extender and Verb are empty
	Workload string
	Filter   *extpoints.ExtenderFilterResult `json:",omitempty"`
	Points   map[string]int64                `json:",omitempty"`
	Victims  map[string]*victims             `json:",omitempty"`
	Error    string                          `json:",omitempty"`

	err error // Error with everything that belongs to it
}

// PluginAnswer is what a plugin said that did not just let the workload pass. By far
// the most answers do, and those are not written down: a question that the record has
// nothing about was answered with success.
type PluginAnswer struct {
	Name   string
	Point  string
	Number int // of the question, among those to plugins in one input, from 1
	Code   extpoints.Code
	// Reasons of a rejection, or the text of an error.
	Reasons []string      `json:",omitempty"`
	Timeout time.Duration `json:",omitempty"` // of Permit
	// Activate are the workloads that the plugin asked to activate meanwhile.
	Activate []string `json:",omitempty"`
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
			a := list[i]
			list[i].fail(errEndedGoroutine)
			if err := framework.Guard(func() error { return questions[i].call(&a) }); err != nil {
				a.fail(err)
			}
			a.own()
			list[i] = a
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
	a.Error = framework.ValidText(err.Error())
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
			a.Filter.Nodes[i] = framework.ValidText(name)
		}
	}
	if a.Points != nil {
		points := make(map[string]int64, len(a.Points))
		for _, name := range slices.Sorted(maps.Keys(a.Points)) {
			points[framework.ValidText(name)] = a.Points[name]
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
		reasons[framework.ValidText(name)] = framework.ValidText(m[name])
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
	l.lose(a, a.Error)
}

// lose notes the first question or answer that does not fit.
func (l *Answers) lose(a *Answer, what string) {
	if l.lost == nil {
		l.lost = &LostAnswer{Workload: a.Workload, By: a.by(), text: what}
	}
}

// LostAnswer says that a replay asks for an answer that was not recorded, or does not
// ask for one that was.
type LostAnswer struct {
	Workload string
	By       string // the extender or plugin
	text     string
}

// Error says it in one line.
func (e *LostAnswer) Error() string { return e.text }

func (a *Answer) by() string {
	if a.Plugin != nil {
		return a.Plugin.Name
	}
	return a.Extender
}

// question is what the answer is to.
func (a *Answer) question() string {
	if p := a.Plugin; p != nil {
		return fmt.Sprintf("the answer of plugin %q at %s about workload %q", p.Name, p.Point, a.Workload)
	}
	return fmt.Sprintf("the answer of extender %q to %s workload %q", a.Extender, a.Verb, a.Workload)
}

// Take ends the input and returns the answers that were given in it.
func (l *Answers) Take() []Answer {
	given := l.given
	l.given, l.consulted = nil, 0
	return given
}

// Replay answers what f asks from the record. It is a [*LostAnswer] if f asks
// anything else.
func (l *Answers) Replay(record []Answer, f func()) error {
	l.playing, l.tape, l.lost = true, record, nil
	f()
	rest := l.tape
	l.playing, l.tape = false, nil
	if len(rest) > 0 {
		l.lose(&rest[0], rest[0].question()+" was not asked for")
	}
	if l.lost == nil {
		return nil
	}
	return l.lost
}

// answersKey is where contexts have the *Answers.
type answersKey struct{}

// Under makes ctx the one that ends decisions.
func (l *Answers) Under(ctx context.Context) { l.ctx = context.WithValue(ctx, answersKey{}, l) }

// Preempters are the extenders that have a say in who is displaced, as plugins
// get them.
func Preempters(list []*framework.Extender) []extpoints.Extender {
	var out []extpoints.Extender
	for _, x := range list {
		if x.Preempt != nil {
			out = append(out, extpoints.Extender{
				Name: x.Name, Ignorable: x.Ignorable,
				Interested: func(w *model.Workload) bool {
					interested, err := x.Wants(w)
					return interested || err != nil // one that cannot say is asked, and fails then
				},
				Preempt: preempter{x}.preempt,
			})
		}
	}
	return out
}

// preempter stands between a plugin and an extender: it has the answers
// recorded, and checks them.
type preempter struct{ *framework.Extender }

func (p preempter) preempt(ctx context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	log, _ := ctx.Value(answersKey{}).(*Answers)
	a := log.ask(w, question{p.Extender, verbPreempt, func(a *Answer) error {
		chosen, err := p.Preempt(ctx, w, cloned(candidates), nodes)
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
				v.Workloads = append(v.Workloads, framework.ValidText(w.ID))
			}
		}
		list[framework.ValidText(node)] = v
	}
	return list
}

// found turns the IDs into the workloads on the nodes.
func found(chosen map[string]*victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	list := make(map[string]*extpoints.Victims, len(chosen))
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		node := nodes.Get(name)
		if node == nil {
			return nil, fmt.Errorf("the answer claims to preempt on node %q, which does not exist", name)
		}
		if chosen[name] == nil {
			list[name] = nil // the caller knows what to make of it
			continue
		}
		v := &extpoints.Victims{BudgetViolations: chosen[name].BudgetViolations}
		for _, id := range chosen[name].Workloads {
			w := node.Workload(id)
			if w == nil {
				return nil, fmt.Errorf("the answer claims to preempt workload %q on node %q, but it is not found on that node", id, name)
			}
			v.Workloads = append(v.Workloads, w)
		}
		list[name] = v
	}
	return list, nil
}
