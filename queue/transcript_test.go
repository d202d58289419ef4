package queue

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

// TestTranscripts plays the dialogues in testdata: commands, ----, and what the
// queue did. A paragraph without ---- is a comment. The verbs are explained at
// their cases in [dialogue.do].
//
// With -update the answers are rewritten. Look at the diff, and commit it only
// if you understand what caused it.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := newDialogue()
			paragraphs := strings.Split(strings.TrimSpace(string(text)), "\n\n")
			for i, p := range paragraphs {
				commands, want, ok := strings.Cut(p, "\n----")
				if !ok {
					continue
				}
				got := d.play(commands)
				if want = strings.TrimPrefix(want, "\n"); got != want && !*update {
					t.Fatalf("%s\n---- want\n%s\n---- got\n%s", commands, want, got)
				}
				paragraphs[i] = commands + "\n----\n" + got
			}
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(paragraphs, "\n\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var start = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// since prints a time as an offset from start.
func since(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Sub(start).String()
}

// dialogue is a queue with plugins that do as they are told.
type dialogue struct {
	cfg   config
	q     *Queue // nil until the first verb that needs it
	now   time.Time
	out   strings.Builder
	says  map[string]string                  // plugin: skip, queue or error
	shut  map[string]map[string]string       // gate, workload: reason
	know  map[string]*extpoints.WorkloadInfo // the latest version of each workload
	items map[string]*Item                   // popped, by workload or highest group
	trees groupMap
}

func newDialogue() *dialogue {
	return &dialogue{
		cfg: config{Hooks: Hooks{
			Less:       byPriority,
			PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{},
			Hints:      map[string][]PluginHints{"": nil},
			AsGroups:   map[string]bool{},
		}},
		now:   start,
		says:  map[string]string{},
		shut:  map[string]map[string]string{},
		know:  map[string]*extpoints.WorkloadInfo{},
		items: map[string]*Item{},
		trees: groupMap{},
	}
}

// byPriority is the order of kube-scheduler's PrioritySort.
func byPriority(a, b *extpoints.Queued) bool {
	return a.Priority > b.Priority || a.Priority == b.Priority && a.Timestamp.Before(b.Timestamp)
}

func (d *dialogue) play(commands string) string {
	d.out.Reset()
	for line := range strings.Lines(commands) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		c := command{line: line, args: map[string]string{}}
		for i, word := range strings.Fields(line) {
			if i == 0 {
				c.verb = word
			} else if k, v, ok := strings.Cut(word, "="); ok {
				c.args[k] = v
			} else {
				c.words = append(c.words, word)
			}
		}
		if !d.configure(c) {
			d.do(c)
		}
	}
	if d.out.Len() == 0 {
		return "ok"
	}
	return strings.TrimSuffix(d.out.String(), "\n")
}

type command struct {
	line, verb string
	words      []string
	args       map[string]string
}

func (c command) int(name string) int {
	n, err := strconv.Atoi(c.args[name])
	if err != nil {
		panic(c.line + ": " + err.Error())
	}
	return n
}

func duration(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func (d *dialogue) say(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

// configure does the verbs that say what the queue is made of and how the
// plugins behave.
func (d *dialogue) configure(c command) bool {
	switch c.verb {
	case "config":
		// config [initial=D] [max=D|off] [timeout=D] [nopop=true]
		// [compat=improved|kube-scheduler]: fields of the configuration, in place of the defaults. Before
		// all others.
		for k, v := range c.args {
			switch k {
			case "initial":
				d.cfg.InitialBackoff = duration(v)
			case "max":
				if d.cfg.MaxBackoff = NoBackoff; v != "off" {
					d.cfg.MaxBackoff = duration(v)
				}
			case "timeout":
				d.cfg.MaxInUnschedulable = duration(v)
			case "nopop":
				d.cfg.NoPopFromBackoff = v == "true"
			case "compat":
				d.cfg.Compat = map[string]extpoints.Compat{"improved": extpoints.Improved, "kube-scheduler": extpoints.KubeScheduler137}[v]
			default:
				panic(c.line)
			}
		}
	case "plugin":
		// plugin NAME [profile=P] KIND/ACTION...: a plugin that asks for these
		// events. Before all others.
		h := PluginHints{Plugin: c.words[0]}
		for _, e := range c.words[1:] {
			h.Events = append(h.Events, extpoints.EventHint{Event: parseEvent(e), Hint: d.hint(h.Plugin)})
		}
		p := c.args["profile"]
		d.cfg.Hints[p] = append(d.cfg.Hints[p], h)
	case "gate":
		// gate NAME [profile=P]: a PreEnqueue plugin. Before all others.
		p := c.args["profile"]
		d.cfg.PreEnqueue[p] = append(d.cfg.PreEnqueue[p], &gate{d, c.words[0]})
	case "profiles":
		// profiles P...: those that there are, besides that of workloads which name none.
		// Before all others.
		d.cfg.Profiles = map[string]bool{"": true}
		for _, p := range c.words {
			d.cfg.Profiles[p] = true
		}
	case "groups":
		// groups [profile=P]: the profile places groups as groups. Before all
		// others.
		d.cfg.AsGroups[c.args["profile"]] = true
		d.cfg.Groups = func() GroupTrees { return d.trees }
	case "says":
		// says PLUGIN skip|queue|error: what the plugin's hints answer from now
		// on. At first it is queue.
		d.says[c.words[0]] = c.words[1]
	case "shut":
		// shut GATE WORKLOAD [error=true]: the gate turns it away from now on,
		// or fails on it.
		if d.shut[c.words[0]] == nil {
			d.shut[c.words[0]] = map[string]string{}
		}
		d.shut[c.words[0]][c.words[1]] = c.args["error"]
	case "open":
		// open GATE WORKLOAD: the gate lets it pass from now on. Nobody is told.
		delete(d.shut[c.words[0]], c.words[1])
	default:
		return false
	}
	return true
}

func (d *dialogue) do(c command) {
	if d.q == nil {
		d.open()
	}
	q := d.q
	switch c.verb {
	case "at":
		// at DURATION: it is now so long after the start.
		d.now = start.Add(duration(c.words[0]))
	case "add":
		// add ID... [priority=N] [profile=P] [cpu=N] [gates=A,B] [tolerations=N]
		// [label=L] [group=G]: Queue.Add.
		for _, id := range c.words {
			d.know[id] = version(c, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}})
			q.Add(d.now, d.know[id])
		}
	case "update":
		// update ID [as add]: Queue.Update with these things changed.
		old := d.know[c.words[0]]
		if old == nil {
			old = &extpoints.WorkloadInfo{Workload: &model.Workload{ID: c.words[0]}}
		}
		d.know[old.ID] = version(c, old)
		q.Update(d.now, old, d.know[old.ID])
	case "pop":
		// pop [n=N]: Queue.Pop, n times.
		n := 1
		if c.args["n"] != "" {
			n = c.int("n")
		}
		for range n {
			it, ok := q.Pop(d.now)
			if !ok {
				d.say("nothing to schedule")
				return
			}
			d.items[it.ID()] = it
			for _, m := range it.Members {
				d.items[m.ID()] = m
			}
			if it.Tree != nil {
				d.say("  %s", treeText(it.Tree))
			}
		}
	case "attempted":
		// attempted GROUP placed|rejected|failed|nominated: Queue.AddAttempted of a popped
		// tree.
		how := map[string]Outcome{"placed": GroupPlaced, "rejected": GroupRejected, "failed": GroupFailed, "nominated": GroupNominated}
		q.AddAttempted(d.now, d.items[c.words[0]], how[c.words[1]])
	case "group":
		// group ID [parent=ID] [priority=N] [composite=true] [created=N]: makes
		// or changes the group, and Queue.GroupChanged.
		g := &model.Group{ID: c.words[0], Parent: c.args["parent"], Composite: c.args["composite"] == "true"}
		if c.args["priority"] != "" {
			g.Priority = int32(c.int("priority"))
		}
		if c.args["created"] != "" {
			g.CreatedAt = start.Add(time.Duration(c.int("created")))
		}
		d.trees[g.ID] = g
		q.GroupChanged(d.now, g.ID)
	case "ungroup":
		// ungroup ID: removes the group, and Queue.GroupChanged.
		delete(d.trees, c.words[0])
		q.GroupChanged(d.now, c.words[0])
	case "fail":
		// fail ID... [by=PLUGIN,...] [pending=PLUGIN,...]: Queue.AddUnschedulable
		// of popped ones; without plugins it is an error.
		for _, id := range c.words {
			if d.items[id] == nil {
				d.say("%s was never popped", id)
				continue
			}
			q.AddUnschedulable(d.now, d.items[id], split(c.args["by"]), split(c.args["pending"]))
		}
	case "done":
		// done ID...: Queue.Done.
		for _, id := range c.words {
			q.Done(id)
		}
	case "delete":
		// delete ID...: Queue.Delete.
		for _, id := range c.words {
			q.Delete(id)
		}
	case "activate":
		// activate ID...: Queue.Activate.
		q.Activate(d.now, c.words...)
	case "retry":
		// retry ID: Queue.Retry.
		q.Retry(d.now, c.words[0], EvictionFailed)
	case "move":
		// move KIND/ACTION [new=ID] [node=NAME] [upto=N]: Queue.Move with the
		// workload or node as the new object, for workloads of priority N at most.
		change := extpoints.Event{ClusterEvent: parseEvent(c.words[0]), NewWorkload: d.know[c.args["new"]]}
		if name := c.args["node"]; name != "" {
			change.NewNode = &model.Node{Name: name}
		}
		var check func(*model.Workload) bool
		if c.args["upto"] != "" {
			check = func(w *model.Workload) bool { return int(w.Priority) <= c.int("upto") }
		}
		q.Move(d.now, &change, check)
	case "tick":
		// tick: Queue.Tick.
		q.Tick(d.now)
	case "due":
		// due: Queue.NextDue.
		if due, ok := q.NextDue(d.now); ok {
			d.say("due at %s", since(due))
		} else {
			d.say("nothing due")
		}
	case "where":
		// where ID...: Queue.Position.
		for _, id := range c.words {
			d.where(id)
		}
	case "tree":
		// tree GROUP: the item of the tree of which it is the highest group.
		for p := range places {
			for _, it := range q.listed(p) {
				if it.Group != nil && it.ID() == c.words[0] {
					d.tree(it, p)
				}
			}
		}
	case "list":
		// list PLACE: what is there.
		p := Place(slices.Index(placeNames[:], c.words[0]))
		var ids []string
		for _, it := range q.listed(p) {
			ids = append(ids, it.ID())
		}
		d.say("%s: %s", p, strings.Join(ids, " "))
	case "counts":
		// counts: Queue.Counts, what is the queue's of it.
		c := q.Counts()
		d.say("{Active:%d Backoff:%d ErrorBackoff:%d Unschedulable:%d Gated:%d InFlight:%d Incomplete:%d Joining:%d Events:%d}",
			c.Active, c.Backoff, c.ErrorBackoff, c.Unschedulable, c.Gated, c.InFlight, c.Incomplete, c.Joining, c.Events)
	default:
		panic("unknown verb: " + c.line)
	}
}

func (d *dialogue) tree(it *Item, p Place) {
	d.say("%s: %s priority=%d attempts=%d unschedulable=%d errors=%d since=%s until=%s", it.ID(), p, it.Priority,
		it.Attempts, it.UnschedulableCount, it.ConsecutiveErrors, since(it.Timestamp), since(it.BackoffExpiration))
	d.say("  members %s", strings.Join(names(it.Members, (*Item).ID), " "))
	if it.GatingPlugin != "" {
		d.say("  gated by %s", it.GatingPlugin)
	}
}

// treeText writes a tree with its members: G(a b, H(c)).
func treeText(g *extpoints.GroupInfo) string {
	parts := []string{strings.Join(names(g.Members, func(w *extpoints.WorkloadInfo) string { return w.ID }), " ")}
	for _, child := range g.Children {
		parts = append(parts, treeText(child))
	}
	if parts[0] == "" {
		parts = parts[1:]
	}
	return g.ID + "(" + strings.Join(parts, ", ") + ")"
}

// groupMap has groups by ID.
type groupMap map[string]*model.Group

func (m groupMap) Get(id string) *model.Group { return m[id] }

func (m groupMap) Root(id string) *model.Group {
	g := m[id]
	for range model.MaxGroupDepth {
		if g == nil || g.Parent == "" {
			return g
		}
		if g = m[g.Parent]; g != nil && !g.Composite {
			return nil
		}
	}
	return nil
}

func (m groupMap) Children(id string) []*model.Group {
	var list []*model.Group
	for _, g := range m {
		if g.Parent == id {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, (*model.Group).CompareAge)
	return list
}

func (d *dialogue) where(id string) {
	p, ok := d.q.Position(id)
	if !ok {
		d.say("%s: not in the queue", id)
		return
	}
	name := id
	if p.Group != "" {
		name += " of " + p.Group
	}
	d.say("%s: %s attempts=%d unschedulable=%d errors=%d since=%s until=%s", name, p.Place,
		p.Attempts, p.UnschedulableCount, p.ConsecutiveErrors, since(p.Timestamp), since(p.BackoffExpiration))
	if len(p.UnschedulablePlugins)+len(p.PendingPlugins) > 0 {
		d.say("  rejected by %v, pending on %v", p.UnschedulablePlugins, p.PendingPlugins)
	}
	if p.GatingPlugin != "" {
		d.say("  gated by %s: %s", p.GatingPlugin, p.Gate)
	}
	if p.Flushed {
		d.say("  flushed")
	}
}

// open makes the queue.
func (d *dialogue) open() {
	d.cfg.OnMove = func(m Move) {
		by := ""
		if m.Plugin != "" {
			by = " by " + m.Plugin
		}
		name := m.ID
		if m.Group != "" {
			name += " of " + m.Group
		}
		d.say("%s: %s -> %s%s (%s)", name, m.From, m.To, by, eventName(m.Event))
	}
	d.cfg.OnHintError = func(id, plugin string, err error) { d.say("hint of %s for %s failed: %v", plugin, id, err) }
	d.cfg.OnGateError = func(id, plugin string, err error) { d.say("gate %s for %s failed: %v", plugin, id, err) }
	q, err := New(d.cfg.Timing, d.cfg.Compat, d.cfg.Hooks)
	if err != nil {
		panic(err)
	}
	d.q = q
}

func (d *dialogue) hint(plugin string) extpoints.HintFunc {
	return func(w *model.Workload, c *extpoints.Event) (extpoints.Hint, error) {
		answer := d.says[plugin]
		if answer == "" {
			answer = "queue"
		}
		d.say("  %s asked for %s on %s: %s", plugin, w.ID, eventName(c.ClusterEvent), answer)
		switch answer {
		case "skip":
			return extpoints.HintSkip, nil
		case "error":
			return extpoints.HintSkip, errors.New("no idea")
		}
		return extpoints.HintQueue, nil
	}
}

type gate struct {
	d    *dialogue
	name string
}

func (g *gate) Name() string { return g.name }

func (g *gate) PreEnqueue(w *model.Workload) *extpoints.Status {
	fail, closed := g.d.shut[g.name][w.ID]
	switch {
	case !closed:
		g.d.say("  gate %s open for %s", g.name, w.ID)
		return nil
	case fail != "":
		return extpoints.AsStatus(errors.New("stuck"))
	}
	g.d.say("  gate %s shut for %s", g.name, w.ID)
	return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "not yet")
}

// version returns the workload with what the command says changed.
func version(c command, old *extpoints.WorkloadInfo) *extpoints.WorkloadInfo {
	w := *old.Workload
	for k, v := range c.args {
		switch k {
		case "priority":
			w.Priority = int32(c.int(k))
		case "profile":
			w.Profile = v
		case "cpu":
			w.Requests.CPU = int64(c.int(k))
		case "gates":
			w.Gates = split(v)
		case "tolerations":
			w.Tolerations = make([]model.Toleration, c.int(k))
		case "group":
			w.Group = v
		case "label":
			w.Labels = map[string]string{"label": v}
		default:
			panic(c.line)
		}
	}
	return &extpoints.WorkloadInfo{Workload: &w}
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

var actions = map[string]extpoints.Action{
	"Add":                           extpoints.Add,
	"Delete":                        extpoints.Delete,
	"Update":                        extpoints.Update,
	"All":                           extpoints.AllActions,
	"UpdateNodeAllocatable":         extpoints.UpdateNodeAllocatable,
	"UpdateNodeLabel":               extpoints.UpdateNodeLabel,
	"UpdateNodeTaint":               extpoints.UpdateNodeTaint,
	"UpdateNodeDevices":             extpoints.UpdateNodeDevices,
	"UpdateWorkloadLabel":           extpoints.UpdateWorkloadLabel,
	"UpdateWorkloadScaleDown":       extpoints.UpdateWorkloadScaleDown,
	"UpdateWorkloadScaleUp":         extpoints.UpdateWorkloadScaleUp,
	"UpdateWorkloadToleration":      extpoints.UpdateWorkloadToleration,
	"UpdateWorkloadGatesEliminated": extpoints.UpdateWorkloadGatesEliminated,
	"UpdateWorkloadDeviceClaims":    extpoints.UpdateWorkloadDeviceClaims,
}

// parseEvent reads KIND/ACTION, where the action may be several joined with |.
func parseEvent(s string) extpoints.ClusterEvent {
	kind, names, _ := strings.Cut(s, "/")
	e := extpoints.ClusterEvent{Resource: model.ObjectKind(kind)}
	for name := range strings.SplitSeq(names, "|") {
		a, ok := actions[name]
		if !ok {
			panic("no action " + name)
		}
		e.Action |= a
	}
	return e
}

func eventName(e extpoints.ClusterEvent) string {
	if e.Label != "" {
		return e.Label
	}
	for name, a := range actions {
		if a == e.Action {
			return string(e.Resource) + "/" + name
		}
	}
	return fmt.Sprintf("%s/%#x", e.Resource, e.Action)
}
