package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// definition is the object of the order by queues that the command is about; nil for
// other things.
func (e *env) definition(l line) model.Object {
	name := l.word(1)
	switch l.word(0) {
	case "queue":
		return &model.Queue{
			Name: name, Parent: l.args["parent"], Weight: numberOr(l.args["weight"], 0), Priority: int32(numberOr(l.args["priority"], 0)),
			Guaranteed: amounts(l.args["guaranteed"]), Max: amounts(l.args["max"]), Lend: amounts(l.args["lend"]),
			Borrow: amounts(l.args["borrow"]), Policy: model.OrderPolicy(l.args["policy"]),
			Reclaim: model.ReclaimPolicy(l.args["reclaim"]), Protected: numberOr(l.args["protected"], 0), MinRuntime: durationOr(l.args["minRuntime"], 0),
		}
	case "principal":
		return &model.Principal{Name: name, Parent: l.args["parent"], Queue: l.args["queue"], Shares: numberOr(l.args["shares"], 0)}
	case "limit":
		return &model.Limit{
			Name: name, Queue: l.args["queue"], Principal: l.args["principal"], Scope: model.LimitScope(l.args["scope"]),
			Measure: model.LimitMeasure(l.args["measure"]), Resource: l.args["resource"], Amount: numberOr(l.args["amount"], 0),
			Breach: model.LimitBreach(l.args["breach"]),
		}
	}
	return nil
}

func numberOr(text string, none int64) int64 {
	if text == "" {
		return none
	}
	return number(text)
}

func durationOr(text string, none time.Duration) time.Duration {
	if text == "" {
		return none
	}
	return duration(text)
}

// amounts reads NAME:N+NAME:N...
func amounts(text string) map[string]int64 {
	if text == "" {
		return nil
	}
	m := map[string]int64{}
	for part := range strings.SplitSeq(text, "+") {
		name, n, _ := strings.Cut(part, ":")
		m[name] = number(n)
	}
	return m
}

// defined is the change that puts or drops the object.
func defined(o model.Object, put bool) engine.Change {
	if put {
		return engine.PutObject(o)
	}
	return engine.RemoveObject(model.RefOf(o))
}

// standings prints where each active workload stands in the order by queues.
func (e *env) standings() {
	for w := range e.raw.View().Workloads() {
		p, ok := e.raw.Queue(w.Workload.ID)
		switch {
		case !ok:
		case p.Standing != nil:
			e.say("%s", standing(p.ID, p.Standing))
		default:
			text := fmt.Sprintf("%s is %s", p.ID, p.Place)
			if p.Gate != nil {
				text += ": " + p.Gate.Message()
			}
			e.say("%s", text)
		}
	}
}

func standing(id string, s *queue.Standing) string {
	var path []string
	for i := range s.Path {
		path = append(path, level(&s.Path[i]))
	}
	text := fmt.Sprintf("%s has %d before it in %s", id, s.Before, strings.Join(path, " / "))
	if s.Held != nil {
		text += "; held: " + s.Held.String()
	}
	return text
}

func level(l *queue.Level) string {
	text := l.Queue
	if l.Principal != "" {
		text = "principal " + l.Principal
	}
	if l.Resource != "" {
		text += fmt.Sprintf(" (%d of %d %s)", l.Used, l.Capacity, l.Resource)
	}
	return text
}

// shares prints what the queues are charged.
func (e *env) shares() {
	for _, l := range e.raw.Queues() {
		if l.Limit != "" {
			continue
		}
		var use []string
		for _, name := range slices.Sorted(maps.Keys(l.Use)) {
			use = append(use, fmt.Sprintf("%s:%d", name, l.Use[name]))
		}
		e.say("queue %s waiting=%d use=[%s]", l.Queue, l.Waiting, strings.Join(use, " "))
	}
}
