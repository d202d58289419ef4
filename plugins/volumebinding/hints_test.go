package volumebinding

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// hintsFor is what the hints that are registered for the event say: "asleep"
// where there is none.
func hintsFor(t *testing.T, compat extpoints.Compat, w *model.Workload, c *extpoints.Event) string {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	hints, err := newPlugin(t, nil, h).EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	answer := "asleep"
	for _, h := range hints {
		if !h.Event.Matches(c.ClusterEvent) {
			continue
		}
		if answer != "asleep" {
			t.Errorf("%s is registered for twice", c.ClusterEvent)
		}
		answer = "Queue"
		if h.Hint != nil {
			said, err := h.Hint(w, c)
			if answer = said.String(); err != nil {
				answer += " " + err.Error()
			}
		}
	}
	return answer
}

func changed(before, after model.Object) *extpoints.Event {
	c := &extpoints.Event{OldObject: before, NewObject: after}
	switch {
	case before == nil:
		c.ClusterEvent = extpoints.ClusterEvent{Resource: model.RefOf(after).Kind, Action: extpoints.Add}
	case after == nil:
		c.ClusterEvent = extpoints.ClusterEvent{Resource: model.RefOf(before).Kind, Action: extpoints.Delete}
	default:
		c.ClusterEvent = extpoints.ClusterEvent{Resource: model.RefOf(after).Kind, Action: extpoints.Update}
	}
	return c
}

func TestHints(t *testing.T) {
	w := modeltest.Workload("w").VolumeClaim("x").GeneratedVolumeClaim("y").With(func(w *model.Workload) {
		w.Disks = []model.Disk{{Driver: "inline.example.com"}, {Driver: "in.example.com", Handle: "1", Plugin: "old"}}
	}).Build()
	class := func() *modeltest.StorageClassBuilder { return modeltest.StorageClass("s").Allow("zone", "1") }
	node := func(standsIn ...string) *model.NodeStorage {
		return &model.NodeStorage{Node: "n", StandsIn: standsIn}
	}
	driver := func(name string, tracks bool) *model.StorageDriver {
		return &model.StorageDriver{Name: name, TracksCapacity: tracks}
	}
	room := func(free, largest int64) *model.StorageCapacity {
		return capacity("1", "s", onHost("a"), free, largest)
	}
	takenBy := func(bytes int64) *model.StorageCapacity { return taken(room(5, -1), "z", bytes) }
	otherNodes, otherClass := room(5, -1), room(5, -1)
	otherNodes.Nodes, otherClass.Class = onHost("b"), "t"

	const queue, leave, asleep, lost = "Queue", "Skip", "asleep", "Queue a change of an object without the object"
	for _, c := range []struct {
		name   string
		change *extpoints.Event
		// reference is what the reference says, ours what we do where that is
		// something else.
		reference, ours string
	}{
		{"a class comes", changed(nil, class().Build()), queue, ""},
		{"a class allows other nodes", changed(class().Build(), class().Allow("zone", "2").Build()), queue, ""},
		{"a class allows nodes by another value", changed(class().Build(), modeltest.StorageClass("s").Allow("zone", "2").Build()), queue, ""},
		{"a class allows all nodes", changed(class().Build(), modeltest.StorageClass("s").Build()), queue, ""},
		{"a class stays as it is", changed(class().Build(), class().Build()), leave, ""},
		{"a class gets a provisioner", changed(class().Build(), class().Provisioner("p").Build()), leave, queue},
		{"a class binds later", changed(class().Immediate().Build(), class().Build()), leave, queue},
		{"a class goes", changed(class().Build(), nil), asleep, ""},

		{"a claim of the workload comes", changed(nil, claim("x", "").Build()), queue, ""},
		{"a claim of the workload changes", changed(claim("x", "").Build(), claim("x", "").Build()), queue, ""},
		{"a generated claim of the workload comes", changed(nil, claim("y", "").Build()), queue, ""},
		{"another claim changes", changed(claim("z", "").Build(), claim("z", "").Build()), leave, ""},
		{"a claim goes", changed(claim("x", "").Build(), nil), asleep, ""},

		{"a volume comes", changed(nil, localVolume("v", 1).Build()), queue, ""},
		{"a volume changes", changed(localVolume("v", 1).Build(), localVolume("v", 1).Build()), queue, ""},
		{"a volume goes", changed(localVolume("v", 1).Build(), nil), asleep, leave},
		{"a volume goes that was kept for another", changed(localVolume("v", 1).For("z").Build(), nil), asleep, leave},
		{"a volume goes that was kept for a claim", changed(localVolume("v", 1).For("x").Build(), nil), asleep, queue},
		{"a volume goes that was kept for a generated claim", changed(localVolume("v", 1).For("y").Build(), nil), asleep, queue},

		{"drivers of a node are known", changed(nil, node()), queue, ""},
		{"a driver stands in", changed(node(), node("p")), queue, ""},
		{"a driver stands in for another", changed(node("q"), node("p")), queue, ""},
		{"drivers stand in for the same", changed(node("p"), node("p")), leave, ""},
		{"drivers of a node are no longer known", changed(node(), nil), asleep, leave},
		{"drivers that stood in are no longer known", changed(node("p"), nil), asleep, queue},

		{"a driver of a disk no longer tracks", changed(driver("inline.example.com", true), driver("inline.example.com", false)), queue, ""},
		{"a driver of a disk begins to track", changed(driver("inline.example.com", false), driver("inline.example.com", true)), leave, ""},
		{"a driver of a disk still tracks", changed(driver("inline.example.com", true), driver("inline.example.com", true)), leave, ""},
		{"a driver of a disk still does not track", changed(driver("inline.example.com", false), driver("inline.example.com", false)), leave, ""},
		{"a driver that stands in for that of a disk no longer tracks", changed(driver("in.example.com", true), driver("in.example.com", false)), leave, queue},
		{"another driver no longer tracks", changed(driver("d", true), driver("d", false)), leave, queue},
		{"a driver that tracked goes", changed(driver("d", true), nil), asleep, queue},
		{"a driver that did not track goes", changed(driver("d", false), nil), asleep, leave},
		{"a driver comes", changed(nil, driver("d", true)), asleep, ""},

		{"room comes", changed(nil, room(5, -1)), queue, ""},
		{"less of a room is taken", changed(takenBy(3), takenBy(2)), queue, ""},
		{"nothing of a room is taken any more", changed(takenBy(3), room(5, -1)), queue, ""},
		{"more of a room is taken", changed(takenBy(2), takenBy(3)), leave, ""},
		{"room becomes known", changed(room(-1, -1), room(5, -1)), queue, ""},
		{"the largest volume becomes known", changed(room(-1, -1), room(-1, 5)), queue, ""},
		{"more room", changed(room(5, -1), room(6, -1)), queue, ""},
		{"larger volumes", changed(room(9, 5), room(9, 6)), queue, ""},
		{"no limit to volumes but the room", changed(room(9, 5), room(9, -1)), queue, ""},
		{"a limit to volumes", changed(room(9, -1), room(10, 5)), leave, ""},
		{"the same room", changed(room(5, -1), room(5, -1)), leave, ""},
		{"more room, but no larger volumes", changed(room(5, 5), room(6, 5)), leave, ""},
		{"less room", changed(room(5, -1), room(4, -1)), leave, ""},
		{"smaller volumes", changed(room(9, 5), room(9, 4)), leave, ""},
		{"room no longer known", changed(room(5, -1), room(-1, -1)), leave, ""},
		{"room for other nodes", changed(room(5, -1), otherNodes), leave, queue},
		{"room of another class", changed(room(5, -1), otherClass), leave, queue},
		{"room goes", changed(room(5, -1), nil), asleep, ""},

		{"a class without the class", &extpoints.Event{ClusterEvent: changed(nil, class().Build()).ClusterEvent, NewObject: room(1, 1)}, lost, ""},
		{"a claim without the claim", &extpoints.Event{ClusterEvent: changed(nil, claim("x", "").Build()).ClusterEvent}, lost, ""},
		{"drivers of a node without them", &extpoints.Event{ClusterEvent: changed(nil, node()).ClusterEvent}, lost, ""},
		{"a driver without the driver", &extpoints.Event{ClusterEvent: changed(driver("d", true), driver("d", true)).ClusterEvent}, lost, ""},
		{"room without it", &extpoints.Event{ClusterEvent: changed(nil, room(1, 1)).ClusterEvent}, lost, ""},
		{"a volume that goes without it", &extpoints.Event{ClusterEvent: changed(localVolume("v", 1).Build(), nil).ClusterEvent}, asleep, lost},
		{"drivers of a node that go without them", &extpoints.Event{ClusterEvent: changed(node(), nil).ClusterEvent}, asleep, lost},

		{"a node comes", &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}}, queue, ""},
		{"a node is labelled", &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeLabel}}, queue, ""},
		{"a node is tainted", &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.UpdateNodeTaint}}, asleep, ""},
		{"a node goes", &extpoints.Event{ClusterEvent: extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Delete}}, asleep, ""},
	} {
		if c.ours == "" {
			c.ours = c.reference
		}
		if got := hintsFor(t, extpoints.KubeScheduler137, w, c.change); got != c.reference {
			t.Errorf("%s: the reference says %s, want %s", c.name, got, c.reference)
		}
		if got := hintsFor(t, extpoints.Improved, w, c.change); got != c.ours {
			t.Errorf("%s: %s, want %s", c.name, got, c.ours)
		}
	}

	// A workload without claims, but with disks, does not mind other drivers.
	w.VolumeClaims = nil
	if got := hintsFor(t, extpoints.Improved, w, changed(driver("d", true), driver("d", false))); got != leave {
		t.Errorf("without claims: %s", got)
	}
}

var _ extpoints.VolumeBinder = (*binder)(nil)

// Workloads with the same claims are signed alike, others are not.
func TestSign(t *testing.T) {
	p := newPlugin(t, nil, nil)
	sign := func(w *modeltest.WorkloadBuilder) string {
		fragments, status := p.Sign(w.Build())
		if status != nil || len(fragments) != 1 {
			t.Fatal(fragments, status)
		}
		return fragments[0].Key + fragments[0].Value
	}
	like := sign(using("x"))
	if other := sign(modeltest.Workload("other").Namespace("ns").VolumeClaim("x").CPU(7)); other != like {
		t.Errorf("%s and %s", like, other)
	}
	for _, other := range []*modeltest.WorkloadBuilder{using(), using("y"), using("x", "y"), modeltest.Workload("w").Namespace("ns").GeneratedVolumeClaim("x")} {
		if got := sign(other); got == like {
			t.Errorf("%+v is signed like the first", other.Build())
		}
	}
}
