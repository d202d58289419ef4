package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// lostRooms are ways in which a workload, or a gang, that is nominated to n1 loses what it waits
// for, without anybody's leaving n1.
var lostRooms = map[string]func() []engine.Change{
	"the node is removed": func() []engine.Change { return []engine.Change{engine.RemoveNode("n1")} },
	"the node is lost":    func() []engine.Change { return []engine.Change{engine.LoseNode("n1")} },
	"it is removed and put again, smaller": func() []engine.Change {
		return []engine.Change{engine.RemoveNode("n1"), node("n1", 100)}
	},
	"it gets smaller": func() []engine.Change { return []engine.Change{node("n1", 100)} },
	"it is closed":    changedNode("n1", func(n *model.Node) { n.Unschedulable = true }),
	"it is tainted":   changedNode("n1", func(n *model.Node) { n.Taints = []model.Taint{{Key: "down", Effect: model.NoSchedule}} }),
	"it gets a label": changedNode("n1", func(n *model.Node) { n.Labels = map[string]string{"disk": "none"} }),
}

func changedNode(name string, change func(*model.Node)) func() []engine.Change {
	return func() []engine.Change {
		n := node(name, 1000)
		change(nodeOf(n))
		return []engine.Change{n}
	}
}

// What waits for room on a node makes room elsewhere as soon as that node will not do, or is not
// kept for it, though nobody leaves it any more. With the rules of kube-scheduler nobody tells it.
func TestWhoLosesTheRoomThatItWaitsForMakesRoomElsewhere(t *testing.T) {
	for name, lost := range lostRooms {
		for _, group := range []string{"", "g"} {
			t.Run(name+" "+group, func(t *testing.T) {
				eachCompat(t, func(t *testing.T, compat extpoints.Compat) {
					cfg := config(&world{})
					cfg.Compat = compat
					told := 0
					cfg.Listener.Enqueued = func(e engine.QueuedEvent) {
						if e.Event.Label == queue.RoomLost {
							told++
						}
					}
					r, err := engine.NewRaw(cfg)
					require.NoError(t, err)
					w := urgent("w", 800)
					spec(w).Group = group
					spec(w).NodeAffinity = &model.NodeAffinity{Required: &model.NodeTerms{Terms: []model.NodeTerm{{
						Labels: []model.Requirement{{Key: "disk", Operator: model.NotIn, Values: []string{"none"}}},
					}}}}
					v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 1, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n2"})
					require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), running("v1", "n1", 900), v2,
						engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w))
					settle(r, epoch)
					require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
					require.Equal(t, []model.Phase{model.Terminating, model.Confirmed}, phases(r, "v1", "v2"))

					later := epoch.Add(30 * time.Second)
					require.NoError(t, r.Apply(later, lost()...))
					for range 30 {
						later = later.Add(time.Second)
						r.Tick(later)
						settle(r, later)
					}
					if compat == extpoints.KubeScheduler137 {
						require.Zero(t, told)
						return
					}
					require.Equal(t, []string{"n2"}, nominationsOf(r, "w"))
					require.Equal(t, []model.Phase{model.Terminating}, phases(r, "v2"))
				})
			})
		}
	}
}

// A node that is lost while evictions for its sake are under way: room is made elsewhere when they
// are over, since their departure from there is no help.
func TestRoomThatIsLostWhileItIsMadeIsMadeElsewhere(t *testing.T) {
	for _, group := range []string{"", "g"} {
		r := newRaw(t, &world{})
		w := urgent("w", 800)
		spec(w).Group = group
		v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 1, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n2"})
		require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), running("v1", "n1", 900), v2,
			engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w))
		require.True(t, r.Schedule(epoch))
		evict := r.NextTask()
		require.Equal(t, "v1", evict.Workload().ID)
		require.NoError(t, r.Apply(epoch, engine.RemoveNode("n1")))
		evict.Run(t.Context())
		r.Finish(epoch, evict)
		later := epoch.Add(30 * time.Second)
		r.Tick(later)
		settle(r, later)
		require.Equal(t, []string{"n2"}, nominationsOf(r, "w"))
	}
}

// Whose nomination another takes back is tried again, whatever rejected it.
func TestWhoseNominationIsTakenBackIsTriedAgain(t *testing.T) {
	busy := func(ch engine.Change) engine.Change {
		spec(ch).Ports = []model.HostPort{{Port: 80}}
		return ch
	}
	for name, take := range map[string]func(r *engine.Raw, now time.Time) error{
		"a more important one makes room": func(r *engine.Raw, now time.Time) error {
			king := busy(urgent("king", 950))
			spec(king).Priority = 100
			err := r.Apply(now, king)
			require.True(t, r.Schedule(now))
			require.Equal(t, []string{"n1"}, nominationsOf(r, "king"))
			return err
		},
		"from outside":                  func(r *engine.Raw, now time.Time) error { return r.Apply(now, nominate("w", "")) },
		"from outside, to another node": func(r *engine.Raw, now time.Time) error { return r.Apply(now, nominate("w", "n2")) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 11, Requests: model.Resources{CPU: 100}}, model.Binding{Node: "n1"})
			require.NoError(t, r.Apply(epoch, node("n1", 1000), busy(running("v1", "n1", 100)), v2, busy(urgent("w", 100))))
			settle(r, epoch)
			require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
			later := epoch.Add(time.Minute)
			require.NoError(t, take(r, later))
			require.NotEqual(t, []string{"n1"}, nominationsOf(r, "w"))
			p, _ := r.Queue("w")
			require.Equal(t, queue.Active, p.Place)
		})
	}
}
