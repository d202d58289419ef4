package scheduler_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// slack is what may be between a task's latest end and the start of what waits for it.
const slack = 5 * time.Second

// lasting makes tasks run for as long as their job's name says, or ten minutes.
func lasting(w *world) {
	w.runs = func(k *state.Task) run {
		d, err := time.ParseDuration(w.state.View().Job(k.ID.Job).Spec.Name)
		if err != nil {
			d = 10 * time.Minute
		}
		return run{lasts: d, ends: job.Completed}
	}
}

// expected is when and where a job is expected to start.
func (w *world) expected(id job.ID) (time.Time, string) {
	v := w.state.View()
	j := v.Job(id)
	index, ok := v.NextWaiting(j, -1)
	if !ok {
		index = 0
	}
	at, nodes, _ := w.leader.Expected(v, j, index)
	return at, strings.Join(nodes, " ")
}

// message is why the first element of a job waits.
func (w *world) message(id job.ID) string {
	v := w.state.View()
	_, m := w.leader.Why(v, v.Job(id), 0)
	return m
}

// As many of those that wait have an expected start as the fleet has reservations.
func TestReservationsOfTheFirst(t *testing.T) {
	for reservations, want := range map[int]int{0: 1, 1: 1, 3: 3, 100: 4} {
		in(t, []*api.Registration{node("a", 8)}, func(w *world) {
			lasting(w)
			w.make = func(c scheduler.Config) (*scheduler.Controller, error) {
				c.Reservations = reservations
				return scheduler.New(c)
			}
			w.lead()
			w.submit("name: 10m\nresources: {cpu: 8}\ntimeLimit: 10m")
			w.pass(5 * time.Second)
			var starts []time.Time
			for _, id := range w.submit(slices.Repeat([]string{"name: 10m\nresources: {cpu: 8}\ntimeLimit: 10m"}, 4)...) {
				w.pass(5 * time.Second)
				if at, _ := w.expected(id); !at.IsZero() {
					starts = append(starts, at)
				}
			}
			require.Len(t, starts, want, "%d reservations", reservations)
			require.True(t, slices.IsSortedFunc(starts, time.Time.Compare), "%v", starts)
		})
	}
}

// Small jobs never stop coming. A gang that needs all of the fleet starts when it was
// promised to nevertheless; where no room is kept it does not.
func TestGangStartsAmongSmallJobs(t *testing.T) {
	stream := func(w *world) (gang job.ID, promised time.Time, small int) {
		lasting(w)
		w.submit("name: 4m\ntimeLimit: 4m\nkillGrace: 5s", "name: 3m\ntimeLimit: 4m", "name: 2m\ntimeLimit: 4m", "name: 1m\ntimeLimit: 4m")
		w.pass(10 * time.Second)
		gang = w.submit("name: 10m\ntimeLimit: 10m\ntasks: 4")[0]
		for i := range 60 {
			id := w.submit(fmt.Sprintf("name: %ds\ntimeLimit: 4m", 60+i), "name: 4m\ntimeLimit: 4m")
			w.pass(30 * time.Second)
			if i == 0 {
				promised, _ = w.expected(gang)
			}
			small = int(id[1])
			if w.states(gang) == "RUNNING" {
				break
			}
		}
		return gang, promised, small
	}
	in(t, two(), func(w *world) {
		began := time.Now()
		gang, promised, _ := stream(w)
		require.Equal(t, "RUNNING", w.states(gang))
		require.WithinDuration(t, began.Add(4*time.Minute+30*time.Second), promised, 10*time.Second, "the last of the first four must have ended")
		started := w.state.View().Element(gang, 0).Started
		require.False(t, started.After(promised.Add(slack)), "%v, promised %v", started, promised)
	})
	in(t, two(), func(w *world) {
		w.make = scheduler.NewWithoutBackfill
		w.lead()
		gang, promised, small := stream(w)
		require.Zero(t, promised)
		require.Equal(t, "PENDING", w.states(gang), "after %d small jobs", small)
	})
}

// holder starts with node a in use by a task that ends within 10 minutes and 35 seconds,
// and node b free but for one core without a limit. What a job of two tasks of two cores
// needs is a, and c; so b stays for everybody.
func holder(w *world, f func(holder job.ID)) {
	lasting(w)
	w.submit("nodes: [a]\nresources: {cpu: 2}\ntimeLimit: 10m", "name: 10h\nnodes: [b]")
	w.pass(5 * time.Second)
	id := w.submit("tasks: 2\nresources: {cpu: 2}\ntimeLimit: 1h\npreferences: [{label: node, values: [b], weight: 1}]")[0]
	w.pass(5 * time.Second)
	at, nodes := w.expected(id)
	require.Equal(w.t, "a c", nodes)
	require.WithinDuration(w.t, time.Now().Add(10*time.Minute+25*time.Second), at, 2*time.Second)
	f(id)
}

func three() []*api.Registration {
	return []*api.Registration{node("a", 2), node("b", 2), node("c", 3)}
}

func TestOthersGoAheadWhereTheyDoNoHarm(t *testing.T) {
	for name, c := range map[string]struct{ job, state string }{
		"that ends before":             {"nodes: [c]\nresources: {cpu: 3}\ntimeLimit: 9m", "RUNNING"},
		"that may end too late":        {"nodes: [c]\nresources: {cpu: 3}\ntimeLimit: 10m", "PENDING"},
		"with a long grace":            {"nodes: [c]\nresources: {cpu: 3}\ntimeLimit: 9m\nkillGrace: 3m", "PENDING"},
		"without a limit":              {"nodes: [c]\nresources: {cpu: 2}", "PENDING"},
		"without a limit that says so": {"nodes: [c]\nresources: {cpu: 2}\nlabels: {berth/time-limit: '1'}", "PENDING"},
		"without a limit, beside":      {"nodes: [c]\nresources: {cpu: 1}", "RUNNING"},
		"without a limit, elsewhere":   {"resources: {cpu: 1}\nnodes: [b]", "RUNNING"},
		"a gang that ends before":      {"tasks: 3\nnodes: [c]\ntimeLimit: 9m", "RUNNING"},
		"a gang that does not":         {"tasks: 3\nnodes: [c]\ntimeLimit: 1h", "PENDING"},
		"one that goes before it":      {"nodes: [c]\nresources: {cpu: 2}\npriority: 1", "RUNNING"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, three(), func(w *world) {
				holder(w, func(holder job.ID) {
					id := w.submit(c.job)[0]
					w.pass(5 * time.Second)
					require.Equal(t, c.state, w.states(id), w.message(id))
					if c.state == "PENDING" && w.state.View().Job(id).Spec.Tasks == 1 {
						require.Contains(t, w.message(id), fmt.Sprintf("is kept for job %d, which goes first (1)", holder))
					}
				})
			})
		})
	}
}

// It starts when it was promised to, and nothing that could use the room was kept
// waiting for it.
func TestRoomIsUsedUntilItIsNeeded(t *testing.T) {
	in(t, three(), func(w *world) {
		holder(w, func(holder job.ID) {
			promised, _ := w.expected(holder)
			w.runs = func(*state.Task) run { return run{lasts: time.Minute, ends: job.Completed} }
			ids := w.submit(slices.Repeat([]string{"nodes: [c]\ntimeLimit: 1m"}, 24)...)
			w.pass(9 * time.Minute)
			require.Equal(t, strings.TrimSpace(strings.Repeat("COMPLETED ", 24)), w.states(ids...))
			w.pass(time.Until(promised) + slack)
			require.Equal(t, "RUNNING", w.states(holder))
			at, _ := w.expected(holder)
			require.Zero(t, at)
		})
	})
}

func TestRoomIsNoLongerKept(t *testing.T) {
	for name, end := range map[string]func(w *world, holder job.ID){
		"cancelled": func(w *world, holder job.ID) {
			w.do(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: holder}, State: job.Cancelled}})
		},
		"held": func(w *world, holder job.ID) {
			w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: holder}}})
		},
		"a node that it needs is gone": func(w *world, _ job.ID) {
			w.do(&state.Command{Node: &state.NodeChange{Node: "a", Drain: &api.Drain{}}})
		},
		"a node that it needs will be closed": func(w *world, _ job.ID) {
			from := time.Now().Add(20 * time.Minute)
			w.do(&state.Command{Node: &state.NodeChange{Node: "a", Maintenance: &api.Maintenance{From: from, To: from.Add(time.Hour)}}})
		},
		"another one goes before it": func(w *world, _ job.ID) {
			w.submit("nodes: [a]\npriority: 5\ntimeLimit: 1h")
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, three(), func(w *world) {
				holder(w, func(holder job.ID) {
					id := w.submit("nodes: [c]\nresources: {cpu: 2}")[0]
					w.pass(5 * time.Second)
					require.Equal(t, "PENDING", w.states(id))
					end(w, holder)
					w.pass(15 * time.Second)
					require.Equal(t, "RUNNING", w.states(id), w.message(id))
					at, _ := w.expected(holder)
					require.Zero(t, at)
				})
			})
		})
	}
}

// It is promised again after a change of leader, at the same moment.
func TestNextLeaderKeepsRoomToo(t *testing.T) {
	in(t, three(), func(w *world) {
		holder(w, func(holder job.ID) {
			promised, nodes := w.expected(holder)
			id := w.submit("nodes: [c]\nresources: {cpu: 2}")[0]
			w.pass(2 * time.Minute)
			w.lead()
			w.pass(5 * time.Second)
			again, same := w.expected(holder)
			require.Equal(t, nodes, same)
			require.WithinDuration(t, promised, again, time.Second)
			w.pass(time.Until(promised) - time.Minute)
			require.Equal(t, "PENDING PENDING", w.states(holder, id), "what the earlier leader kept room from is kept off, too")
			w.pass(time.Minute + slack)
			require.Equal(t, "RUNNING PENDING", w.states(holder, id))
		})
	})
}

// When something ends before it must the promise gets better, and is used at once.
func TestPromiseGetsBetter(t *testing.T) {
	in(t, []*api.Registration{node("a", 4), node("b", 2), node("c", 2)}, func(w *world) {
		lasting(w)
		w.submit("name: 7m\nnodes: [a]\nresources: {cpu: 4}\ntimeLimit: 10m", "name: 3m\nnodes: [c]\nresources: {cpu: 2}\ntimeLimit: 5m")
		w.pass(5 * time.Second)
		gang := w.submit("name: 1h\ntasks: 3\nresources: {cpu: 2}\ntimeLimit: 1h")[0]
		w.pass(4 * time.Minute)
		at, nodes := w.expected(gang)
		require.Equal(t, "a b c", nodes)
		require.Greater(t, time.Until(at), 5*time.Minute)
		w.pass(3*time.Minute - 5*time.Second)
		ended := time.Now()
		w.pass(10 * time.Second)
		require.Equal(t, "RUNNING", w.states(gang))
		require.WithinDuration(t, ended, w.state.View().Element(gang, 0).Started, 1500*time.Millisecond)
	})
}

// As soon as it has its place nothing is kept any more.
func TestNothingIsKeptOfWhatIsTaken(t *testing.T) {
	in(t, three(), func(w *world) {
		holder(w, func(holder job.ID) {
			for w.states(holder) == "PENDING" {
				w.pass(50 * time.Millisecond)
			}
			at, _ := w.expected(holder)
			require.Zero(t, at)
			id := w.submit("nodes: [c]\nresources: {cpu: 1}")[0]
			w.pass(50 * time.Millisecond)
			require.Equal(t, "RUNNING", w.states(id), w.message(id))
		})
	})
}

// Those who are kept off are tried again when that may help, and nothing else is.
func TestKeptOffUntilThereIsRoomBeside(t *testing.T) {
	for name, help := range map[string]func(w *world){
		"a task without a limit ends": func(w *world) {
			w.do(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: 1}, State: job.Cancelled}})
		},
		"another node comes": func(w *world) { w.do(&state.Command{Register: node("b", 1)}) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, []*api.Registration{node("a", 4)}, func(w *world) {
				w.runs = func(*state.Task) run { return run{lasts: 10 * time.Hour, ends: job.Completed} }
				w.submit("", "resources: {cpu: 2}\ntimeLimit: 11h")
				w.pass(5 * time.Second)
				ids := w.submit("resources: {cpu: 3}\ntimeLimit: 1h")
				w.pass(5 * time.Second)
				ids = append(ids, w.submit("")...)
				w.pass(time.Minute)
				require.Equal(t, "PENDING PENDING", w.states(ids...))
				help(w)
				w.pass(15 * time.Second)
				require.Equal(t, "PENDING RUNNING", w.states(ids...), w.message(ids[1]))
			})
		})
	}
}

func TestDevicesAreKept(t *testing.T) {
	n := node("a", 8)
	n.Machine.GPUs = []api.GPU{{Model: "x"}, {Model: "x"}, {Model: "y"}}
	in(t, []*api.Registration{n}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
		w.submit("resources: {gpus: {count: 1, models: [x]}}\ntimeLimit: 1h")
		w.pass(5 * time.Second)
		ids := w.submit("resources: {gpus: {count: 2, models: [x]}}\ntimeLimit: 1h")
		w.pass(5 * time.Second)
		ids = append(ids, w.submit("resources: {gpus: {count: 1, models: [x]}}", "resources: {gpus: {count: 1, models: [y]}}", "")...)
		w.pass(5 * time.Second)
		require.Equal(t, "PENDING PENDING RUNNING RUNNING", w.states(ids...))
		w.pass(time.Hour)
		require.Equal(t, "RUNNING PENDING", w.states(ids[:2]...))
	})
}

// A node on which the job could not end before its maintenance is not kept for it.
func TestRoomIsNotKeptBeforeMaintenance(t *testing.T) {
	in(t, two(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Hour, ends: job.Completed} }
		w.submit("nodes: [a]\nresources: {cpu: 2}\ntimeLimit: 2h", "nodes: [b]\nresources: {cpu: 2}\ntimeLimit: 1h")
		w.pass(5 * time.Second)
		id := w.submit("resources: {cpu: 2}\ntimeLimit: 1h")[0]
		w.pass(5 * time.Second)
		_, nodes := w.expected(id)
		require.Equal(t, "b", nodes)
		from := time.Now().Add(90 * time.Minute)
		w.do(&state.Command{Node: &state.NodeChange{Node: "b", Maintenance: &api.Maintenance{From: from, To: from.Add(time.Hour)}}})
		w.pass(5 * time.Second)
		_, nodes = w.expected(id)
		require.Equal(t, "a", nodes)
		short := w.submit("resources: {cpu: 2}\ntimeLimit: 20m\npriority: 1")[0]
		w.pass(5 * time.Second)
		_, nodes = w.expected(short)
		require.Equal(t, "b", nodes)
	})
}

// A job for which it is not a matter of room alone where it can go has a reservation like any
// other: the same filters say when it fits.
func TestMoreThanRoomIsPlanned(t *testing.T) {
	for _, terms := range []string{
		"apart: [{labels: {role: db}}]", "near: [{labels: {role: db}}]\nlabels: {role: db}", "spread: [{maxSkew: 1}]",
	} {
		in(t, two(), func(w *world) {
			w.runs = func(*state.Task) run { return run{lasts: time.Hour, ends: job.Completed} }
			w.submit("nodes: [a]\ntimeLimit: 1h", "nodes: [b]\ntimeLimit: 1h")
			w.pass(5 * time.Second)
			began := time.Now()
			id := w.submit(terms + "\nresources: {cpu: 2}\ntimeLimit: 1h")[0]
			w.pass(5 * time.Second)
			at, _ := w.expected(id)
			require.WithinDuration(t, began.Add(time.Hour), at, time.Minute, terms)
			w.pass(time.Hour)
			require.Equal(t, "RUNNING", w.states(id), terms)
		})
	}
}

// A task that does not end although it must is not waited for, for long.
func TestRoomIsNotKeptForWhatNeverComes(t *testing.T) {
	in(t, three(), func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Hour, ends: job.Completed} }
		w.submit("nodes: [a]\nresources: {cpu: 2}\ntimeLimit: 1m", "nodes: [b]")
		w.pass(5 * time.Second)
		gang := w.submit("tasks: 2\nresources: {cpu: 2}\ntimeLimit: 1h")[0]
		w.pass(5 * time.Second)
		id := w.submit("nodes: [c]\nresources: {cpu: 2}")[0]
		w.pass(2 * time.Minute)
		require.Equal(t, "PENDING PENDING", w.states(gang, id))
		w.pass(2 * time.Minute)
		require.Equal(t, "PENDING RUNNING", w.states(gang, id))
		small := w.submit("nodes: [a, b]\nresources: {cpu: 2}", "nodes: [a, b]\nresources: {cpu: 1}\ntimeLimit: 1h")
		w.pass(5 * time.Second)
		require.Equal(t, "PENDING RUNNING", w.states(small...))
		at, _ := w.expected(small[0])
		require.Zero(t, at, "it would have to be on a")
	})
}

// What will not fit whatever ends has no reservation, and holds nobody up: neither one job
// nor the elements of an array one after the other.
func TestWhatNeverFitsHoldsNobodyUp(t *testing.T) {
	in(t, []*api.Registration{node("a", 4)}, func(w *world) {
		w.runs = func(*state.Task) run { return run{lasts: 10 * time.Hour, ends: job.Completed} }
		w.submit("apart: [{labels: {role: db}}]")
		w.pass(5 * time.Second)
		never := w.submit("array: 0-9\nlabels: {role: db}\nresources: {cpu: 3}")[0]
		w.pass(5 * time.Second)
		at, _ := w.expected(never)
		require.Zero(t, at)
		id := w.submit("resources: {cpu: 3}")[0]
		w.pass(5 * time.Second)
		require.Equal(t, "PENDING RUNNING", w.states(never, id), w.message(id))
	})
}

// Order is strict: the reservation is that of the first by priority and number, also where
// that comes later than another that had one.
func TestReservationFollowsTheOrder(t *testing.T) {
	in(t, three(), func(w *world) {
		held := w.submit("name: 10m\nhold: true\nresources: {cpu: 2}\nnodes: [a]\ntimeLimit: 2h")[0]
		holder(w, func(holder job.ID) {
			w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: held}, Release: true}})
			w.pass(10 * time.Second)
			at, _ := w.expected(holder)
			require.Zero(t, at)
			at, _ = w.expected(held)
			require.NotZero(t, at)
			higher := w.submit("resources: {cpu: 2}\nnodes: [a]\ntimeLimit: 2h\npriority: 1")[0]
			w.pass(5 * time.Second)
			at, _ = w.expected(held)
			require.Zero(t, at)
			_, nodes := w.expected(higher)
			require.Equal(t, "a", nodes)
		})
	})
}

var fleetsFlag = flag.Int("fleets", 8, "simulate as many fleets; with -short one in eight")

// Whatever comes and goes, as long as tasks keep to their limits and nodes stay: who has
// been promised something starts by then, and the promise only gets better.
func TestPromisesAreKeptInRandomFleets(t *testing.T) {
	fleets, promises := *fleetsFlag, 0
	if testing.Short() {
		fleets = (fleets + 7) / 8
	}
	for seed := range uint64(fleets) {
		random := rand.New(rand.NewPCG(seed, 0))
		var nodes []*api.Registration
		for i := range 2 + random.IntN(4) {
			nodes = append(nodes, node(fmt.Sprint("n", i), 1+random.IntN(4), fmt.Sprint("rack=r", random.IntN(2))))
		}
		in(t, nodes, func(w *world) {
			lasting(w)
			promised := map[job.ID]time.Time{}
			for step := range 1000 {
				if step%5 == 0 && step < 700 {
					w.submit(randomJob(random))
				}
				if step == 500 {
					w.lead()
				}
				w.pass(time.Duration(random.IntN(5000)) * time.Millisecond)
				for j := range w.state.View().Jobs() {
					at, _ := w.expected(j.ID)
					was, ok := promised[j.ID]
					switch {
					case j.State() == job.Pending && !at.IsZero():
						require.False(t, ok && at.After(was.Add(slack)), "seed %d: job %d was promised %v, now %v", seed, j.ID, was, at)
						promised[j.ID] = at
					case j.State() == job.Pending:
					case ok:
						require.False(t, j.Started.After(was.Add(2*slack)), "seed %d: job %d started %v, promised %v", seed, j.ID, j.Started, was)
						delete(promised, j.ID)
						promises++
					}
				}
			}
		})
	}
	require.Greater(t, promises, 5*fleets)
}

// randomJob is a job that keeps to its limit, or runs for ever.
func randomJob(r *rand.Rand) string {
	if r.IntN(25) == 0 {
		return "name: 10h"
	}
	lasts := time.Duration(1+r.IntN(300)) * time.Second
	s := fmt.Sprintf("name: %v\ntasks: %d\nresources: {cpu: %d}\ntimeLimit: %v",
		lasts, 1+r.IntN(4), 1+r.IntN(3), lasts+time.Duration(r.IntN(120))*time.Second)
	if r.IntN(4) == 0 {
		s += "\nsameLabel: rack"
	}
	return s
}
