package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// broken is an orchestrator of whose nodes some start nothing.
type broken struct {
	world
	nodes []string
	tries map[string][]string // of workloads: the nodes
}

func breaks(nodes ...string) *broken { return &broken{nodes: nodes, tries: map[string][]string{}} }

func (o *broken) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	o.mu.Lock()
	o.tries[w.ID] = append(o.tries[w.ID], b.Node)
	fails := slices.Contains(o.nodes, b.Node)
	o.mu.Unlock()
	if fails {
		return fmt.Errorf("node %q: no space left on device: %w", b.Node, extpoints.ErrNotThere)
	}
	return o.world.Bind(ctx, w, b)
}

// failures is how often a start has failed.
func (o *broken) failures() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, nodes := range o.tries {
		for _, node := range nodes {
			if slices.Contains(o.nodes, node) {
				n++
			}
		}
	}
	return n
}

// A node that starts nothing stays empty, so that it is liked best. All the same all workloads get
// to the nodes that work, with few tries in vain; those that come later with none.
func TestABrokenNodeIsNoBlackHole(t *testing.T) {
	for name, bad := range map[string][]string{"one of two": {"a"}, "two of three": {"a", "b"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := breaks(bad...)
				e, stop := start(t, config(o))
				changes := []engine.Change{node("works", 100_000)}
				for _, n := range bad {
					changes = append(changes, node(n, 400_000))
				}
				require.NoError(t, e.Apply(changes...))
				require.NoError(t, e.Apply(tasks(20, 1000)...))
				time.Sleep(30 * time.Second)
				synctest.Wait()
				require.Equal(t, 20, count(e.View(), model.Bound))
				failures := o.failures()
				require.LessOrEqual(t, failures, 20*len(bad), "each has tried each of them once at most")

				require.NoError(t, e.Apply(task("late", 1000)))
				synctest.Wait()
				require.Equal(t, []string{"works"}, o.nodesOf("late"))
				require.Equal(t, failures, o.failures())
				require.NoError(t, stop())
			})
		})
	}
}

// notThere is one engine whose node "big" starts nothing, beside "small" with room for one.
type notThere struct {
	*testing.T
	*engine.Raw
	o   *broken
	now time.Time
}

func inNotThere(t *testing.T, cfg func(*engine.Config), changes ...engine.Change) *notThere {
	n := &notThere{T: t, o: breaks("big"), now: epoch}
	c := config(n.o)
	if cfg != nil {
		cfg(&c)
	}
	var err error
	n.Raw, err = engine.NewRaw(c)
	require.NoError(t, err)
	n.apply(append([]engine.Change{node("big", 10_000)}, changes...)...)
	return n
}

func (n *notThere) apply(changes ...engine.Change) {
	n.Helper()
	require.NoError(n, n.Apply(n.now, changes...))
	settle(n.Raw, n.now)
}

// pass lets time pass, with all that is due in it.
func (n *notThere) pass(d time.Duration) {
	for end := n.now.Add(d); ; {
		due, ok := n.NextDue(n.now)
		if !ok || due.After(end) {
			n.now = end
			return
		}
		n.now = due
		n.Tick(due)
		settle(n.Raw, due)
	}
}

// verdict is what Explain says of a node for the workload.
func (n *notThere) verdict(id, node string) string {
	n.Helper()
	e, err := n.Explain(n.now, id, engine.ExplainOptions{})
	require.NoError(n, err)
	for _, x := range e.Nodes {
		if x.Node == node && len(x.Verdicts) > 0 {
			return x.Verdicts[0].Plugin + ": " + x.Verdicts[0].Reasons[0]
		}
	}
	return ""
}

func (n *notThere) place(id string) string {
	p, _ := n.Queue(id)
	return p.Place.String()
}

// While another node will do later the broken one is left out, for longer each time; Explain says
// so. When the time is over it is tried again.
func TestAnAvoidedNodeIsTriedAgain(t *testing.T) {
	n := inNotThere(t, nil, node("small", 1000), running("r", "small", 1000), task("w", 1000))
	n.pass(59 * time.Second)
	require.Equal(t, []string{"big"}, n.o.tries["w"])
	require.Equal(t, "Unschedulable", n.place("w"))
	require.Equal(t, "NotThere: node(s) could not start it and are avoided until 2026-01-01T00:01:00Z", n.verdict("w", "big"))
	e, err := n.Explain(n.now, "w", engine.ExplainOptions{})
	require.NoError(t, err)
	require.Equal(t, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) could not start it and are avoided until 2026-01-01T00:01:00Z.", e.Message)
	d, err := n.Branch().Schedule(n.now, "w")
	require.NoError(t, err)
	require.Contains(t, d.Message, e.Message, "a branch sees it, too")

	for tries, wait := range []time.Duration{2 * time.Second, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		n.pass(wait)
		require.Len(t, n.o.tries["w"], tries+2, "after %v", n.now.Sub(epoch))
	}
	n.o.nodes = nil // it is mended
	n.pass(10 * time.Minute)
	require.Equal(t, []string{"big"}, n.o.nodesOf("w"))
}

// Where no other node can ever take the workload, the one that there is is not avoided.
func TestTheOnlyNodeIsNotAvoided(t *testing.T) {
	for name, others := range map[string][]engine.Change{
		"it is the only one":     nil,
		"the other is too small": {node("small", 500)},
		"the other is closed":    {engine.PutNode(&model.Node{Name: "small", Unschedulable: true, Allocatable: model.Resources{CPU: 10_000}})},
	} {
		t.Run(name, func(t *testing.T) {
			n := inNotThere(t, nil, append(others, task("w", 1000))...)
			n.pass(5 * time.Minute)
			require.Greater(t, len(n.o.tries["w"]), 20, "after each backoff")
			n.o.nodes = nil
			n.pass(10 * time.Second)
			require.Equal(t, []string{"big"}, n.o.nodesOf("w"))
		})
	}
}

// What ends it before its time.
func TestWhatEndsThatANodeIsAvoided(t *testing.T) {
	labelled := &model.Node{Name: "big", Labels: map[string]string{"disk": "new"}, Allocatable: model.Resources{CPU: 10_000, Memory: 1 << 40}}
	for name, test := range map[string]struct {
		changes []engine.Change
		ends    bool
	}{
		"another version of the node": {changes: []engine.Change{engine.PutNode(labelled)}, ends: true},
		"it goes and comes back":      {changes: []engine.Change{engine.RemoveNode("big"), node("big", 10_000)}, ends: true},
		"the other one goes":          {changes: []engine.Change{engine.RemoveNode("small")}, ends: true},
		"the same node once more":     {changes: []engine.Change{node("big", 10_000)}},
		"another node as it was":      {changes: []engine.Change{node("small", 1000)}},
	} {
		t.Run(name, func(t *testing.T) {
			n := inNotThere(t, nil, node("small", 1000), running("r", "small", 1000), task("w", 1000))
			n.pass(20 * time.Second)
			require.Len(t, n.o.tries["w"], 1)
			b := n.Branch()
			require.NoError(t, b.Apply(n.now, test.changes...))
			d, err := b.Schedule(n.now, "w")
			require.NoError(t, err)
			require.Equal(t, test.ends, d.Placed(), "on a branch")
			n.apply(test.changes...)
			require.Len(t, n.o.tries["w"], 1+map[bool]int{true: 1}[test.ends])
		})
	}
}

// A node that is empty because it is broken does not keep a workload from displacing others.
func TestABrokenNodeDoesNotPreventPreemption(t *testing.T) {
	n := inNotThere(t, nil, node("small", 1000), running("r", "small", 1000),
		engine.Submit(&model.Workload{ID: "w", Priority: 10, Requests: model.Resources{CPU: 1000}}))
	n.pass(5 * time.Second)
	require.Equal(t, []string{"r"}, n.o.evicted)
}

// Others keep away from a node that has failed to start several, as long as they have a choice,
// and trust it as soon as it has started one.
func TestOthersDoubtANodeThatStartsNothing(t *testing.T) {
	n := inNotThere(t, nil, node("small", 4000), task("a", 1000), task("b", 1000))
	n.apply(task("c", 1000))
	n.apply(task("d", 1000))
	require.Equal(t, []string{"small"}, n.o.tries["d"], "three have failed")
	require.Equal(t, "NotThere: node(s) could not start others and are avoided where there is a choice until 2026-01-01T00:01:00Z", n.verdict("d", "big"))
	n.pass(10 * time.Second)
	require.Equal(t, 4, count(n.View(), model.Bound))

	n.o.nodes = nil
	n.apply(task("e", 1000))
	require.Equal(t, []string{"big"}, n.o.tries["e"], "there is no choice")
	n.apply(task("f", 1000), engine.Remove("d"))
	require.Equal(t, []string{"big"}, n.o.tries["f"], "it is trusted again")
}

// A replay keeps away from the same nodes, from the beginning or from the middle, and so does the fast decider.
func TestAReplayAvoidsTheSameNodes(t *testing.T) {
	var log, tail bytes.Buffer
	cfg := func(c *engine.Config) { c.Recorder = engine.NewRecorder(&log) }
	n := inNotThere(t, cfg, node("small", 1000), running("r", "small", 1000), task("w", 1000), task("x", 500), task("y", 500))
	n.pass(30 * time.Second)
	first := bytes.Clone(log.Bytes())
	require.NoError(t, n.StartRecording(n.now, engine.NewRecorder(&tail)))
	n.pass(10 * time.Minute)
	n.apply(engine.Finish("r"))
	n.pass(time.Hour)
	for _, log := range [][]byte{first, tail.Bytes()} {
		r, err := engine.Replay(config(n.o), bytes.NewReader(log))
		require.NoError(t, err)
		require.NotNil(t, r)
	}
}

// With an orchestrator that never says it nothing is avoided.
func TestOtherErrorsAvoidNothing(t *testing.T) {
	o := &world{onBind: func(context.Context, string) error { return context.DeadlineExceeded }}
	r := newRaw(t, o)
	require.NoError(t, r.Apply(epoch, node("a", 1000), node("b", 10_000), task("w", 100)))
	settle(r, epoch)
	d, err := r.Branch().Schedule(epoch, "w")
	require.NoError(t, err)
	require.Equal(t, "b", d.Binding.Node)
}
