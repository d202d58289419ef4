package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/engine/enginetest/simulate"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultbinder"
	"github.com/berth-project/berth/plugins/gangscheduling"
	"github.com/berth-project/berth/plugins/holds"
	"github.com/berth-project/berth/plugins/interpodaffinity"
	"github.com/berth-project/berth/plugins/nodeaffinity"
	"github.com/berth-project/berth/plugins/noderesources"
	"github.com/berth-project/berth/plugins/queuesort"
)

// plannedHistory is a random history of a small cluster whose engine plans ahead. All that
// is random in it is drawn from the seed, and nothing of that depends on what the
// engine decides but through what it has decided.
type plannedHistory struct {
	*testing.T
	seed uint64
	rng  *rand.Rand
	// calm: nothing runs over, has no limit, or is lost.
	calm bool
	// apart: what any filter says of a node depends on that node alone.
	apart bool
	how   plannedWay

	r       *engine.Raw
	o       *world
	cfg     engine.Config
	log     bytes.Buffer
	events  []string
	now     time.Time
	made    int
	nodes   []string // that are there, as they came
	jobs    map[string]*plannedJob
	happens happened
	// watch, if there is one, is called after each attempt.
	watch func()
}

// plannedJob is a job of a history.
type plannedJob struct {
	*model.Workload
	runs  time.Duration // for how long, once it has started
	node  string
	start time.Time
}

// happened is what has happened in a step that may be the cause of a delay.
type happened struct {
	cluster bool            // a node has changed, or something was put somewhere
	late    bool            // something runs over its limit, or did
	arrived map[string]bool // or is another now
}

// historyData is the Data of a job: no plugin looks at the number. In a replay it is something else.
type historyData struct{ Number int }

// AlikeTo implements [model.Alike].
func (historyData) AlikeTo(other any) bool {
	_, ok := other.(historyData)
	return ok
}

const historyName = "example.com/name"

// historyProfile is a profile of few plugins. It has no scores: the first node that will do is taken.
func historyProfile() extpoints.Profile { return historyProfileWith(false) }

func historyProfileWith(nodeHolds bool) extpoints.Profile {
	profile := extpoints.Profile{Name: "history"}
	extpoints.Use(&profile, queuesort.New, extpoints.NoArgs{})
	extpoints.Use(&profile, noderesources.NewFit, noderesources.FitArgs{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&profile, nodeaffinity.New, nodeaffinity.Args{}, extpoints.Only("PreFilter", "Filter"))
	extpoints.Use(&profile, interpodaffinity.New, interpodaffinity.Args{}, extpoints.Only("PreFilter", "Filter"))
	if nodeHolds {
		extpoints.Use(&profile, holds.New, extpoints.NoArgs{})
	}
	extpoints.Use(&profile, gangscheduling.New, extpoints.NoArgs{})
	extpoints.Use(&profile, defaultbinder.New, extpoints.NoArgs{})
	return profile
}

// plannedWay is a way of planning.
type plannedWay struct {
	engine.Backfill
	by engine.Order
	// holds: nodes are set aside at times, so that what a filter says depends on the time.
	holds bool
	// whole: what runs does so until its limit.
	whole bool
	// few: jobs are of few kinds, and there are more of them.
	few bool
	// idle is one more filter of the profile.
	idle extpoints.FilterPlugin
	// forecast is how the engine forecasts.
	forecast engine.ForecastOptions
}

// historyModes are the ways of planning that histories are run with.
var historyModes = []plannedWay{
	{Backfill: engine.Backfill{Mode: engine.InOrder}},
	{Backfill: engine.Backfill{Mode: engine.EASY}},
	{Backfill: engine.Backfill{Mode: engine.EASY, Pinned: true}},
	{Backfill: engine.Backfill{Mode: engine.EASY, ShortestFirst: true}},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 2}},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 2, Pinned: true}},
	{Backfill: engine.Backfill{Mode: engine.Conservative}},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Pinned: true}},
	{Backfill: engine.Backfill{Mode: engine.EASY, Every: 5 * time.Second}},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Every: 5 * time.Second}},
	{Backfill: engine.Backfill{Mode: engine.InOrder}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.EASY}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 2}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 3, Pinned: true}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.Conservative}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Depth: 3}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Every: 5 * time.Second}, by: engine.OrderByQueues},
	{Backfill: engine.Backfill{Mode: engine.EASY}, holds: true},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 2, Pinned: true}, holds: true},
	{Backfill: engine.Backfill{Mode: engine.Conservative}, holds: true},
	{Backfill: engine.Backfill{Mode: engine.Conservative}, by: engine.OrderByQueues, holds: true},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Slack: true}},
	{Backfill: engine.Backfill{Mode: engine.Reservations, Reservations: 3, Slack: true, Every: 5 * time.Second}},
	{Backfill: engine.Backfill{Mode: engine.Conservative, Slack: true}, holds: true},
}

// someModes are the modes that a test runs histories with, each with its number: one in so many, and of
// these with -short one in three.
func someModes(every int) iter.Seq2[int, plannedWay] {
	if testing.Short() {
		every *= 3
	}
	return func(yield func(int, plannedWay) bool) {
		for i := 0; i < len(historyModes); i += every {
			if !yield(i, historyModes[i]) {
				return
			}
		}
	}
}

func newPlannedHistory(t *testing.T, seed uint64, how plannedWay, workers int) *plannedHistory {
	t.Helper()
	h := &plannedHistory{
		T: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), how: how, o: &world{},
		now: epoch, jobs: map[string]*plannedJob{}, happens: happened{arrived: map[string]bool{}},
	}
	h.calm, h.apart = h.rng.IntN(3) == 0 || how.whole, h.rng.IntN(3) > 0
	profile := historyProfileWith(how.holds)
	if how.idle != nil {
		extpoints.Use(&profile, func(extpoints.NoArgs, extpoints.Handle) (extpoints.Plugin, error) { return how.idle, nil }, extpoints.NoArgs{})
	}
	h.cfg = engine.Config{Profiles: []extpoints.Profile{profile}, Orchestrator: h.o, Backfill: how.Backfill, Order: how.by, Workers: workers, Forecast: how.forecast}
	cfg := h.cfg
	cfg.Recorder, cfg.Listener = engine.NewRecorder(&h.log), simulate.EventLines(&h.events)
	var err error
	h.r, err = engine.NewRaw(cfg)
	require.NoError(t, err)
	for i := range 2 + h.rng.IntN(3) {
		h.putNode(fmt.Sprintf("n%d", i))
	}
	h.putQueues()
	return h
}

// chance is whether something happens that does so in so many of 100 cases.
func (h *plannedHistory) chance(percent int) bool { return h.rng.IntN(100) < percent }

func (h *plannedHistory) apply(changes ...engine.Change) {
	h.Helper()
	require.NoError(h, h.r.Apply(h.now, changes...), "seed %d", h.seed)
}

// step lets some time pass, second by second, and something happen.
func (h *plannedHistory) step() {
	h.happens = happened{arrived: map[string]bool{}}
	for range h.rng.IntN(5) {
		h.now = h.now.Add(time.Second)
		h.end()
		h.settle()
	}
	for range 1 + h.rng.IntN(2) {
		h.input()
	}
	h.settle()
}

// end ends what is to end now.
func (h *plannedHistory) end() {
	h.r.Tick(h.now)
	for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
		j := h.jobs[id]
		if j.node == "" {
			continue
		}
		ran := h.now.Sub(j.start)
		if ran >= j.runs {
			h.remove(id, engine.Finish(id))
		}
		h.happens.late = h.happens.late || j.Limit > 0 && (ran > j.Limit || ran == j.Limit && ran < j.runs)
	}
}

// remove forgets a job after the changes. Where it had no limit, what has a higher priority and was
// never to fit may have its turn now.
func (h *plannedHistory) remove(id string, before ...engine.Change) {
	h.happens.cluster = h.happens.cluster || h.jobs[id].Limit == 0
	h.apply(append(before, engine.Remove(id))...)
	delete(h.jobs, id)
}

// input is one thing that happens.
func (h *plannedHistory) input() {
	kind := h.rng.IntN(100)
	some := slices.Sorted(maps.Keys(h.jobs))
	switch {
	case kind < 45:
		h.submit("")
		for range 3 {
			if h.how.few {
				h.submit("")
			}
		}
	case kind < 60:
		h.made++
		group, size := fmt.Sprintf("g%d", h.made), 2+h.rng.IntN(3)
		g := &model.Group{ID: group, Policy: model.Gang, MinCount: int32(size), Priority: int32(h.rng.IntN(3))}
		h.happens.arrived[group] = true
		h.apply(engine.PutGroup(g))
		alike := h.chance(60)
		var first *model.Workload
		for range size {
			w := h.workload(group)
			if first != nil {
				w.Queue, w.Principal = first.Queue, first.Principal
			}
			if w.Priority = g.Priority; alike && first != nil {
				w.Requests, w.Limit, w.NodeSelector, w.AntiAffinity, w.Labels = first.Requests, first.Limit, first.NodeSelector, first.AntiAffinity, first.Labels
				if j := h.jobs[w.ID]; h.how.whole {
					j.runs = w.Limit
				} else if h.calm {
					j.runs = min(j.runs, w.Limit)
				}
			}
			first = w
			h.apply(engine.Submit(w))
		}
	case kind < 70 && len(some) > 0: // it is withdrawn, or killed
		if id := some[h.rng.IntN(len(some))]; !h.how.whole || h.jobs[id].node == "" {
			h.remove(id)
		}
	case kind < 76 && len(some) > 0: // it asks for less
		id := some[h.rng.IntN(len(some))]
		if j := h.jobs[id]; j.node == "" {
			w := *j.Workload
			if h.how.few {
				w.Priority ^= 1
			} else {
				w.Requests.CPU = max(1000, w.Requests.CPU-1000)
			}
			j.Workload = &w
			h.happens.arrived[id], h.happens.arrived[w.Group] = true, true
			h.apply(engine.Update(&w))
		}
	case h.calm:
	case kind < 80 && len(h.nodes) > 1:
		h.loseNode(h.nodes[h.rng.IntN(len(h.nodes))])
	case kind < 86:
		h.putNode(fmt.Sprintf("n%d", h.rng.IntN(6)))
	case kind < 90 && len(some) > 0:
		if id := some[h.rng.IntN(len(some))]; h.jobs[id].node != "" {
			h.jobs[id].node, h.happens.cluster = "", true
			h.apply(engine.Requeue(id))
		}
	case kind >= 97 && h.how.holds || kind >= 93 && h.how.by != engine.OrderByQueues:
		h.inputHold()
	case kind >= 93:
		h.inputQueues()
	case kind < 93: // somebody else puts something on a node
		h.made++
		w, node := h.workload(""), h.nodes[h.rng.IntN(len(h.nodes))]
		h.jobs[w.ID].node, h.jobs[w.ID].start, h.happens.cluster = node, h.now, true
		h.apply(engine.Adopt(w, model.Binding{Node: node, Since: h.now}))
	}
}

// workload makes the next job.
func (h *plannedHistory) workload(group string) *model.Workload {
	h.made++
	w := &model.Workload{
		ID: fmt.Sprintf("w%03d", h.made), Group: group, Namespace: "default", Priority: int32(h.rng.IntN(3)),
		Requests: model.Resources{CPU: 1000 * int64(1+h.rng.IntN(8))},
		Limit:    time.Duration(1+h.rng.IntN(20)) * time.Second,
		Labels:   map[string]string{"app": string(rune('a' + h.rng.IntN(3)))},
		Data:     historyData{h.made},
	}
	if group != "" {
		w.Requests.CPU = 1000 * int64(1+h.rng.IntN(4))
	}
	if h.chance(25) {
		w.Requests.Scalars = []model.Scalar{{Name: "example.com/gpu", Amount: int64(1 + h.rng.IntN(2))}}
	}
	if h.chance(15) {
		w.NodeSelector = map[string]string{historyName: fmt.Sprintf("n%d", h.rng.IntN(4))}
	}
	if h.chance(10) && !h.apart {
		w.AntiAffinity = &model.WorkloadAffinity{Required: []model.AffinityTerm{{
			Selector: model.SelectLabels(map[string]string{"app": w.Labels["app"]}), TopologyKey: historyName,
		}}}
	}
	if h.how.few {
		w.Requests = model.Resources{CPU: 2000 * (1 + w.Requests.CPU/1000%2)}
		w.Limit = 5 * time.Second * (1 + w.Limit/time.Second%2)
		w.Priority %= 2
	}
	h.enqueue(w)
	j := &plannedJob{Workload: w, runs: w.Limit}
	switch {
	case h.how.whole:
	case h.chance(40):
		j.runs = max(time.Second, w.Limit*time.Duration(h.rng.IntN(100))/100).Truncate(time.Second)
	case h.calm:
	case h.chance(15):
		j.runs += time.Duration(1+h.rng.IntN(5)) * time.Second
	case h.chance(10):
		w.Limit = 0
	}
	h.jobs[w.ID] = j
	return w
}

func (h *plannedHistory) submit(group string) {
	w := h.workload(group)
	h.happens.arrived[w.ID] = true
	h.apply(engine.Submit(w))
}

// putNode adds a node, or changes what it has.
func (h *plannedHistory) putNode(name string) {
	n := &model.Node{
		Name: name, Labels: map[string]string{historyName: name}, MaxWorkloads: 100,
		Allocatable: model.Resources{
			CPU:     1000 * int64(6+h.rng.IntN(6)),
			Scalars: []model.Scalar{{Name: "example.com/gpu", Amount: int64(h.rng.IntN(4))}},
		},
	}
	h.happens.cluster = true
	if !slices.Contains(h.nodes, name) {
		h.nodes = append(h.nodes, name)
	}
	h.apply(engine.PutNode(n))
}

func (h *plannedHistory) loseNode(name string) {
	h.happens.cluster = true
	h.nodes = slices.DeleteFunc(h.nodes, func(n string) bool { return n == name })
	for _, j := range h.jobs {
		if j.node == name {
			j.node = ""
		}
	}
	h.apply(engine.LoseNode(name))
}

// settle lets the engine start what can start.
func (h *plannedHistory) settle() {
	for attempts := 0; ; attempts++ {
		require.Less(h, attempts, 1000, "seed %d, %v, at %v: attempts go on for ever: %q\n%q", h.seed, h.how, h.now.Sub(epoch),
			h.events[max(0, len(h.events)-12):], reserved(h.r.Reservations()))
		for t := h.r.NextTask(); t != nil; t = h.r.NextTask() {
			id := t.Workload().ID
			t.Run(h.Context())
			if b, binds := t.Binding(); binds && h.jobs[id] != nil {
				h.jobs[id].node, h.jobs[id].start = b.Node, h.now
			}
			h.r.Finish(h.now, t)
		}
		again := h.r.Schedule(h.now)
		if h.watch != nil {
			h.watch()
		}
		if !again {
			return
		}
	}
}

// inputHold sets a node aside, or takes that back.
func (h *plannedHistory) inputHold() {
	if !h.how.holds {
		return
	}
	h.happens.cluster = true
	ref := model.ObjectRef{Kind: model.HoldKind, ID: fmt.Sprintf("h%d", h.rng.IntN(3))}
	if _, there := h.r.View().Object(ref); there && h.chance(40) {
		h.apply(engine.RemoveObject(ref))
		return
	}
	hold := &model.Hold{Name: ref.ID, Nodes: []string{h.nodes[h.rng.IntN(len(h.nodes))]}, Flex: h.chance(30), From: h.now.Add(time.Duration(h.rng.IntN(20)-5) * time.Second)}
	hold.Until = hold.From.Add(time.Duration(1+h.rng.IntN(20)) * time.Second)
	if h.chance(50) {
		hold.Users = model.SelectLabels(map[string]string{"app": string(rune('a' + h.rng.IntN(3)))})
	}
	h.apply(engine.PutObject(hold))
}

// The number of workers does not show, and a replay leads to the same.
func TestPlannedHistoriesReplay(t *testing.T) {
	t.Parallel()
	for i, how := range someModes(1) {
		for _, seed := range seeds(t, 4) {
			one := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			four := newPlannedHistory(t, seed*100+uint64(i), how, 4)
			for range 40 {
				one.step()
				four.step()
			}
			requireSameLines(t, one.events, four.events, "seed %d, %v, 1 and 4 workers", one.seed, how)
			requireSameLog(t, one.log.Bytes(), four.log.Bytes(), "seed %d, %v, 1 and 4 workers", one.seed, how)
			var events []string
			cfg := one.cfg
			cfg.Listener = simulate.EventLines(&events)
			again, err := engine.Replay(cfg, &one.log)
			require.NoError(t, err, "seed %d, %v", one.seed, how)
			requireSameLines(t, one.events, events, "seed %d, %v, replayed", one.seed, how)
			require.Equal(t, reserved(one.r.Reservations()), reserved(again.Reservations()), "seed %d, %v, replayed", one.seed, how)
		}
	}
}

// To look only where something has changed comes to the same as to look at everything.
func TestPlannedHistoriesPlainly(t *testing.T) {
	oneGoroutine(t)
	for i, how := range someModes(1) {
		for _, seed := range seeds(t, 12) {
			one := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			plain := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			plain.r.PlanPlainly()
			for step := range 40 {
				one.step()
				plain.step()
				require.Equal(t, reserved(plain.r.Reservations()), reserved(one.r.Reservations()), "seed %d, %v, step %d at %v", one.seed, how, step, one.now.Sub(epoch))
			}
			requireSameLines(t, plain.events, one.events, "seed %d, %v", one.seed, how)
		}
	}
}

// A log that begins in the middle leads to the same.
func TestPlannedHistoriesReplayFromTheMiddle(t *testing.T) {
	oneGoroutine(t)
	for i, how := range someModes(1) {
		for _, seed := range append(seeds(t, 4), 15) {
			h := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			for range 20 {
				h.step()
			}
			var log bytes.Buffer
			err := h.r.StartRecording(h.now, engine.NewRecorder(&log))
			if errors.Is(err, engine.ErrUnderWay) {
				continue
			}
			require.NoError(t, err, "seed %d, %v", h.seed, how)
			h.events = nil
			for range 20 {
				h.step()
			}
			var events []string
			cfg := h.cfg
			cfg.Listener = simulate.EventLines(&events)
			again, err := engine.Replay(cfg, &log)
			require.NoError(t, err, "seed %d, %v", h.seed, how)
			requireSameLines(t, h.events, events, "seed %d, %v, replayed", h.seed, how)
			require.Equal(t, reserved(h.r.Reservations()), reserved(again.Reservations()), "seed %d, %v, replayed", h.seed, how)
		}
	}
}

// To begin a recording changes neither what is planned nor what is decided from then on.
func TestPlannedHistoriesGoOnWhenARecordingBegins(t *testing.T) {
	oneGoroutine(t)
	for i, how := range someModes(1) {
		for _, seed := range append(seeds(t, 6), 5, 23) { // of 23 holds are before something in the plan
			one := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			recorded := newPlannedHistory(t, seed*100+uint64(i), how, 1)
			for step := range 40 {
				one.step()
				recorded.step()
				if step%5 == 4 {
					one.r.ForgetPlaces() // as StartRecording does
					if err := recorded.r.StartRecording(recorded.now, engine.NewRecorder(io.Discard)); !errors.Is(err, engine.ErrUnderWay) {
						require.NoError(t, err, "seed %d, %v", one.seed, how)
					}
				}
				where := fmt.Sprintf("seed %d, %v, step %d at %v", one.seed, how, step, one.now.Sub(epoch))
				require.Equal(t, reserved(one.r.Reservations()), reserved(recorded.r.Reservations()), where)
				for id := range one.jobs {
					was, _ := one.r.Promise(id)
					is, _ := recorded.r.Promise(id)
					was.Held, is.Held = nil, nil // as of the last plan, or of the recording
					require.Equal(t, was, is, "%s, %s", where, id)
				}
			}
			requireSameLines(t, one.events, recorded.events, "seed %d, %v", one.seed, how)
		}
	}
}
