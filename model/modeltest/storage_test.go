package modeltest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/berth-project/berth/model"
)

// TestRandomStorageIsValid: every generator returns valid objects, and the same
// seed the same ones.
func TestRandomStorageIsValid(t *testing.T) {
	seed := Seed(t)
	r, again := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
	generate := func(r *rand.Rand) []model.Object {
		return []model.Object{
			RandomVolumeClaim(r), RandomVolume(r), RandomStorageClass(r), RandomStorageDriver(r),
			RandomNodeStorage(r), RandomStorageCapacity(r), RandomVolumeAttachment(r),
		}
	}
	for range 3000 {
		objects := generate(r)
		for _, o := range objects {
			if err := o.Validate(); err != nil {
				t.Fatalf("%v\n%+v", err, o)
			}
		}
		if copies := generate(again); !reflect.DeepEqual(objects, copies) {
			t.Fatal("the same seed gave different objects")
		}
	}
}

// TestStorageBuilders: a builder makes what its calls say, and one built object
// shares nothing with the next.
func TestStorageBuilders(t *testing.T) {
	node := func(values ...string) *model.NodeTerms {
		return &model.NodeTerms{Terms: []model.NodeTerm{{Labels: []model.Requirement{{Key: "host", Operator: model.In, Values: values}}}}}
	}

	claim := VolumeClaim("c").Class("local").Request(5).Access(model.ReadWriteOnce).Selected("n1").Owner("w").Bound("v").
		With(func(c *model.VolumeClaim) { c.Selector = model.SelectLabels(map[string]string{"a": "b"}) })
	wantClaim := &model.VolumeClaim{ID: "c", Class: "local", Request: 5, AccessModes: []model.AccessMode{model.ReadWriteOnce},
		Selector: model.SelectLabels(map[string]string{"a": "b"}), SelectedNode: "n1", Owner: "w", Volume: "v", Bound: true}
	firstClaim := claim.Build()
	claim.With(func(c *model.VolumeClaim) { c.Selector.Requirements[0].Key, c.AccessModes[0] = "x", "x" })
	if !reflect.DeepEqual(firstClaim, wantClaim) {
		t.Errorf("got %+v\nwant %+v", firstClaim, wantClaim)
	}

	volume := Volume("v").Class("local").Capacity(7).Label("a", "b").Access(model.ReadOnlyMany).On("host", "n1").For("c").
		Phase(model.VolumeReleased).With(func(v *model.Volume) { v.StandInNodes = node("n2") })
	wantVolume := &model.Volume{Name: "v", Class: "local", Capacity: 7, Labels: map[string]string{"a": "b"},
		AccessModes: []model.AccessMode{model.ReadOnlyMany}, Nodes: node("n1"), StandInNodes: node("n2"),
		Claim: &model.ClaimIdentity{ID: "c"}, Phase: model.VolumeReleased}
	firstVolume := volume.Build()
	volume.Label("a", "c").With(func(v *model.Volume) {
		v.Nodes.Terms[0].Labels[0].Key, v.StandInNodes.Terms[0].Labels[0].Key, v.Claim.ID, v.AccessModes[0] = "x", "x", "x", "x"
	})
	if !reflect.DeepEqual(firstVolume, wantVolume) {
		t.Errorf("got %+v\nwant %+v", firstVolume, wantVolume)
	}

	class := StorageClass("local").Provisioner("disk.example.com").Allow("host", "n1", "n2").Immediate()
	wantClass := &model.StorageClass{Name: "local", Provisioner: "disk.example.com", AllowedNodes: node("n1", "n2"), Binding: model.BindImmediate}
	firstClass := class.Build()
	class.Allow("rack", "r1")
	if !reflect.DeepEqual(firstClass, wantClass) {
		t.Errorf("got %+v\nwant %+v", firstClass, wantClass)
	}

	w := Workload("w").VolumeClaim("c").GeneratedVolumeClaim("d").Disk("k1", "k2").Build()
	if want := []model.VolumeClaimRef{{ID: "c"}, {ID: "d", Generated: true}}; !reflect.DeepEqual(w.VolumeClaims, want) {
		t.Errorf("%+v", w.VolumeClaims)
	}
	if want := []model.Disk{{Keys: []string{"k1", "k2"}}}; !reflect.DeepEqual(w.Disks, want) {
		t.Errorf("%+v", w.Disks)
	}
}
