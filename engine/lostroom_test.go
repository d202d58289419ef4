package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/holds"
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

// uselessNodes are ways in which something else than the node makes n1 useless to what is nominated to it: what there is
// before, what the workload asks for, and what happens.
var uselessNodes = map[string]struct {
	before []model.Object
	asks   func(*model.Workload)
	then   []engine.Change
}{
	"a hold is put on it": {then: puts(hold("h", 10, 10000, "", "n1"))},
	"a hold on it begins": {
		before: []model.Object{hold("h", 20, 10000, "", "n1")},
		asks:   func(w *model.Workload) { w.Limit = 10 * time.Second },
	},
	"somebody is put on it":            {then: []engine.Change{engine.Adopt(&model.Workload{ID: "x", Priority: 20, Requests: model.Resources{CPU: 300}}, model.Binding{Node: "n1"})}},
	"its volume is gone":               {before: disks(), asks: usesClaim, then: []engine.Change{engine.RemoveObject(model.ObjectRef{Kind: model.VolumeKind, ID: "v1"})}},
	"its volume is another claim's":    {before: disks(), asks: usesClaim, then: puts(modeltest.Volume("v1").Class("local").Capacity(10).On("host", "n1").For("other").Build())},
	"the claim has a volume elsewhere": {before: disks(), asks: usesClaim, then: puts(modeltest.VolumeClaim("c").Class("local").Request(5).Bound("v2").Build())},
	"the class is not for it":          {before: madeDisks(), asks: usesClaim, then: puts(modeltest.StorageClass("made").Provisioner("disk.example.com").Allow("host", "n2").Build())},
	"there is no room for volumes":     {before: madeDisks(), asks: usesClaim, then: puts(roomOn("n1", 1))},
	"it takes no more volumes": {before: madeDisks(), asks: usesClaim, then: puts(&model.NodeStorage{
		Node: "n1", Drivers: []model.NodeDriver{{Name: "disk.example.com", MaxVolumes: new(int32)}},
	})},
	"its device is gone":            {before: gpus(), asks: usesDeviceClaim, then: []engine.Change{engine.RemoveObject(model.RefOf(gpuOn("n1")))}},
	"its device is another claim's": {before: gpus(), asks: usesDeviceClaim, then: puts(givenOn("n1", "other"))},
	"the claim has a device elsewhere": {
		before: gpus(), asks: usesDeviceClaim, then: puts(givenOn("n2", "c")),
	},
	"its device is tainted": {before: gpus(), asks: usesDeviceClaim, then: puts(&model.DeviceTaintRule{
		ID: "broken", Pool: "n1", Taint: model.Taint{Key: "broken", Effect: model.NoSchedule},
	})},
}

func usesClaim(w *model.Workload) { w.VolumeClaims = []model.VolumeClaimRef{{ID: "c"}} }

func usesDeviceClaim(w *model.Workload) {
	w.DeviceClaims = []model.DeviceClaimRef{{Name: "c", ID: "c"}}
}

// disks are a volume on either node, and a claim.
func disks() []model.Object {
	return []model.Object{
		modeltest.StorageClass("local").Build(),
		modeltest.Volume("v1").Class("local").Capacity(10).On("host", "n1").Build(),
		modeltest.Volume("v2").Class("local").Capacity(10).On("host", "n2").Build(),
		modeltest.VolumeClaim("c").Class("local").Request(5).Build(),
	}
}

// madeDisks are what makes a volume on either node, and a claim.
func madeDisks() []model.Object {
	return []model.Object{
		&model.StorageDriver{Name: "disk.example.com", TracksCapacity: true},
		modeltest.StorageClass("made").Provisioner("disk.example.com").Build(),
		roomOn("n1", 10), roomOn("n2", 10),
		modeltest.VolumeClaim("c").Class("made").Request(5).Build(),
	}
}

func roomOn(node string, bytes int64) *model.StorageCapacity {
	return &model.StorageCapacity{ID: node, Class: "made", Nodes: model.SelectLabels(map[string]string{"host": node}), Capacity: &bytes}
}

// gpus are a device on either node, and a claim.
func gpus() []model.Object {
	return []model.Object{modeltest.DeviceClass("gpu"), gpuOn("n1"), gpuOn("n2"), modeltest.DeviceClaim("c").Request("r", "gpu", 1).Build()}
}

func gpuOn(node string) *model.DeviceSlice {
	return modeltest.DeviceSlice("gpu.example.com", node).Node(node).Devices(1).Build()
}

// givenOn is the claim when it has the device of the node.
func givenOn(node, claim string) *model.DeviceClaim {
	return modeltest.DeviceClaim(claim).Request("r", "gpu", 1).With(func(c *model.DeviceClaim) {
		c.Allocation = &model.Allocation{
			Devices: []model.AllocatedDevice{{DeviceID: model.DeviceID{Driver: "gpu.example.com", Pool: node, Device: "d0"}, Request: "r"}},
			Nodes:   &model.NodeTerms{Terms: []model.NodeTerm{{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{node}}}}}},
		}
	}).Build()
}

// What waits for room on a node that something else makes useless makes room elsewhere at once, too.
func TestWhoseNodeIsMadeUselessMakesRoomElsewhere(t *testing.T) {
	for name, c := range uselessNodes {
		for _, group := range []string{"", "g"} {
			t.Run(name+" "+group, func(t *testing.T) {
				cfg := config(&world{})
				extpoints.Use(&cfg.Profiles[0], holds.New, extpoints.NoArgs{})
				r, err := engine.NewRaw(cfg)
				require.NoError(t, err)
				w := urgent("w", 800)
				spec(w).Group = group
				if c.asks != nil {
					c.asks(spec(w))
				}
				v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 1, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n2"})
				n1, n2 := modeltest.Node("n1").CPU(1000).Label("host", "n1").Build(), modeltest.Node("n2").CPU(1000).Label("host", "n2").Build()
				require.NoError(t, r.Apply(epoch, puts(c.before...)...))
				require.NoError(t, r.Apply(epoch, engine.PutNode(n1), engine.PutNode(n2), running("v1", "n1", 900), v2,
					engine.PutGroup(&model.Group{ID: "g", Policy: model.Gang, MinCount: 1, Priority: 10}), w))
				settle(r, epoch)
				require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))

				later := epoch.Add(30 * time.Second)
				require.NoError(t, r.Apply(later, c.then...))
				for range 30 {
					later = later.Add(time.Second)
					r.Tick(later)
					settle(r, later)
				}
				require.Equal(t, []string{"n2"}, nominationsOf(r, "w"))
				require.Equal(t, []model.Phase{model.Terminating}, phases(r, "v2"))
			})
		}
	}
}

// So does who loses the room to one that the engine puts there, as it is more important, or that grows there.
func TestWhoLosesTheRoomToAnotherMakesRoomElsewhere(t *testing.T) {
	for name, take := range map[string]func(r *engine.Raw) engine.Change{
		"another is placed": func(*engine.Raw) engine.Change {
			king := urgent("king", 300)
			spec(king).Priority = 100
			return king
		},
		"another grows": func(r *engine.Raw) engine.Change {
			return change(r, "x", func(w *model.Workload) { w.Requests.CPU = 400 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRaw(t, &world{})
			x := engine.Adopt(&model.Workload{ID: "x", Priority: 100, Requests: model.Resources{CPU: 100}}, model.Binding{Node: "n1"})
			v2 := engine.Adopt(&model.Workload{ID: "v2", Priority: 1, Requests: model.Resources{CPU: 900}}, model.Binding{Node: "n2"})
			require.NoError(t, r.Apply(epoch, node("n1", 1000), node("n2", 1000), x, running("v1", "n1", 500), v2, urgent("w", 800)))
			settle(r, epoch)
			require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
			later := epoch.Add(30 * time.Second)
			require.NoError(t, r.Apply(later, take(r)))
			r.Tick(later)
			settle(r, later)
			require.Equal(t, []string{"n2"}, nominationsOf(r, "w"))
			require.Equal(t, []model.Phase{model.Terminating, model.Terminating}, phases(r, "v1", "v2"))
		})
	}
}

// Where no other node will do either, the room is given up at once: others may use it.
func TestRoomThatIsOfNoUseIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		before []model.Object
		asks   func(*model.Workload)
		then   engine.Change
	}{
		"a hold":           {then: engine.PutObject(hold("h", 10, 10000, "low", "n1"))},
		"no volume":        {before: disks(), asks: usesClaim, then: engine.RemoveObject(model.ObjectRef{Kind: model.VolumeKind, ID: "v1"})},
		"no device":        {before: gpus(), asks: usesDeviceClaim, then: engine.RemoveObject(model.RefOf(gpuOn("n1")))},
		"it asks for more": {then: engine.Update(&model.Workload{ID: "w", Priority: 10, Requests: model.Resources{CPU: 1100}})},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(&world{})
			extpoints.Use(&cfg.Profiles[0], holds.New, extpoints.NoArgs{})
			r, err := engine.NewRaw(cfg)
			require.NoError(t, err)
			w := urgent("w", 800)
			if c.asks != nil {
				c.asks(spec(w))
			}
			n1 := modeltest.Node("n1").CPU(1000).Label("host", "n1").Build()
			require.NoError(t, r.Apply(epoch, puts(c.before...)...))
			require.NoError(t, r.Apply(epoch, engine.PutNode(n1), running("v1", "n1", 500), w))
			settle(r, epoch)
			require.Equal(t, []string{"n1"}, nominationsOf(r, "w"))
			later := epoch.Add(30 * time.Second)
			require.NoError(t, r.Apply(later, c.then))
			r.Tick(later)
			settle(r, later)
			require.Equal(t, []string{""}, nominationsOf(r, "w"))
			low := task("low", 400)
			spec(low).Labels, spec(low).Limit = map[string]string{"app": "low"}, time.Minute
			require.NoError(t, r.Apply(later, low))
			settle(r, later)
			require.Equal(t, []model.Phase{model.Bound}, phases(r, "low"))
		})
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
