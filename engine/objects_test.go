package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/queue"
)

// provider is a world that gives claims their volumes and devices, and takes
// devices back. It writes down its calls, and answers as the test wants.
type provider struct {
	world
	calls []string // "volumes w", "devices w", "bind w", "release claim", in order
	given map[string]model.Objects
	busy  map[string]bool // workloads and claims with a call under way
	twice []string        // those for which there was another call meanwhile

	onVolumes, onDevices func(ctx context.Context, w *model.Workload, b model.Binding) error
	onRelease            func(ctx context.Context, claim *model.DeviceClaim) error
}

// enter notes the begin of a call and returns what notes its end.
func (o *provider) enter(verb, id string, decided model.Objects) func() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, verb+" "+id)
	if o.given == nil {
		o.given, o.busy = map[string]model.Objects{}, map[string]bool{}
	}
	o.given[verb+" "+id] = decided
	if key := verb + " " + id; o.busy[key] {
		o.twice = append(o.twice, key)
	}
	o.busy[verb+" "+id] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.busy, verb+" "+id)
	}
}

// called are the calls so far, for tests with goroutines.
func (o *provider) called() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

func (o *provider) BindVolumes(ctx context.Context, w *model.Workload, b model.Binding) error {
	defer o.enter("volumes", w.ID, b.Decided)()
	if o.onVolumes != nil {
		return o.onVolumes(ctx, w, b)
	}
	return nil
}

func (o *provider) BindDevices(ctx context.Context, w *model.Workload, b model.Binding) error {
	defer o.enter("devices", w.ID, b.Decided)()
	if o.onDevices != nil {
		return o.onDevices(ctx, w, b)
	}
	return nil
}

func (o *provider) ReleaseDevices(ctx context.Context, claim, left *model.DeviceClaim) error {
	var decided model.Objects
	if left != nil {
		decided = model.Objects{left}
	}
	defer o.enter("release", claim.ID, decided)()
	if o.onRelease != nil {
		return o.onRelease(ctx, claim)
	}
	return nil
}

func (o *provider) Bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	defer o.enter("bind", w.ID, b.Decided)()
	return o.world.Bind(ctx, w, b)
}

// puts are the changes that report the objects.
func puts(objects ...model.Object) []engine.Change {
	var list []engine.Change
	for _, o := range objects {
		list = append(list, engine.PutObject(o))
	}
	return list
}

func submit(b *modeltest.WorkloadBuilder) engine.Change { return engine.Submit(b.Build()) }

// apply makes changes and lists of changes.
func apply(t testing.TB, r *engine.Raw, now time.Time, changes ...any) {
	t.Helper()
	var list []engine.Change
	for _, c := range changes {
		switch c := c.(type) {
		case engine.Change:
			list = append(list, c)
		case []engine.Change:
			list = append(list, c...)
		case model.Object:
			list = append(list, engine.PutObject(c))
		default:
			t.Fatalf("apply of a %T", c)
		}
	}
	require.NoError(t, r.Apply(now, list...))
}

// said is what the view says of the object, on one line.
func said(v *engine.View, kind model.ObjectKind, id string) string {
	rec, ok := v.Object(model.ObjectRef{Kind: kind, ID: id})
	if !ok {
		return "gone"
	}
	return saidOf(rec.Object)
}

func saidOf(o model.Object) string {
	var text []string
	switch o := o.(type) {
	case *model.Volume:
		if o.Claim != nil {
			text = append(text, "for "+o.Claim.ID)
		}
	case *model.VolumeClaim:
		if o.SelectedNode != "" {
			text = append(text, "on "+o.SelectedNode)
		}
		if o.Bound {
			text = append(text, "has "+o.Volume)
		}
	case *model.DeviceClaim:
		if o.Allocation != nil {
			for _, d := range o.Allocation.Devices {
				text = append(text, d.Pool+"/"+d.Device)
			}
		}
		for _, by := range o.ReservedFor {
			text = append(text, "for "+by.Workload+by.Group)
		}
	}
	if len(text) == 0 {
		return "free"
	}
	return strings.Join(text, " ")
}

func saidOfAll(objects model.Objects) (list []string) {
	for _, o := range objects {
		list = append(list, model.RefOf(o).ID+" "+saidOf(o))
	}
	return list
}

func phaseOf(r *engine.Raw, id string) string {
	w, ok := r.View().Workload(id)
	if !ok {
		return "gone"
	}
	if w.Node == "" {
		return w.Phase.String()
	}
	return w.Phase.String() + "@" + w.Node
}

// mayBeTried says that the workload waits for nothing but its turn.
func mayBeTried(r *engine.Raw, id string) bool {
	p, ok := r.Queue(id)
	return ok && slices.Contains([]queue.Place{queue.Active, queue.Backoff, queue.ErrorBackoff}, p.Place)
}

// why is what keeps the workload: the reason of its gate, "Incomplete" where not
// all groups above it are there, or the message of its last attempt.
func why(t testing.TB, r *engine.Raw, id string) string {
	t.Helper()
	e, err := r.Explain(epoch, id, engine.ExplainOptions{})
	require.NoError(t, err)
	switch {
	case e.Waiting != nil && e.Waiting.Gate != nil:
		return e.Waiting.Gate.Message()
	case e.Last != nil:
		return e.Last.Message
	case e.Waiting != nil && e.Waiting.Place == queue.Incomplete:
		return e.Waiting.Place.String()
	}
	return ""
}

// soon is long after every backoff, and long before a workload is tried without
// a reason.
const soon = 30 * time.Second

// work runs the tasks there are, and then schedules and binds.
func work(r *engine.Raw, now time.Time) {
	for t := r.NextTask(); t != nil; t = r.NextTask() {
		t.Run(context.WithValue(context.Background(), clockKey{}, now))
		r.Finish(now, t)
	}
	settle(r, now)
}

// goOn lets backoffs end, and places and binds what can be.
func goOn(r *engine.Raw, now time.Time) time.Time {
	now = now.Add(soon)
	r.Tick(now)
	work(r, now)
	return now
}

// story is a listener that writes the workloads' journeys down.
func story(lines *[]string) engine.Listener {
	add := func(format string, args ...any) { *lines = append(*lines, fmt.Sprintf(format, args...)) }
	queued := func(e engine.QueuedEvent) { add("%v", e.Move) }
	placed := func(stage string) func(engine.PlacedEvent) {
		return func(e engine.PlacedEvent) {
			add("%s %s %s %v", stage, e.Workload.ID, e.Binding.Node, saidOfAll(e.Binding.Decided))
		}
	}
	return engine.Listener{
		Submitted: func(e engine.SubmittedEvent) { add("submitted %s", e.Workload.ID) },
		Gated:     queued, Enqueued: queued,
		Popped:    func(e engine.PoppedEvent) { add("popped %s", e.Workload.ID) },
		Reserved:  placed("reserved"),
		Permitted: placed("permitted"),
		Bound:     placed("bound"),
		Confirmed: placed("confirmed"),
		Rejected:  func(e engine.RejectedEvent) { add("rejected %s %s %v", e.Workload.ID, e.Message, e.Plugins) },
		Decided: func(e engine.GroupEvent) {
			add("decided %s %v %d %d %s", e.Group.ID, e.Code, e.Placed, e.Unplaced, e.Message)
		},
		Evicting: func(e engine.EvictingEvent) { add("evicting %s", e.Workload.ID) },
		Removed:  func(e engine.LeavingEvent) { add("removed %s", e.Workload.ID) },
		Failed:   func(e engine.FailedEvent) { add("failed %s %v", e.Workload, e.Err) },
	}
}

// replays runs the history on a recording engine, replays what was recorded, and
// wants the same events and the same log again.
func replays(t *testing.T, o extpoints.Orchestrator, history func(r *engine.Raw)) *engine.Raw {
	t.Helper()
	var first, second []string
	var log, again bytes.Buffer
	cfg := config(o)
	cfg.Listener, cfg.Recorder = story(&first), engine.NewRecorder(&log)
	r, err := engine.NewRaw(cfg)
	require.NoError(t, err)
	history(r)
	require.NoError(t, cfg.Recorder.Err())
	require.NotEmpty(t, first)
	cfg.Listener, cfg.Recorder, cfg.Orchestrator = story(&second), engine.NewRecorder(&again), nil // needs none
	replayed, err := engine.Replay(cfg, bytes.NewReader(log.Bytes()))
	require.NoError(t, err)
	requireSameLines(t, first, second, "replayed")
	requireSameLog(t, log.Bytes(), again.Bytes(), "recorded again")
	for _, kind := range model.ObjectKinds {
		var list, other []string
		for o := range r.View().Objects(kind) {
			list = append(list, model.RefOf(o).ID+" "+saidOf(o.Object))
		}
		for o := range replayed.View().Objects(kind) {
			other = append(other, model.RefOf(o).ID+" "+saidOf(o.Object))
		}
		require.Equal(t, list, other, "%s", kind)
	}
	return r
}
