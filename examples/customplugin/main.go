// Customplugin schedules with two plugins of its own beside the default ones:
// RackShare filters and scores (rackshare.go), and Approval holds workloads back
// until somebody has approved them (approval.go). It shows how a plugin is
// written, given arguments, put into a profile, talked to, and woken up.
//
// Time is simulated, so the program drives [engine.Raw] and prints the same
// every time.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "customplugin:", err)
		os.Exit(1)
	}
}

// program is the engine, the time, and what it prints.
type program struct {
	raw      *engine.Raw
	approval *extpoints.Slot[*Approval]
	now      time.Time
	out      io.Writer
}

// newProgram makes the engine. Its profile is the default one with our plugins added
// to it, at every point that they serve.
func newProgram(out io.Writer) (*program, error) {
	p := &program{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), out: out}
	profile := plugins.DefaultProfile()
	// The weight is more than that of any default.
	extpoints.Use(&profile, NewRackShare, RackShareArgs{Label: "rack", PerRack: 2}, extpoints.Weight(5))
	p.approval = extpoints.Use(&profile, NewApproval, ApprovalArgs{Within: 10 * time.Minute})
	var err error
	p.raw, err = engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: nowhere{},
		Listener: engine.Listener{
			Bound:    func(e engine.PlacedEvent) { p.print("%s runs on %s", e.Workload.ID, e.Binding.Node) },
			Rejected: func(e engine.RejectedEvent) { p.print("%s waits: %s", e.Workload.ID, e.Message) },
			Waiting: func(e engine.WaitingEvent) {
				p.print("%s has a place on %s and waits for %s", e.Workload.ID, e.Binding.Node, strings.Join(e.Plugins, ", "))
			},
			Enqueued: func(e engine.QueuedEvent) {
				if e.Plugin != "" {
					p.print("%s is tried again: %s says so", e.ID, e.Plugin)
				}
			},
		},
	})
	return p, err
}

// nowhere is an orchestrator that does nothing: this program is about
// decisions.
type nowhere struct{}

func (nowhere) Bind(context.Context, *model.Workload, model.Binding) error { return nil }

func (nowhere) Evict(context.Context, *model.Workload, string) error { return nil }

func (p *program) print(format string, args ...any) { fmt.Fprintf(p.out, "  "+format+"\n", args...) }

// step is one thing that happens, a minute after the one before, and everything
// that follows from it.
func (p *program) step(what string, do func() error) error {
	p.now = p.now.Add(time.Minute)
	fmt.Fprintln(p.out, what)
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	p.raw.Tick(p.now)
	p.raw.Settle(p.now) // what was answered on Permit
	for p.raw.Schedule(p.now) {
	}
	for t := p.raw.NextTask(); t != nil; t = p.raw.NextTask() {
		t.Run(context.Background())
		p.raw.Finish(p.now, t)
	}
	return nil
}

// run is the program.
func run(out io.Writer) error {
	p, err := newProgram(out)
	if err != nil {
		return err
	}
	submit := func(id, app string, labels ...string) func() error {
		return func() error { return p.raw.Apply(p.now, engine.Submit(workload(id, app, labels...))) }
	}
	for _, s := range []struct {
		what string
		do   func() error
	}{
		{"two racks with two nodes each, and a node in none", p.addNodes},
		{"an app comes, one by one", submit("web-1", "web")},
		{"its second", submit("web-2", "web")},
		{"its third", submit("web-3", "web")},
		{"its fourth", submit("web-4", "web")},
		{"its fifth is one too many", submit("web-5", "web")},
		{"why?", func() error { return p.explain("web-5") }},
		{"another app has its own share", submit("db-1", "db", "approval", "needed")},
		{"somebody approves it", p.answer("db-1", true, "")},
		{"db-1 leaves, which does not help web-5", p.remove("db-1")},
		{"web-1 leaves, which does", p.remove("web-1")},
		{"a workload that nobody wants", submit("mine-1", "mine", "approval", "needed")},
		{"somebody says so", p.answer("mine-1", false, "not on our machines")},
	} {
		if err := p.step(s.what, s.do); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) addNodes() error {
	var changes []engine.Change
	for _, n := range []struct{ name, rack string }{{"a1", "a"}, {"a2", "a"}, {"b1", "b"}, {"b2", "b"}, {"attic", ""}} {
		node := &model.Node{Name: n.name, Allocatable: model.Resources{CPU: 8000, Memory: 32 << 30}}
		if n.rack != "" {
			node.Labels = map[string]string{"rack": n.rack}
		}
		changes = append(changes, engine.PutNode(node))
	}
	return p.raw.Apply(p.now, changes...)
}

// workload makes a workload; labels are keys and values.
func workload(id, app string, labels ...string) *model.Workload {
	w := &model.Workload{
		ID: id, Labels: map[string]string{"app": app},
		Requests: model.Resources{CPU: 1000, Memory: 1 << 30},
	}
	for i := 0; i+1 < len(labels); i += 2 {
		w.Labels[labels[i]] = labels[i+1]
	}
	return w
}

func (p *program) remove(id string) func() error {
	return func() error { return p.raw.Apply(p.now, engine.Remove(id)) }
}

func (p *program) answer(id string, yes bool, comment string) func() error {
	return func() error {
		if !p.approval.Get().Answer(id, yes, comment) {
			return fmt.Errorf("workload %s does not wait", id)
		}
		return nil
	}
}

// explain prints why a workload waits.
func (p *program) explain(id string) error {
	e, err := p.raw.Explain(p.now, id, engine.ExplainOptions{})
	if err != nil {
		return err
	}
	p.print("%s", strings.ReplaceAll(e.String(), "\n", "\n  "))
	return nil
}
