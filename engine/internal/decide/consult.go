package decide

import (
	"errors"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The points whose plugins may know what the engine does not: a gate that a clock or a
// call opens, a licence that somebody else has taken.
const (
	preEnqueue = "PreEnqueue"
	permit     = "Permit"
)

func (p *PluginAnswer) status() *extpoints.Status {
	if p == nil || p.Code == extpoints.Success {
		return nil
	}
	if p.Code == extpoints.Error {
		return extpoints.AsStatus(errors.New(p.Reasons[0]))
	}
	return extpoints.NewStatus(p.Code, p.Reasons...)
}

// answerOf is the answer with that status; nil where it just lets the workload pass.
func answerOf(st *extpoints.Status, timeout time.Duration, activate []string) *PluginAnswer {
	if st.IsSuccess() && len(activate) == 0 {
		return nil
	}
	p := &PluginAnswer{Code: st.Code(), Timeout: timeout, Activate: slices.Clone(framework.ValidTexts(activate))}
	if st.Code() == extpoints.Error {
		err := st.AsError()
		//nolint:errorlint // Only what the guard made is unwrapped, not what a plugin wraps.
		if panicked, is := err.(*extpoints.PluginError); is {
			err = panicked.Err // the rest is said again
		}
		p.Reasons = []string{framework.ValidText(err.Error())}
		return p
	}
	p.Reasons = framework.ValidTexts(st.Reasons())
	return p
}

// consult returns what the plugin says of the workload: what ask returns, nil for
// success, or in a replay what is on record.
func (l *Answers) consult(point, plugin, workload string, ask func() *PluginAnswer) *PluginAnswer {
	l.consulted++
	var p *PluginAnswer
	if l.playing {
		p = l.playConsulted(point, plugin, workload)
	} else if p = ask(); p != nil {
		p.Name, p.Point, p.Number = plugin, point, l.consulted
	}
	if p != nil {
		l.given = append(l.given, Answer{Plugin: p, Workload: workload})
	}
	return p
}

// playConsulted returns what is on record; nil for success.
func (l *Answers) playConsulted(point, plugin, workload string) *PluginAnswer {
	if len(l.tape) == 0 || l.tape[0].Plugin == nil || l.tape[0].Plugin.Number != l.consulted {
		return nil
	}
	next := l.tape[0]
	if p := next.Plugin; p.Name != plugin || p.Point != point || next.Workload != workload || p.Code == extpoints.Error && len(p.Reasons) == 0 {
		asked := Answer{Plugin: &PluginAnswer{Name: plugin, Point: point}, Workload: workload}
		l.lose(&asked, "the record has "+next.question()+", and what is asked for is "+asked.question())
		return nil
	}
	l.tape = l.tape[1:]
	return next.Plugin
}

// permit is how Permit plugins are asked in the cycle.
func (l *Answers) permit(c *Cycle) framework.AskPermit {
	return func(plugin string, ask func() (*extpoints.Status, time.Duration)) (*extpoints.Status, time.Duration) {
		if l == nil {
			return ask()
		}
		var st *extpoints.Status
		var timeout time.Duration
		p := l.consult(permit, plugin, c.Info.ID, func() *PluginAnswer {
			before := len(c.Requests().Activations)
			st, timeout = ask()
			return answerOf(st, timeout, c.Requests().Activations[before:])
		})
		if l.playing && p != nil {
			c.State.Activate(p.Activate...)
			st, timeout = p.status(), p.Timeout
		}
		return framework.ValidStatus(st), timeout
	}
}

// Gates are the PreEnqueue plugins with their answers written down, or in a replay
// taken from what was.
func (l *Answers) Gates(plugins []extpoints.PreEnqueuePlugin) []extpoints.PreEnqueuePlugin {
	gates := make([]extpoints.PreEnqueuePlugin, len(plugins))
	for i, p := range plugins {
		gates[i] = gate{p, l}
	}
	return gates
}

type gate struct {
	extpoints.PreEnqueuePlugin
	answers *Answers
}

// PreEnqueue implements [extpoints.PreEnqueuePlugin].
func (g gate) PreEnqueue(w *model.Workload) (st *extpoints.Status) {
	p := g.answers.consult(preEnqueue, g.Name(), w.ID, func() *PluginAnswer {
		st = g.PreEnqueuePlugin.PreEnqueue(w)
		return answerOf(st, 0, nil)
	})
	if g.answers.playing {
		return p.status()
	}
	return framework.ValidStatus(st)
}
