package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// likes is a Score plugin that likes one node: that of its arguments, or the one that
// it was built for.
type likes struct{ node string }

type likesArgs struct{ Node string }

func (likes) Name() string { return "Likes" }

func (p likes) Score(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, n *extpoints.NodeInfo) (int64, *extpoints.Status) {
	if n.Node.Name == p.node {
		return extpoints.MaxScore, nil
	}
	return 0, nil
}

// liking is a configuration whose version of the plugin likes a node, or where it likes
// none that of its arguments.
func liking(version string, args likesArgs) engine.Config {
	cfg := config(&world{})
	extpoints.Use(&cfg.Profiles[0], func(args likesArgs, _ extpoints.Handle) (likes, error) {
		if version != "" {
			return likes{version}, nil
		}
		return likes{args.Node}, nil
	}, args, extpoints.Weight(100))
	return cfg
}

// recording is what makes of the configuration a log, whose lines tell also what the
// test does.
func recording(t *testing.T, cfg engine.Config, do func(r *engine.Raw)) string {
	t.Helper()
	var log bytes.Buffer
	cfg.Recorder = engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	do(r)
	return log.String()
}

// placeFive has two nodes and places five workloads: lines 2 to 12 of the log, an
// attempt and a binding each.
func placeFive(t *testing.T) func(r *engine.Raw) {
	return func(r *engine.Raw) {
		changes := append([]engine.Change{node("a", 10000), node("b", 10000)}, tasks(5, 100)...)
		require.NoError(t, r.Apply(epoch, changes...))
		settle(r, epoch)
	}
}

// A replay ends at the first decision that differs, says what was recorded and what it
// has, and which settings differ; the engine is as it was before.
func TestReplayDiverges(t *testing.T) {
	t.Parallel()
	recorded := func() engine.Config { return liking("", likesArgs{Node: "a"}) }
	log := recording(t, recorded(), placeFive(t))
	const args = `profile "default-scheduler", Args of Likes: recorded `
	for name, test := range map[string]struct {
		cfg    engine.Config
		change func(c *engine.Config)
		want   engine.Divergence
		config []string // beginnings
	}{
		"the same":        {cfg: recorded()},
		"no orchestrator": {cfg: recorded(), change: func(c *engine.Config) { c.Orchestrator = nil }},
		"settings that have no part in decisions": {cfg: recorded(), change: func(c *engine.Config) {
			c.Workers, c.RememberDecisions, c.MaxBindings, c.SampleEvery = 4, 1, 1, 1
		}},
		"another version of a plugin": {cfg: liking("b", likesArgs{Node: "a"}),
			want: engine.Divergence{Line: 3, Workload: "t000", Want: `node "a"`, Got: `node "b"`}},
		"other arguments": {cfg: liking("", likesArgs{Node: "b"}),
			want:   engine.Divergence{Line: 3, Workload: "t000", Want: `node "a"`, Got: `node "b"`},
			config: []string{args}},
		"other arguments that change no decision": {cfg: liking("a", likesArgs{Node: "b"}),
			want:   engine.Divergence{Line: 1, Want: "another configuration", Got: "the same decisions"},
			config: []string{args}},
		"another order of the queue": {cfg: recorded(), change: func(c *engine.Config) { use(c, youngestFirst{}); c.Profiles[0].Remove("PrioritySort") },
			want: engine.Divergence{Line: 3, Workload: "t000", Want: `a decision about "t000" (node "a")`, Got: `a decision about "t004" (node "a")`},
			config: []string{
				`profile "default-scheduler", QueueSort: recorded PrioritySort, given YoungestFirst`,
			}},
		"a plugin that rejects": {cfg: recorded(), change: func(c *engine.Config) { use(c, rejectAll{}) },
			want:   engine.Divergence{Line: 3, Workload: "t000", Want: `node "a"`, Got: `Unschedulable by RejectAll`},
			config: []string{`profile "default-scheduler", Args of RejectAll: `, `profile "default-scheduler", Filter: `}},
		"another weight, seed and backoff": {cfg: recorded(), change: func(c *engine.Config) {
			c.Seed, c.Queue.MaxBackoff = 7, time.Minute
		},
			want: engine.Divergence{Line: 1, Want: "another configuration", Got: "the same decisions"},
			config: []string{
				"Queue.MaxBackoff: recorded 10s, given 1m0s", "Seed: recorded 0, given 7",
			}},
		"no such profile": {cfg: recorded(), change: func(c *engine.Config) { c.Profiles[0].Name = "other" },
			want:   engine.Divergence{Line: 1, Want: "another configuration", Got: "the same decisions"},
			config: []string{`Profiles: recorded default-scheduler, given other`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.change != nil {
				test.change(&test.cfg)
			}
			r, err := engine.Replay(test.cfg, strings.NewReader(log))
			require.NotNil(t, r)
			if test.want.Line == 0 {
				require.NoError(t, err)
				return
			}
			var got *engine.Divergence
			require.ErrorAs(t, err, &got)
			all := strings.Join(got.Config, "\n")
			for _, begins := range test.config {
				require.Contains(t, "\n"+all, "\n"+begins)
			}
			require.Equal(t, len(test.config) == 0, len(got.Config) == 0)
			got.Config = nil
			require.Equal(t, &test.want, got)
		})
	}
}

// youngestFirst is a QueueSort plugin.
type youngestFirst struct{}

func (youngestFirst) Name() string { return "YoungestFirst" }

func (youngestFirst) Less(a, b *extpoints.Queued) bool { return a.Workload.ID > b.Workload.ID }

// A log that was cut off anywhere is replayed up to the last line that is whole; one
// that lacks its beginning is refused.
func TestReplayOfALogThatWasCutOff(t *testing.T) {
	t.Parallel()
	cfg := func() engine.Config { return liking("", likesArgs{Node: "a"}) }
	log := recording(t, cfg(), placeFive(t))
	lines := slices.Collect(strings.Lines(log))
	for i, line := range lines {
		before := strings.Join(lines[:i], "")
		for _, cut := range []int{1, len(line) / 2, len(line) - 2} {
			r, err := engine.Replay(cfg(), strings.NewReader(before+line[:cut]))
			if i == 0 {
				require.ErrorIs(t, err, engine.ErrNoHeader)
				require.Nil(t, r)
				continue
			}
			require.ErrorIs(t, err, engine.ErrTornLog)
			require.ErrorContains(t, err, fmt.Sprintf("line %d", i+1))
			whole, err := engine.Replay(cfg(), strings.NewReader(before))
			require.NoError(t, err)
			require.Equal(t, whole.View().Index(), r.View().Index(), "line %d", i+1)
			require.Equal(t, whole.QueueCounts(), r.QueueCounts(), "line %d", i+1)
		}
		_, err := engine.Replay(cfg(), strings.NewReader(before+line[:len(line)-1]))
		require.NoError(t, err, "line %d, which lacks nothing but its end", i+1)
		if i > 0 {
			_, err := engine.Replay(cfg(), strings.NewReader(strings.Join(lines[i:], "")))
			require.ErrorIs(t, err, engine.ErrNoHeader, "from line %d", i+1)
		}
	}
	_, err := engine.Replay(cfg(), strings.NewReader(`{"Berth":{"Format":99}}`+"\n"))
	require.ErrorIs(t, err, engine.ErrNoHeader)
	require.ErrorContains(t, err, "the format is 99")
	r, err := engine.Replay(cfg(), strings.NewReader(lines[0]+lines[1]+"garbage\n"+lines[2]))
	require.ErrorContains(t, err, "replay: line 3: invalid character")
	require.Equal(t, 5, r.QueueCounts().Active, "as far as it got")
	r, err = engine.Replay(cfg(), io.MultiReader(strings.NewReader(lines[0]+lines[1]), brokenReader{}))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Equal(t, 5, r.QueueCounts().Active, "as far as it got")
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// window is a gate that a call opens, and a licence that Permit counts: neither shows in
// the workload or in the cluster.
type window struct {
	handle   extpoints.Handle
	open     bool
	licences int
	asked    int
}

func (*window) Name() string { return "Window" }

func (p *window) PreEnqueue(w *model.Workload) *extpoints.Status {
	p.asked++
	if !p.open && w.Labels["window"] != "" {
		return extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "the window is closed")
	}
	return nil
}

func (p *window) EventsToRegister() ([]extpoints.EventHint, error) { return nil, nil }

func (p *window) Permit(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	p.asked++
	if p.licences--; p.licences < 0 {
		s.Activate("gated")
		return extpoints.NewStatus(extpoints.Wait), time.Minute
	}
	return nil, 0
}

// windowed is a configuration with the plugin, and the plugin once an engine is made.
func windowed() (engine.Config, *window) {
	cfg, p := config(&world{}), &window{licences: 1}
	extpoints.Use(&cfg.Profiles[0], func(_ extpoints.NoArgs, h extpoints.Handle) (*window, error) {
		p.handle = h
		return p, nil
	}, extpoints.NoArgs{})
	return cfg, p
}

// A gate that is opened by a call, and a Permit plugin that counts, are replayed: they
// are not asked, and their answers are those that were recorded.
func TestReplayOfPluginsThatKnowMore(t *testing.T) {
	t.Parallel()
	cfg, p := windowed()
	var want *engine.Raw
	gated := func(id string) engine.Change {
		return engine.Submit(&model.Workload{ID: id, Labels: map[string]string{"window": "1"}, Requests: model.Resources{CPU: 1}})
	}
	log := recording(t, cfg, func(r *engine.Raw) {
		want = r
		require.NoError(t, r.Apply(epoch, node("n1", 1000), gated("gated"), task("first", 1)))
		settle(r, epoch)
		p.open = true
		p.handle.Activate("gated")
		settle(r, epoch) // carries the command out
		settle(r, epoch) // and "gated" waits for a licence
		require.NotNil(t, p.handle.Waiting().Get("gated"))
		p.handle.Waiting().Get("gated").Allow("Window")
		r.Settle(epoch)
		settle(r, epoch)
		for task := r.NextTask(); task != nil; task = r.NextTask() {
			task.Run(t.Context())
			r.Finish(epoch, task)
		}
		require.NoError(t, r.Apply(epoch, gated("late")))
		settle(r, epoch)
		r.Tick(epoch.Add(time.Hour))
	})
	replayed, silent := windowed()
	silent.licences = 0
	r, err := engine.Replay(replayed, strings.NewReader(log))
	require.NoError(t, err)
	require.Zero(t, silent.asked, "a replay asks nobody")
	for _, id := range []string{"gated", "first", "late"} {
		w, _ := want.View().Workload(id)
		g, _ := r.View().Workload(id)
		require.Equal(t, w.Phase, g.Phase, id)
		require.Equal(t, w.Node, g.Node, id)
	}
	require.Equal(t, want.QueueCounts(), r.QueueCounts())

	// An answer that is missing, or one too many, names the plugin.
	for name, edit := range map[string][2]string{
		"renamed":   {`"Name":"Window","Point":"PreEnqueue"`, `"Name":"Door","Point":"PreEnqueue"`},
		"not due":   {`"Point":"PreEnqueue","Number":`, `"Point":"PreEnqueue","Number":9`},
		"of others": {`"Point":"Permit"`, `"Point":"PreEnqueue"`},
	} {
		other := strings.Replace(log, edit[0], edit[1], 1)
		require.NotEqual(t, log, other, name)
		cfg, _ := windowed()
		_, err := engine.Replay(cfg, strings.NewReader(other))
		var d *engine.Divergence
		require.ErrorAs(t, err, &d, name)
		require.Contains(t, []string{"Window", "Door"}, d.Plugin, name)
		require.Contains(t, d.Error(), d.Plugin, name)
	}
}

// A log that begins in mid-life has the state: what waits and why, what is where, and
// the numbers that go on. It is refused where it was damaged.
func TestReplayOfALogFromTheMiddle(t *testing.T) {
	t.Parallel()
	o := &world{}
	cfg, p := windowed()
	cfg.Orchestrator = o
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	gated := engine.Submit(&model.Workload{ID: "gated", Labels: map[string]string{"window": "1"}})
	require.NoError(t, r.Apply(epoch, node("n1", 1000), task("first", 600), gated, task("large", 600)))
	require.True(t, r.Schedule(epoch))
	var log bytes.Buffer
	err = r.StartRecording(epoch, engine.NewRecorder(&log))
	require.ErrorIs(t, err, engine.ErrUnderWay)
	require.ErrorContains(t, err, "1 bindings")
	require.Zero(t, log.Len())

	settle(r, epoch)
	for task := r.NextTask(); task != nil; task = r.NextTask() {
		task.Run(t.Context())
		r.Finish(epoch, task)
	}
	old := engine.NewRecorder(io.Discard)
	require.NoError(t, r.StartRecording(epoch, old))
	require.ErrorIs(t, r.StartRecording(epoch, old), engine.ErrRecorderTaken)
	require.NoError(t, r.StartRecording(epoch, engine.NewRecorder(&log)), "another takes over")
	counts := r.QueueCounts()
	replayed, _ := windowed()
	var copied bytes.Buffer
	replayed.Recorder = engine.NewRecorder(&copied)
	again, err := engine.Replay(replayed, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, log.String(), copied.String())
	require.Equal(t, counts, again.QueueCounts())
	require.Equal(t, r.View().Index(), again.View().Index())
	for _, id := range []string{"gated", "large"} {
		want, _ := r.Queue(id)
		got, ok := again.Queue(id)
		require.True(t, ok)
		require.Equal(t, want, got, id)
	}

	p.open, p.licences = true, 10
	p.handle.Activate("gated")
	require.NoError(t, r.Apply(epoch.Add(time.Minute), engine.Remove("first")))
	settle(r, epoch.Add(time.Minute))
	require.Equal(t, []string{"n1"}, o.nodesOf("large"))
	require.Equal(t, []string{"n1"}, o.nodesOf("gated"))
	replayed, _ = windowed()
	again, err = engine.Replay(replayed, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	require.Equal(t, r.View().Index(), again.View().Index())
	require.Zero(t, again.QueueCounts())

	_, err = engine.Replay(replayed, strings.NewReader(strings.Replace(log.String(), `"large"`, `"small"`, 1)))
	require.ErrorIs(t, err, engine.ErrNoHeader)
	require.ErrorContains(t, err, "damaged")
}

// An engine at work begins a recording as soon as nothing is under way, and holds new
// attempts back until then.
func TestStartRecordingOfAnEngineAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		binding, bound := make(chan string, 10), make(chan struct{})
		o := &world{onBind: func(_ context.Context, id string) error { binding <- id; <-bound; return nil }}
		cfg := config(o)
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		require.Equal(t, "a", <-binding)

		ctx, cancel := context.WithCancelCause(t.Context())
		impatient := errors.New("impatient")
		cancel(impatient)
		require.ErrorIs(t, e.StartRecording(ctx, engine.NewRecorder(io.Discard)), impatient)

		var log bytes.Buffer
		begun := make(chan error)
		go func() { begun <- e.StartRecording(t.Context(), engine.NewRecorder(&log)) }()
		synctest.Wait()
		require.ErrorIs(t, e.StartRecording(t.Context(), engine.NewRecorder(io.Discard)), engine.ErrUnderWay, "one waits already")
		require.NoError(t, e.Apply(task("b", 100)))
		synctest.Wait()
		require.Empty(t, binding, "nothing new is scheduled")
		require.Equal(t, 1, e.QueueCounts().Active)
		close(bound)
		require.NoError(t, <-begun)
		require.Equal(t, "b", <-binding)
		synctest.Wait()
		require.NoError(t, stop())
		again, err := engine.Replay(config(&world{}), bytes.NewReader(log.Bytes()))
		require.NoError(t, err)
		for _, id := range []string{"a", "b"} {
			w, _ := again.View().Workload(id)
			require.Equal(t, model.Bound, w.Phase, id)
		}
		require.NoError(t, e.StartRecording(t.Context(), engine.NewRecorder(io.Discard)), "Run has ended")
	})
}

// A workload that waits on Permit may wait for others: they are scheduled while a
// recording is to begin, and Run that ends answers for it.
func TestStartRecordingBesideAWaitOnPermit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, p := windowed()
		p.licences = 0
		e, stop := start(t, cfg)
		require.NoError(t, e.Apply(node("n1", 1000), task("a", 100)))
		synctest.Wait()
		require.NotNil(t, p.handle.Waiting().Get("a"))
		begun := make(chan error)
		go func() { begun <- e.StartRecording(t.Context(), engine.NewRecorder(io.Discard)) }()
		synctest.Wait()
		require.NoError(t, e.Apply(task("b", 100)))
		synctest.Wait()
		require.NotNil(t, p.handle.Waiting().Get("b"))
		require.NoError(t, stop())
		require.NoError(t, <-begun)
	})
}

// A file that was opened to append has two recordings in it: the replay ends where the second
// begins, and says so, also where a crash has torn the last line of the first.
func TestReplayOfTwoRecordingsInOneLog(t *testing.T) {
	t.Parallel()
	cfg := func() engine.Config { return liking("", likesArgs{Node: "a"}) }
	first := recording(t, cfg(), placeFive(t))
	lines := strings.Count(first, "\n")
	torn := first[:len(first)-5]
	for name, tt := range map[string]struct {
		log  string
		line int
	}{
		"one after the other":    {first + first, lines + 1},
		"after a torn line":      {torn + first, lines},
		"and nothing after that": {first + first[:strings.Index(first, "\n")+1], lines + 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := engine.Replay(cfg(), strings.NewReader(tt.log))
			require.ErrorIs(t, err, engine.ErrSecondRecording)
			require.ErrorContains(t, err, fmt.Sprintf("replay: line %d: a second recording begins here; cut the log before it", tt.line))
			before := strings.Join(slices.Collect(strings.Lines(first))[:tt.line-1], "")
			whole, err := engine.Replay(cfg(), strings.NewReader(before))
			require.NoError(t, err)
			require.Equal(t, whole.View().Index(), r.View().Index(), "all before it was replayed")
		})
	}
}
