package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// noPoints and bindsNothing are what extenders can be asked.
func noPoints(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (map[string]int64, error) {
	return nil, nil
}

func bindsNothing(context.Context, *model.Workload, model.Binding) error { return nil }

func TestExtendersListEveryProblem(t *testing.T) {
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{
		{Name: "a"}, {Name: "a"}, {}, {Name: "w", Prioritize: noPoints},
		{Name: "b1", Bind: bindsNothing}, {Name: "b2", Bind: bindsNothing},
		{Name: "a weight that nothing is multiplied with", Weight: -1}, {Name: "\xff"},
	}
	_, err := engine.New(cfg)
	require.EqualError(t, err, strings.Join([]string{
		`config: Extenders[1].Name: "a" is listed twice`,
		`config: Extenders[2].Name: is empty`,
		`config: Extenders[3].Weight: extender "w" prioritizes with a weight of 0; it must be positive`,
		`config: Extenders[7].Name: "\xff" is not valid UTF-8, and no record could tell whose answers are its`,
		`config: Extenders: only one may bind, got ["b1" "b2"]`,
	}, "\n"))

	cfg.Extenders = []extpoints.Extender{{Name: "a"}}
	use(&cfg, namedExtender{}, extpoints.Only("PreEnqueue"))
	_, err = engine.New(cfg)
	require.EqualError(t, err, `profile "default-scheduler": plugin "Extender": the name stands for the extenders where there are any`)
}

type namedExtender struct{ otherSort }

func (namedExtender) Name() string { return extpoints.ExtenderPlugin }

// answerNothing is an answer that is none.
func answerNothing(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	return nil, nil
}

// An error says whose it is and what it is about, and can be looked into.
func TestExtenderErrors(t *testing.T) {
	var events []engine.RejectedEvent
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: answerNothing}}
	cfg.Listener = engine.Listener{Rejected: func(e engine.RejectedEvent) { events = append(events, e) }}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	w := &model.Workload{ID: "id", Namespace: "shop", Name: "web"}
	require.NoError(t, r.Apply(epoch, node("n1", 1000), engine.Submit(w)))
	require.True(t, r.Schedule(epoch))
	require.Len(t, events, 1)
	require.EqualError(t, events[0].Err, `extender "x": filter workload "shop/web": there is no answer`)
	var failed *extpoints.ExtenderError
	require.ErrorAs(t, events[0].Err, &failed)
	require.Equal(t, []string{"x", "filter", "id"}, []string{failed.Extender, failed.Verb, failed.Workload})
	pos, ok := r.Queue("id")
	require.True(t, ok)
	require.EqualValues(t, 1, pos.ConsecutiveErrors)
}

// A panic while an extender is asked whether it is interested is its failure.
func TestInterestedPanics(t *testing.T) {
	for _, ignorable := range []bool{false, true} {
		var failed []string
		o := &world{}
		cfg := config(o)
		cfg.Extenders = []extpoints.Extender{{
			Name: "x", Ignorable: ignorable, Filter: answerNothing, Bind: bindsNothing,
			Interested: func(*model.Workload) bool { panic("shy") },
		}}
		cfg.Listener = engine.Listener{Failed: func(e engine.FailedEvent) { failed = append(failed, e.Err.Error()) }}
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("w", 1)))
		settle(r, epoch)
		if !ignorable {
			require.Empty(t, o.nodesOf("w"))
			require.Empty(t, failed)
			continue
		}
		require.Len(t, o.nodesOf("w"), 1)
		require.Equal(t, []string{
			`extender "x": interested workload "w": panic: shy`, // filtering
			`extender "x": interested workload "w": panic: shy`, // binding
		}, failed)
	}
}

// What is no text in an answer is made one before it is used, so that a record
// can keep it.
func TestExtenderAnswersAreText(t *testing.T) {
	answers := []func() (*extpoints.ExtenderFilterResult, error){
		func() (*extpoints.ExtenderFilterResult, error) { return nil, errors.New("out\xff of order") },
		func() (*extpoints.ExtenderFilterResult, error) { return nil, errors.New("") },
		func() (*extpoints.ExtenderFilterResult, error) {
			return &extpoints.ExtenderFilterResult{Nodes: []string{"n\xff1"}}, nil
		},
		func() (*extpoints.ExtenderFilterResult, error) {
			return &extpoints.ExtenderFilterResult{Failed: map[string]string{"n1": "<\xff>", "n\xff": "gone"}}, nil
		},
	}
	asked := 0
	var events, again []string
	var log, copied bytes.Buffer
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		asked++
		return answers[asked-1]()
	}}}
	cfg.Listener, cfg.Recorder = simulate.EventLines(&events), engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000)))
	for i := range answers {
		require.NoError(t, r.Apply(epoch, task(fmt.Sprint("w", i), 1)))
		require.True(t, r.Schedule(epoch))
	}
	require.Contains(t, strings.Join(events, "\n"), "out\uFFFD of order")
	require.Contains(t, strings.Join(events, "\n"), "an error without a text")
	require.Contains(t, strings.Join(events, "\n"), "1 <\uFFFD>")

	cfg.Listener, cfg.Recorder = simulate.EventLines(&again), engine.NewRecorder(&copied)
	_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, len(answers), asked, "a replay asks nobody")
	requireSameLines(t, events, again, "replay")
	requireSameLog(t, log.Bytes(), copied.Bytes(), "replay")
}

// A record and a configuration that do not belong together are found out.
func TestReplayWithOtherExtenders(t *testing.T) {
	var log bytes.Buffer
	cfg := config(&world{})
	all := func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		return &extpoints.ExtenderFilterResult{Nodes: []string{nodes[0].Node.Name}}, nil
	}
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: all}}
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 1)))
	require.True(t, r.Schedule(epoch))

	cfg.Recorder = nil
	for name, want := range map[string]string{
		"x": "", "y": `replay: line 3: workload "w": recorded: a decision about "w" (node "n1"); ` +
			`replayed: there is no answer of extender "y" to filter workload "w" on record ` +
			`(the configuration differs: Extenders[0]: recorded x, weight 0, filter, given y, weight 0, filter)`,
	} {
		cfg.Extenders = []extpoints.Extender{{Name: name, Filter: all}}
		_, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
	}
	asked := 0
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		asked++
		return all(ctx, w, nodes)
	}}}
	r, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, task("v", 1)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, 1, asked, "what comes after the replay is asked")

	cfg.Extenders = nil
	_, err = engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	var d *engine.Divergence
	require.ErrorAs(t, err, &d)
	require.Equal(t, 3, d.Line)
	require.Equal(t, "x", d.Plugin)
	require.Equal(t, `the answer of extender "x" to filter workload "w" was not asked for`, d.Got)
}

// What an extender does to the list that it is given is its own affair.
func TestExtenderListsAreItsOwn(t *testing.T) {
	o := &world{}
	cfg := config(o)
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		clear(nodes)
		return &extpoints.ExtenderFilterResult{Nodes: []string{"n2"}}, nil
	}}}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("w", 1)))
	settle(r, epoch)
	require.Equal(t, []string{"n2"}, o.nodesOf("w"))
}

// Branches and explanations ask, and nothing of it is recorded.
func TestBranchesAskLive(t *testing.T) {
	var log bytes.Buffer
	asked := 0
	cfg := config(&world{})
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		asked++
		return &extpoints.ExtenderFilterResult{Nodes: []string{nodes[asked%len(nodes)].Node.Name}}, nil
	}}}
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), task("w", 1)))
	before := log.Len()
	d, err := r.Branch().Schedule(epoch, "w")
	require.NoError(t, err)
	require.Equal(t, "n2", d.Binding.Node)
	e, err := r.Explain(epoch, "w", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "n1", e.Node)
	require.Equal(t, 3, asked, "an explanation asks once about the node, once about the rest")
	require.Equal(t, before, log.Len())
	require.NotContains(t, log.String(), "Answers")
}

// An engine that stops does not wait for an extender.
func TestStopEndsExtenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(&world{})
		cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(ctx context.Context, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}}
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("w", 1)))
		synctest.Wait()
		began := time.Now()
		require.NoError(t, stop())
		require.Equal(t, began, time.Now(), "by the fake clock: at once")
		w, ok := e.View().Workload("w")
		require.True(t, ok)
		require.Equal(t, model.Pending, w.Phase, "it is not lost")
	})
}

// Two workloads that look the same are not interchangeable where somebody
// outside may tell them apart.
func TestNoSignatureWithExtenders(t *testing.T) {
	for _, list := range [][]extpoints.Extender{nil, {{Name: "x"}}} {
		cfg := config(&world{})
		cfg.Extenders = list
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		require.NoError(t, r.Apply(epoch, node("n1", 1000), task("w", 1)))
		e, err := r.Explain(epoch, "w", engine.ExplainOptions{})
		require.NoError(t, err)
		require.Equal(t, list != nil, e.Signature == "")
	}
}

// slots is a Score plugin that compares the nodes with those of the view.
type slots struct{ seen map[string]string }

func (slots) Name() string { return "Slots" }
func (p slots) Score(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) (int64, *extpoints.Status) {
	of := s.View().Nodes().Get(n.Node.Name)
	p.seen[n.Node.Name] = fmt.Sprint(n.Slot == of.Slot, n.Node == of.Node, len(n.Workloads), len(of.Workloads), n.Requested.CPU)
	return 0, nil
}

// A bare node is the same node with nothing on it.
func TestBareNodes(t *testing.T) {
	p := slots{map[string]string{}}
	cfg := config(&world{})
	use(&cfg, p)
	bare := false
	cfg.Extenders = []extpoints.Extender{{Name: "x", Filter: func(context.Context, *extpoints.WorkloadInfo, []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
		return &extpoints.ExtenderFilterResult{Nodes: []string{"n3", "n1"}, Bare: bare}, nil
	}}}
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), node("n3", 1000),
		engine.Adopt(&model.Workload{ID: "a", Requests: model.Resources{CPU: 300}}, model.Binding{Node: "n3"}), task("v", 1)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, map[string]string{"n1": "true true 0 0 0", "n3": "true true 1 1 300"}, p.seen)
	bare = true
	require.NoError(t, r.Apply(epoch, engine.Remove("v"), task("w", 1)))
	require.True(t, r.Schedule(epoch))
	require.Equal(t, map[string]string{"n1": "true true 0 0 0", "n3": "true true 0 1 0"}, p.seen)
}

// The points of an extender that nobody is interested in change nothing, and
// with one that gives none the decisions are those without it: the tie-break of
// kube-scheduler is the same where all nodes are scored as where none is.
func TestSilentExtendersChangeNothing(t *testing.T) {
	t.Parallel()
	decisions := func(list ...extpoints.Extender) map[string]string {
		cfg := config(&world{})
		cfg.Extenders = list
		r, err := engine.NewRaw(cfg)
		require.NoError(t, err)
		var changes []engine.Change
		for i := range 150 {
			changes = append(changes, node(fmt.Sprintf("n%03d", i), int64(1000+i%7*500)))
		}
		require.NoError(t, r.Apply(epoch, append(changes, tasks(200, 300)...)...))
		settle(r, epoch)
		placed := map[string]string{}
		for w := range r.View().Workloads() {
			placed[w.ID] = w.Node
		}
		return placed
	}
	without := decisions()
	for name, list := range map[string][]extpoints.Extender{
		"prioritizer": {{Name: "x", Prioritize: noPoints, Weight: 5}},
		"filter": {{Name: "x", Filter: func(_ context.Context, _ *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
			r := &extpoints.ExtenderFilterResult{}
			for _, n := range nodes {
				r.Nodes = append(r.Nodes, n.Node.Name)
			}
			return r, nil
		}}},
		"nothing": {{Name: "x", Weight: 1}},
	} {
		require.True(t, maps.Equal(without, decisions(list...)), name)
	}
}
