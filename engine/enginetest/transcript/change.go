package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// applier is an engine or a branch of it.
type applier func(...engine.Change) error

// change does the verbs that tell the engine what happened outside.
func (e *env) change(l line) bool {
	return e.changeOn(l, func(changes ...engine.Change) error { return e.raw.Apply(e.now, changes...) })
}

// changeOn makes all the changes of one command in one Apply.
func (e *env) changeOn(l line, apply applier) bool {
	changes, ok := e.changes(l)
	if !ok {
		return false
	}
	if err := apply(changes...); err != nil {
		e.say("error: %s", strings.ReplaceAll(err.Error(), "\n", "\nerror: "))
	}
	return true
}

func (e *env) changes(l line) ([]engine.Change, bool) {
	var changes []engine.Change
	add := func(c engine.Change) { changes = append(changes, c) }
	switch l.verb {
	case "node":
		// node NAME... [cpu=N] [zone=Z] [label=K:V] [taint=K:V:EFFECT]
		// [unschedulable=true]: PutNode; what is not said stays as it was.
		for _, name := range l.words {
			add(engine.PutNode(e.node(name, l)))
		}
	case "nodes":
		// nodes N [as for node]: PutNode of n000, n001, ...
		for i := range number(l.words[0]) {
			add(engine.PutNode(e.node(fmt.Sprintf("n%03d", i), l)))
		}
	case "remove-node":
		// remove-node NAME...: RemoveNode.
		for _, name := range l.words {
			delete(e.nodes, name)
			add(engine.RemoveNode(name))
		}
	case "lose-node":
		// lose-node NAME...: LoseNode.
		for _, name := range l.words {
			delete(e.nodes, name)
			add(engine.LoseNode(name))
		}
	case "drain":
		// drain NAME [REASON]: Drain.
		add(engine.Drain(l.words[0], l.word(1)))
	case "submit":
		// submit ID... [priority=N] [policy=Never] [profile=P] [cpu=N]
		// [node=NAME] [gate=G] [label=K:V] [group=GROUP] [queue=Q] [principal=P] [limit=D]: Submit.
		for _, id := range l.words {
			delete(e.latest, id)
			add(engine.Submit(e.workload(id, l)))
		}
	case "adopt":
		// adopt ID NODE [as for submit]: Adopt.
		delete(e.latest, l.words[0])
		add(engine.Adopt(e.workload(l.words[0], l), model.Binding{Node: l.words[1]}))
	case "update":
		// update ID... [as for submit]: Update; what is not said stays as it was.
		for _, id := range l.words {
			add(engine.Update(e.workload(id, l)))
		}
	case "confirm":
		// confirm ID NODE: Confirm.
		add(engine.Confirm(model.Binding{Workload: l.words[0], Node: l.words[1]}))
	case "nominate":
		// nominate ID [NODE]: Nominate; without NODE to none.
		add(engine.Nominate(l.words[0], strings.Join(l.words[1:], "")))
	case "put", "drop":
		// put|drop group|budget|namespace|hold NAME: PutGroup, RemoveGroup and so on. A
		// budget has [label=K:V] [allowed=N], a group [gang=N] [parent=GROUP]
		// [composite=true] [topology=LABEL] [priority=N] [policy=Never]
		// [disrupt=all], a hold node=NAME [in=D] [for=D] [users=K:V] [flex=true]: it
		// begins after the one time, or now, and lasts for the other, or for ever. Also queue, principal and limit NAME,
		// whose fields have their names in the model; an amount is NAME:N+NAME:N...
		add(e.object(l, l.verb == "put"))
	default:
		return e.departures(l)
	}
	return changes, true
}

func (e *env) object(l line, put bool) engine.Change {
	name := l.word(1)
	if o := e.definition(l); o != nil {
		return defined(o, put)
	}
	switch {
	case l.word(0) == "group" && put:
		return engine.PutGroup(group(name, l))
	case l.word(0) == "group":
		return engine.RemoveGroup(name)
	case l.word(0) == "budget" && put:
		return engine.PutBudget(budget(name, l))
	case l.word(0) == "budget":
		return engine.RemoveBudget(name)
	case l.word(0) == "namespace" && put:
		return engine.PutNamespace(&model.Namespace{Name: name})
	case l.word(0) == "namespace":
		return engine.RemoveNamespace(name)
	case l.word(0) == "hold" && put:
		return engine.PutObject(e.hold(name, l))
	case l.word(0) == "hold":
		return engine.RemoveObject(model.ObjectRef{Kind: model.HoldKind, ID: name})
	}
	e.fail(l, "unknown kind")
	return engine.Change{}
}

func group(name string, l line) *model.Group {
	g := &model.Group{
		ID: name, Parent: l.args["parent"], Composite: l.args["composite"] == "true", TopologyKey: l.args["topology"],
		Preemption: model.PreemptionPolicy(l.args["policy"]),
	}
	if v := l.args["gang"]; v != "" {
		g.Policy, g.MinCount = model.Gang, int32(number(v))
	}
	if v := l.args["priority"]; v != "" {
		g.Priority = int32(number(v))
	}
	if l.args["disrupt"] == "all" {
		g.Disruption = model.DisruptAll
	}
	return g
}

func budget(name string, l line) *model.Budget {
	b := &model.Budget{ID: name}
	if v := l.args["label"]; v != "" {
		key, value, _ := strings.Cut(v, ":")
		b.Selector = model.SelectLabels(map[string]string{key: value})
	}
	if v := l.args["allowed"]; v != "" {
		b.Allowed = int32(number(v))
	}
	return b
}

func (e *env) hold(name string, l line) *model.Hold {
	h := &model.Hold{Name: name, From: e.now, Nodes: []string{l.args["node"]}, Flex: l.args["flex"] == "true"}
	if v := l.args["in"]; v != "" {
		h.From = h.From.Add(duration(v))
	}
	if v := l.args["for"]; v != "" {
		h.Until = h.From.Add(duration(v))
	}
	if v := l.args["users"]; v != "" {
		key, value, _ := strings.Cut(v, ":")
		h.Users = model.SelectLabels(map[string]string{key: value})
	}
	return h
}

// departures are the changes that only need an ID.
func (e *env) departures(l line) ([]engine.Change, bool) {
	var verb func(id string) engine.Change
	switch l.verb {
	case "terminate":
		// terminate ID...: Terminate.
		verb = engine.Terminate
	case "displace":
		// displace ID...: Displace.
		verb = engine.Displace
	case "finish":
		// finish ID...: Finish.
		verb = engine.Finish
	case "requeue":
		// requeue ID...: Requeue.
		verb = engine.Requeue
	case "remove":
		// remove ID...: Remove.
		verb = engine.Remove
	default:
		return nil, false
	}
	var changes []engine.Change
	for _, id := range l.words {
		changes = append(changes, verb(id))
	}
	return changes, len(changes) > 0
}

// node is the latest version of the node with what the command says changed.
func (e *env) node(name string, l line) *model.Node {
	n := &model.Node{Name: name}
	if old := e.nodes[name]; old != nil {
		n = old.Clone()
	}
	for k, v := range l.args {
		switch k {
		case "cpu":
			n.Allocatable.CPU = number(v)
		case "zone":
			n.Zone = v
		case "label":
			key, value, _ := strings.Cut(v, ":")
			n.Labels = map[string]string{key: value}
		case "taint":
			part := strings.Split(v, ":")
			n.Taints = []model.Taint{{Key: part[0], Value: part[1], Effect: model.TaintEffect(part[2])}}
		case "unschedulable":
			n.Unschedulable = v == "true"
		default:
			e.fail(l, "unknown field "+k)
		}
	}
	e.nodes[name] = n
	return n.Clone()
}

// workload is the latest version of the workload with what the command says
// changed.
func (e *env) workload(id string, l line) *model.Workload {
	w := &model.Workload{ID: id}
	if old := e.latest[id]; old != nil {
		w = old.Clone()
	}
	for k, v := range l.args {
		switch k {
		case "priority":
			w.Priority = int32(number(v))
		case "policy":
			w.Preemption = model.PreemptionPolicy(v)
		case "profile":
			w.Profile = v
		case "group":
			w.Group = v
		case "queue":
			w.Queue = v
		case "principal":
			w.Principal = v
		case "cpu":
			w.Requests.CPU = number(v)
		case "node":
			w.NodeName = v
		case "gate":
			w.Gates = slices.DeleteFunc(strings.Split(v, ","), func(g string) bool { return g == "" })
		case "label":
			key, value, _ := strings.Cut(v, ":")
			w.Labels = map[string]string{key: value}
		case "limit":
			w.Limit = duration(v)
		default:
			e.fail(l, "unknown field "+k)
		}
	}
	e.latest[id] = w
	return w.Clone()
}
