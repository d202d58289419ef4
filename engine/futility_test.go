package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/coscheduling"
)

// refuses is a plugin that rejects workloads after they have found a node.
type refuses struct {
	at   extpoints.Point
	who  string
	wait time.Duration
	off  bool
}

func (*refuses) Name() string { return "Refuses" }

func (p *refuses) answer(at extpoints.Point, w *model.Workload) *extpoints.Status {
	if p.off || p.at != at || !strings.HasPrefix(w.ID, p.who) {
		return nil
	}
	return extpoints.NewStatus(extpoints.Unschedulable, "not you")
}

func (p *refuses) Reserve(s *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) *extpoints.Status {
	if s.Trial() {
		return nil
	}
	return p.answer("Reserve", w.Workload)
}

func (*refuses) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {}

func (p *refuses) Permit(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if st := p.answer("Permit", w.Workload); st != nil && p.wait > 0 {
		return extpoints.NewStatus(extpoints.Wait, "later"), p.wait
	} else if st != nil {
		return st, 0
	}
	return nil, 0
}

// busyWorld is a world in which a controller makes anew what is displaced, as another workload.
type busyWorld struct {
	*testing.T
	r         *engine.Raw
	now       time.Time
	evictions int
	made      int
}

func newBusyWorld(t *testing.T, configure func(*engine.Config)) *busyWorld {
	t.Helper()
	w := &busyWorld{T: t, now: epoch}
	cfg := config(&world{})
	cfg.Listener.Evicting = func(engine.EvictingEvent) { w.evictions++ }
	configure(&cfg)
	var err error
	w.r, err = engine.NewRaw(cfg)
	require.NoError(t, err)
	return w
}

func (w *busyWorld) apply(changes ...engine.Change) {
	w.Helper()
	require.NoError(w, w.r.Apply(w.now, changes...))
}

// pass lets time go by, second by second.
func (w *busyWorld) pass(d time.Duration) {
	w.Helper()
	for end := w.now.Add(d); w.now.Before(end); w.now = w.now.Add(time.Second) {
		w.r.Tick(w.now)
		settle(w.r, w.now)
		for t := w.r.NextTask(); t != nil; t = w.r.NextTask() {
			t.Run(w.Context())
			w.r.Finish(w.now, t)
		}
		for row := range w.r.View().WorkloadsIn(model.Terminating) {
			again := row.Workload.Clone()
			w.made++
			again.ID = fmt.Sprint("again", w.made)
			w.apply(engine.Remove(row.ID), engine.Submit(again))
		}
	}
}

// withCoscheduling puts Coscheduling in the place of the plugins for gangs and for the order.
func withCoscheduling(args coscheduling.Args) func(*engine.Config) {
	return func(cfg *engine.Config) {
		cfg.Profiles[0].Remove(plugins.GangScheduling)
		cfg.Profiles[0].Remove(plugins.PrioritySort)
		extpoints.Use(&cfg.Profiles[0], coscheduling.New, args)
	}
}

// Nobody is displaced for a gang that cannot be placed, whichever plugin holds gangs together;
// and one that can be placed by displacing others is.
func TestNobodyIsDisplacedForAGangThatCannotBePlaced(t *testing.T) {
	lord := func(node string) engine.Change {
		return engine.Adopt(&model.Workload{ID: "lord", Priority: 100, Requests: model.Resources{CPU: 900}}, model.Binding{Node: node})
	}
	for name, configure := range map[string]func(*engine.Config){
		"GangScheduling":                    func(*engine.Config) {},
		"Coscheduling":                      withCoscheduling(coscheduling.Args{}),
		"Coscheduling, some may be missing": withCoscheduling(coscheduling.Args{RejectPercentage: 50}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				name    string
				members int
				size    int64
				second  engine.Change // on n2
				placed  bool
			}{
				{"one node is another's", 2, 900, lord("n2"), false},
				{"there are too few nodes", 3, 900, running("v2", "n2", 900), false},
				{"one member is too large", 2, 0, running("v2", "n2", 900), false},
				{"it fits", 2, 900, running("v2", "n2", 900), true},
				{"it fits in part without", 2, 900, task("x", 50), true},
			} {
				w := newBusyWorld(t, configure)
				w.apply(node("n1", 1000), node("n2", 1000), running("v1", "n1", 900), c.second,
					engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: int32(c.members), Priority: 10}))
				for i := range c.members {
					m := urgent(fmt.Sprint("m", i), c.size)
					if c.size == 0 {
						spec(m).Requests.CPU = int64(900 + 500*i)
					}
					spec(m).Group = "g"
					w.apply(m)
				}
				w.pass(time.Hour)
				placed := 0
				for row := range w.r.View().WorkloadsOf("g") {
					if row.Phase == model.Bound {
						placed++
					}
				}
				if c.placed {
					require.Equal(t, c.members, placed, c.name)
					require.Positive(t, w.evictions, c.name)
				} else {
					require.Zero(t, placed, c.name)
					require.Zero(t, w.evictions, c.name)
				}
			}
		})
	}
}

// For what a plugin has rejected in the room that was made for it, room is not made
// a second time, until it is changed or much time has passed. So it is for a workload alone
// and for a gang, wherever the plugin says no.
func TestRoomIsNotMadeAgainForWhatWasRejectedThere(t *testing.T) {
	for _, at := range []refuses{{at: "Reserve"}, {at: "Permit"}, {at: "Permit", wait: 5 * time.Second}} {
		for _, grouped := range []bool{false, true} {
			t.Run(fmt.Sprint(at.at, " ", at.wait, " ", grouped), func(t *testing.T) {
				p := at
				p.who = "w"
				w := newBusyWorld(t, func(cfg *engine.Config) { use(cfg, &p) })
				w.apply(node("n1", 1000), running("v1", "n1", 900),
					engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}))
				m := urgent("w", 900)
				if grouped {
					spec(m).Group = "g"
				}
				w.apply(m)
				w.pass(time.Hour)
				require.Equal(t, 1, w.evictions)
				require.Equal(t, 1, count(w.r.View(), model.Bound), "the one that was made anew has the room")

				w.pass(time.Hour)
				require.LessOrEqual(t, w.evictions, 2, "after an hour it may try again, and then in two")

				p.off = true
				w.apply(change(w.r, "w", func(w *model.Workload) { w.Requests.CPU = 890 }))
				w.pass(time.Minute)
				require.Equal(t, []model.Phase{model.Bound}, phases(w.r, "w"))
			})
		}
	}
}

// kube-scheduler makes room again and again.
func TestKubeSchedulerMakesRoomAgain(t *testing.T) {
	p := refuses{at: "Permit", who: "w"}
	w := newBusyWorld(t, func(cfg *engine.Config) {
		cfg.Compat = extpoints.KubeScheduler137
		use(cfg, &p)
	})
	w.apply(node("n1", 1000), running("v1", "n1", 900), urgent("w", 900))
	w.pass(10 * time.Minute)
	require.Greater(t, w.evictions, 5)
}
