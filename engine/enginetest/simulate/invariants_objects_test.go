package simulate

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// soundGroups is a state in which nothing is wrong: a gang of two in one zone,
// which leaves as one, below a group of groups.
func soundGroups() *sight {
	g := &sight{map[string]*model.Group{}, map[string]model.WorkloadRecord{}, map[string]*model.Node{}}
	g.groups["top"] = &model.Group{ID: "top", Composite: true, Policy: model.Gang, MinCount: 1, Disruption: model.DisruptAll}
	g.groups["gang"] = &model.Group{ID: "gang", Parent: "top", Policy: model.Gang, MinCount: 2, TopologyKey: "zone"}
	for name, zone := range map[string]string{"n1": "z1", "n2": "z1", "n3": "z2"} {
		g.nodes[name] = &model.Node{Name: name, Labels: map[string]string{"zone": zone}}
	}
	for id, node := range map[string]string{"a": "n1", "b": "n2"} {
		g.put(id, node)
	}
	g.rows["waits"] = model.WorkloadRecord{Workload: &model.Workload{ID: "waits", Group: "gang"}, Phase: model.Pending}
	return g
}

func (g *sight) put(id, node string) {
	g.rows[id] = model.WorkloadRecord{Workload: &model.Workload{ID: id, Group: "gang"}, Phase: model.Assumed, Node: node}
}

func TestGroupCheckersFindWhatIsWrong(t *testing.T) {
	both := []extpoints.Eviction{{ID: "a"}, {ID: "b"}}
	for _, c := range []struct {
		name, want string
		spoil      func(g *sight)
		victims    []extpoints.Eviction
	}{
		{"nothing", "", func(*sight) {}, both},
		{"one is not enough", "gang has too few members", func(g *sight) { delete(g.rows, "b") }, nil},
		{"one that waits does not count", "gang has too few members", func(g *sight) {
			delete(g.rows, "b")
			g.rows["c"] = model.WorkloadRecord{Workload: &model.Workload{ID: "c", Group: "gang"}, Phase: model.Pending}
		}, nil},
		{"one group is not enough", "top has too few members", func(g *sight) { g.groups["top"].MinCount = 2 }, nil},
		{"the group has gone", "is not there", func(g *sight) { delete(g.groups, "gang") }, nil},
		{"the group above has gone", "is not there", func(g *sight) { delete(g.groups, "top") }, nil},
		{"two zones", "of the same group is on n3", func(g *sight) { g.put("b", "n3") }, nil},
		{"no zone", "of the same group is on", func(g *sight) { delete(g.nodes["n1"].Labels, "zone") }, nil},
		{"half of what leaves as one", "and not b of it", func(*sight) {}, both[:1]},
	} {
		g := soundGroups()
		c.spoil(g)
		got := strings.Join(append(g.checkAttempt("a"), g.checkWhole("x", c.victims)...), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want something with %q", c.name, got, c.want)
		}
	}
}

// withObjects is sound, with storage and devices: b-assumed is on its way with a
// volume that is given to its claim, one that is to be made, and devices.
func withObjects() *observed {
	o := sound()
	o.objects = objects{}
	o.nodes["n1"].Labels = map[string]string{"zone": "z1"}
	report := func(list ...model.Object) {
		for _, obj := range list {
			o.objects[refTo(obj)] = model.ObjectRecord{Object: obj, Reported: obj}
		}
	}
	here := &model.NodeTerms{Terms: []model.NodeTerm{inZone("z1")}}
	most, room := int32(1), int64(5)
	report(&model.StorageClass{Name: diskClass, Provisioner: simDriver, Binding: model.BindWhenConsumed},
		&model.StorageClass{Name: localClass, Provisioner: model.NoProvisioner, Binding: model.BindWhenConsumed},
		&model.StorageDriver{Name: simDriver, TracksCapacity: true},
		&model.StorageCapacity{ID: "r", Class: diskClass, Nodes: model.SelectLabels(map[string]string{"zone": "z1"}), Capacity: &room},
		&model.NodeStorage{Node: "n1", Drivers: []model.NodeDriver{{Name: simDriver, MaxVolumes: &most}}},
		&model.VolumeClaim{ID: "c1", Class: localClass, Request: 1},
		&model.VolumeClaim{ID: "free", Class: localClass, Request: 1},
		&model.Volume{Name: "v2", Class: localClass, Capacity: 2},
		&model.DeviceSlice{ID: "s", Driver: "dev", Pool: "n1", SliceCount: 1, Node: "n1", Devices: []model.SliceDevice{
			{Name: "x0", Consumes: []model.CounterUse{{Set: "stock", Counters: map[string]int64{"memory": 2}}}},
			{Name: "x1", Consumes: []model.CounterUse{{Set: "stock", Counters: map[string]int64{"memory": 2}}}},
			{Name: "net", Shared: true, Capacity: map[string]model.DeviceCapacity{"bandwidth": {Amount: 10}}},
		}},
		&model.DeviceSlice{ID: "t", Driver: "dev", Pool: "n1", SliceCount: 1, Node: "n1", Counters: []model.CounterSet{{Name: "stock", Counters: map[string]int64{"memory": 3}}}})
	o.decide(&model.Volume{Name: "v1", Class: localClass, Capacity: 2, Nodes: here, Claim: &model.ClaimIdentity{ID: "c1"}}, &model.Volume{Name: "v1"})
	o.decide(&model.VolumeClaim{ID: "c2", Class: diskClass, Request: 1, SelectedNode: "n1"}, &model.VolumeClaim{ID: "c2"})
	o.decide(devicesFor("b-assumed", "d1", "x0"), &model.DeviceClaim{ID: "d1"})
	o.edit("b-assumed", func(w *model.WorkloadRecord) {
		w.VolumeClaims = []model.VolumeClaimRef{{ID: "c1"}, {ID: "c2"}}
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "d", ID: "d1"}}
	})
	o.dense = denseOf(o)
	return o
}

func (o *observed) decide(now, reported model.Object) {
	o.objects[refTo(now)] = model.ObjectRecord{Object: now, Reported: reported}
}

func devicesFor(workload, claim string, devices ...string) *model.DeviceClaim {
	c := &model.DeviceClaim{ID: claim, ReservedFor: []model.Consumer{{Workload: workload}}, Allocation: &model.Allocation{}}
	for _, d := range devices {
		c.Allocation.Devices = append(c.Allocation.Devices, model.AllocatedDevice{DeviceID: model.DeviceID{Driver: "dev", Pool: "n1", Device: d}})
	}
	return c
}

func part(claim string, amount int64) *model.DeviceClaim {
	c := devicesFor("b-assumed", claim, "net")
	c.Allocation.Devices[0].Share, c.Allocation.Devices[0].Consumed = claim, map[string]int64{"bandwidth": amount}
	return c
}

// Each case breaks one thing about storage or devices in the state after the
// decision for b-assumed.
func TestObjectCheckersFindWhatIsWrong(t *testing.T) {
	assumed := func(o *observed, change func(w *model.WorkloadRecord)) { o.edit("b-assumed", change) }
	for _, c := range []struct {
		name, want string
		spoil      func(o *observed)
	}{
		{"nothing", "", func(*observed) {}},
		{"a volume for nobody", "nobody is on the way who uses that", func(o *observed) {
			o.decide(&model.Volume{Name: "v2", Claim: &model.ClaimIdentity{ID: "free"}}, nil)
		}},
		{"a volume to be made for nobody", "nobody is on the way there who uses it", func(o *observed) {
			o.decide(&model.VolumeClaim{ID: "free", SelectedNode: "n1"}, nil)
		}},
		{"a volume to be made for another node", "nobody is on the way there", func(o *observed) {
			o.decide(&model.VolumeClaim{ID: "c2", Class: diskClass, Request: 1, SelectedNode: "n2"}, nil)
		}},
		{"a second volume", "and is given v2", func(o *observed) {
			o.decide(&model.Volume{Name: "v2", Claim: &model.ClaimIdentity{ID: "c1"}}, nil)
		}},
		{"a volume for a claim that is bound to another", "which is bound to v2", func(o *observed) {
			bound := &model.VolumeClaim{ID: "c1", Volume: "v2", Bound: true}
			o.decide(bound, bound)
		}},
		{"a claim that is not there", "its claim lost is not there", func(o *observed) {
			assumed(o, func(w *model.WorkloadRecord) {
				w.VolumeClaims = []model.VolumeClaimRef{{ID: "lost"}, {ID: "c1"}, {ID: "c2"}}
			})
		}},
		{"a claim of somebody else", `which was made for ""`, func(o *observed) {
			assumed(o, func(w *model.WorkloadRecord) {
				w.VolumeClaims = []model.VolumeClaimRef{{ID: "c1", Generated: true}, {ID: "c2"}}
			})
		}},
		{"a volume elsewhere", "there is no volume for claim c1", func(o *observed) {
			o.nodes["n1"].Labels = map[string]string{"zone": "z2"}
		}},
		{"a bound volume elsewhere", "the volume v2 of claim free cannot be used", func(o *observed) {
			bound := &model.VolumeClaim{ID: "free", Volume: "v2", Bound: true}
			far := &model.Volume{Name: "v2", Nodes: &model.NodeTerms{Terms: []model.NodeTerm{inZone("z3")}}}
			o.decide(bound, bound)
			o.decide(far, far)
			assumed(o, func(w *model.WorkloadRecord) {
				w.VolumeClaims = []model.VolumeClaimRef{{ID: "c1"}, {ID: "c2"}, {ID: "free"}}
			})
		}},
		{"no room for a volume", "there is no volume for claim c2", func(o *observed) {
			delete(o.objects, model.ObjectRef{Kind: model.StorageCapacityKind, ID: "r"})
		}},
		{"a claim that another has for itself", "which e-confirmed has for itself", func(o *observed) {
			now := &model.VolumeClaim{ID: "c1", Class: localClass, Request: 1, AccessModes: []model.AccessMode{model.ReadWriteOnceWorkload}}
			o.decide(now, now)
			o.edit("e-confirmed", func(w *model.WorkloadRecord) { w.VolumeClaims = []model.VolumeClaimRef{{ID: "c1"}} })
		}},
		{"too many volumes", "which has 2 volumes then, and can have 1", func(o *observed) {
			other := &model.VolumeClaim{ID: "c3", Class: diskClass}
			o.decide(other, other)
			o.edit("e-confirmed", func(w *model.WorkloadRecord) { w.VolumeClaims = []model.VolumeClaimRef{{ID: "c3"}} })
		}},
		{"a device twice", "{dev n1 x0}", func(o *observed) { o.decide(devicesFor("b-assumed", "d2", "x0"), nil) }},
		{"more than the stock", "stock n1 stock memory", func(o *observed) { o.decide(devicesFor("b-assumed", "d2", "x1"), nil) }},
		{"more than the capacity", "bandwidth more is given", func(o *observed) {
			o.decide(part("d2", 6), nil)
			o.decide(part("d3", 5), nil)
		}},
		{"devices for one who is gone", "nobody is on a node who is that and uses it", func(o *observed) {
			o.decide(devicesFor("gone", "d1", "x0"), nil)
		}},
		{"devices for one who does not use them", "nobody is on a node who is that and uses it", func(o *observed) {
			o.decide(devicesFor("e-confirmed", "d1", "x0"), nil)
		}},
		{"devices for nobody", "is reserved for nobody", func(o *observed) {
			c := devicesFor("b-assumed", "d1", "x0")
			c.ReservedFor = nil
			o.decide(c, nil)
		}},
		{"no devices", "where claim d1 has no devices", func(o *observed) {
			o.decide(&model.DeviceClaim{ID: "d1"}, nil)
		}},
		{"devices elsewhere", "where claim d1 has no devices", func(o *observed) {
			c := devicesFor("b-assumed", "d1", "x0")
			c.Allocation.Nodes = &model.NodeTerms{Terms: []model.NodeTerm{inZone("z3")}}
			o.decide(c, nil)
		}},
		{"a device claim that goes", "its device claim d1 is not there", func(o *observed) {
			c := devicesFor("b-assumed", "d1", "x0")
			c.Deleting = true
			o.decide(c, nil)
		}},
	} {
		before, o := withObjects(), withObjects()
		before.edit("b-assumed", func(w *model.WorkloadRecord) { w.Phase, w.Node = model.Pending, "" })
		before.objects[model.ObjectRef{Kind: model.VolumeKind, ID: "v1"}] = model.ObjectRecord{Object: &model.Volume{Name: "v1"}}
		c.spoil(o)
		row := o.rows["b-assumed"]
		var p problems
		p = append(p, checkDecided(o)...)
		p = append(p, checkGiven(before, o)...)
		p = append(p, checkDevices(before, o)...)
		p = append(p, o.checkVolumes(&row)...)
		p = append(p, o.checkHasDevices(&row)...)
		got := strings.Join(p, "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want something with %q", c.name, got, c.want)
		}
	}
}

func TestFactsOfTheWorld(t *testing.T) {
	f := newSimFacts()
	f.put(&model.VolumeClaim{ID: "a", Volume: "v", Bound: true})
	f.put(&model.Volume{Name: "v", Phase: model.VolumeBound, Claim: &model.ClaimIdentity{ID: "a"}})
	if p := checkFacts(&f); len(p) > 0 {
		t.Error(p)
	}
	f.put(&model.VolumeClaim{ID: "b", Volume: "v", Bound: true})
	f.put(&model.Volume{Name: "w", Phase: model.VolumeBound, Claim: &model.ClaimIdentity{ID: "a"}})
	if p := checkFacts(&f); len(p) != 2 {
		t.Errorf("%q, want two problems", p)
	}
}
