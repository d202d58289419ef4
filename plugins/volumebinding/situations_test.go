package volumebinding

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// seeded returns a generator that makes the same things every time.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(modeltest.Seed(t), 0))
}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// one is true once in n times.
func one(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

var (
	claimIDs    = []string{"c1", "c2", "c3", "c4"}
	volumeNames = []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"}
	classNames  = []string{"s1", "s2", "s3"}
	driverNames = []string{"d1", "d2"}
	nodeNames   = []string{"n1", "n2", "n3", "n4"}
)

// world says how odd random situations are.
type world struct {
	// odd adds classes that do not say when they bind, which is an error.
	odd bool
}

func (o world) situation(r *rand.Rand) *extpointstest.Situation {
	var nodes []*extpoints.NodeInfo
	for _, name := range nodeNames[:1+r.IntN(len(nodeNames))] {
		nodes = append(nodes, extpoints.NewNodeInfo(randomNode(r, name)))
	}
	w := modeltest.Workload("w").Namespace("ns").Build()
	for _, i := range r.Perm(len(claimIDs))[:r.IntN(len(claimIDs)+1)] {
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: claimIDs[i], Generated: one(r, 6)})
	}
	if one(r, 4) {
		w.Disks = []model.Disk{{Driver: pick(r, driverNames...)}}
	}
	s := extpointstest.NewSituation(w, nodes...)
	for _, id := range claimIDs {
		if !one(r, 20) {
			s.View.Put(randomClaim(r, id))
		}
	}
	for _, name := range volumeNames {
		if !one(r, 4) {
			s.View.Put(randomVolume(r, name))
		}
	}
	for _, name := range classNames {
		if !one(r, 15) {
			s.View.Put(o.class(r, name))
		}
	}
	for range r.IntN(12) {
		s.View.Put(o.object(r))
	}
	return s
}

func randomNode(r *rand.Rand, name string) *model.Node {
	b := modeltest.Node(name).Label("zone", pick(r, "1", "2"))
	if !one(r, 6) {
		b.Label(host, name)
	}
	return b.Build()
}

// object makes an object of any kind.
func (o world) object(r *rand.Rand) model.Object {
	switch r.IntN(9) {
	case 0:
		return randomClaim(r, pick(r, claimIDs...))
	case 1, 2:
		return randomVolume(r, pick(r, volumeNames...))
	case 3:
		return o.class(r, pick(r, classNames...))
	case 4:
		return &model.StorageDriver{Name: pick(r, driverNames...), TracksCapacity: one(r, 2)}
	case 5:
		return &model.NodeStorage{Node: pick(r, nodeNames...), StandsIn: pick(r, nil, []string{"old"}, []string{"other", "old"})}
	}
	c := &model.StorageCapacity{ID: pick(r, "1", "2", "3", "4", "5"), Class: pick(r, classNames...), Nodes: randomSelector(r)}
	for range max(0, r.IntN(5)-2) {
		c.Taken = append(c.Taken, model.TakenRoom{Claim: fmt.Sprintf("c%d", r.IntN(6)), Workload: pick(r, "", "other"), Bytes: r.Int64N(6)})
	}
	for _, amount := range []**int64{&c.Capacity, &c.MaxVolumeSize} {
		if !one(r, 4) {
			bytes := r.Int64N(9)
			*amount = &bytes
		}
	}
	return c
}

func randomClaim(r *rand.Rand, id string) *model.VolumeClaim {
	c := &model.VolumeClaim{ID: id, Namespace: "ns", Class: pick(r, classNames...), Request: r.Int64N(6), Owner: "w"}
	rarely := func(change func()) {
		if one(r, 8) {
			change()
		}
	}
	rarely(func() { c.UID = pick(r, "1", "2") })
	rarely(func() { c.AccessModes = []model.AccessMode{model.ReadOnlyMany} })
	rarely(func() { c.Mode = pick(r, model.BlockVolume, model.FilesystemVolume) })
	rarely(func() { c.Selector = randomSelector(r) })
	rarely(func() { c.AttributesClass = "fast" })
	rarely(func() { c.Volume, c.Bound = pick(r, volumeNames...), true })
	rarely(func() { c.SelectedNode = pick(r, nodeNames...) })
	for _, change := range []func(){
		func() { c.Class = "" }, func() { c.Deleting = true }, func() { c.Owner = "other" },
		func() { c.Volume = pick(r, volumeNames...) }, func() { c.Volume, c.Lost = "gone", true },
		func() { c.Volume, c.Bound = "gone", true },
	} {
		if one(r, 60) {
			change()
		}
	}
	return c
}

func randomVolume(r *rand.Rand, name string) *model.Volume {
	v := &model.Volume{Name: name, Class: pick(r, classNames...), Capacity: r.Int64N(9), Nodes: randomTerms(r)}
	rarely := func(change func()) {
		if one(r, 10) {
			change()
		}
	}
	if one(r, 2) {
		v.AccessModes = []model.AccessMode{model.ReadWriteOnce, model.ReadOnlyMany}
	}
	if one(r, 3) {
		v.Labels = map[string]string{"zone": pick(r, "1", "2"), host: pick(r, nodeNames...)}
	}
	rarely(func() { v.Mode = pick(r, model.BlockVolume, model.FilesystemVolume) })
	rarely(func() { v.AttributesClass = "fast" })
	rarely(func() { v.Claim = &model.ClaimIdentity{ID: pick(r, claimIDs...), UID: pick(r, "", "", "1", "2")} })
	rarely(func() { v.Phase = pick(r, model.VolumeAvailable, model.VolumeBound, model.VolumePending) })
	rarely(func() { v.Deleting = true })
	rarely(func() { v.Driver, v.Plugin, v.StandInNodes = "d1", "old", randomTerms(r) })
	return v
}

func (o world) class(r *rand.Rand, name string) *model.StorageClass {
	c := &model.StorageClass{Name: name, Binding: model.BindWhenConsumed, Provisioner: pick(r, "", model.NoProvisioner, "d1", "d2", "d1")}
	if one(r, 12) {
		c.Binding = model.BindImmediate
	}
	if o.odd && one(r, 12) {
		c.Binding = ""
	}
	if one(r, 3) {
		c.AllowedNodes = randomTerms(r)
	}
	return c
}

func randomTerms(r *rand.Rand) *model.NodeTerms {
	if one(r, 3) {
		return nil
	}
	t := &model.NodeTerms{}
	for range pick(r, 1, 1, 1, 2) {
		t.Terms = append(t.Terms, randomTerm(r))
	}
	return t
}

func randomTerm(r *rand.Rand) model.NodeTerm {
	var t model.NodeTerm
	if one(r, 8) {
		t.Fields = []model.Requirement{{Key: model.FieldName, Operator: pick(r, model.In, model.NotIn), Values: []string{pick(r, nodeNames...)}}}
	}
	if t.Fields == nil || one(r, 2) {
		t.Labels = randomRequirements(r)
	}
	return t
}

func randomRequirements(r *rand.Rand) []model.Requirement {
	var list []model.Requirement
	for range pick(r, 1, 1, 1, 1, 2, 2, 0) {
		q := model.Requirement{Key: host, Operator: pick(r, model.In, model.In, model.In, model.In, model.NotIn, model.Exists)}
		values := nodeNames
		if one(r, 2) {
			q.Key, values = "zone", []string{"1", "2"}
		}
		if q.Operator != model.Exists {
			for range pick(r, 1, 1, 2, 3) {
				q.Values = append(q.Values, pick(r, values...))
			}
		}
		list = append(list, q)
	}
	return list
}

func randomSelector(r *rand.Rand) *model.Selector {
	if one(r, 8) {
		return nil
	}
	return &model.Selector{Requirements: randomRequirements(r)}
}

// change makes an object come, change or go, or gives a node other labels.
func (o world) change(r *rand.Rand, s *extpointstest.Situation) *extpointstest.Changed {
	view := *s.View
	view.Objects, view.NodeInfos = slices.Clone(view.Objects), slices.Clone(view.NodeInfos)
	after := &extpointstest.Situation{Workload: s.Workload, View: &view}
	if one(r, 5) {
		i := r.IntN(len(view.NodeInfos))
		info := view.NodeInfos[i].Clone()
		old := info.Node
		info.SetNode(randomNode(r, old.Name))
		view.NodeInfos[i] = info
		return &extpointstest.Changed{What: fmt.Sprintf("%+v becomes %+v", old, info.Node), After: after, Changes: extpointstest.NodeChanges(old, info.Node)}
	}
	next := o.object(r)
	var before model.Object
	for _, object := range view.Objects {
		if model.RefOf(object) == model.RefOf(next) {
			before = object
		}
	}
	if before != nil && one(r, 3) {
		view.Drop(model.RefOf(next).Kind, model.RefOf(next).ID)
		next = nil
	} else {
		view.Put(next)
	}
	return &extpointstest.Changed{What: fmt.Sprintf("%+v becomes %+v", before, next), After: after, Changes: []extpoints.Event{*changed(before, next)}}
}

func TestContract(t *testing.T) {
	handle := func() extpoints.Handle {
		h := extpointstest.NewHandle()
		h.World = &binder{}
		return h
	}
	for name, suite := range map[string]extpointstest.Suite{
		"of all workloads": {OneSided: map[string]string{"Filter": "none has volumes", "Score": "none has volumes"}},
		"of volumes":       {Random: world{}.situation, Change: world{}.change, Rounds: 1000},
		"of binding":       {Random: world{}.situation, Change: world{}.change, Handle: handle},
	} {
		suite.Name, suite.Factory = Name, extpoints.FactoryOf(New)
		t.Run(name, func(t *testing.T) { extpointstest.TestPlugin(t, suite) })
	}
}
