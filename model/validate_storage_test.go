package model_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// TestValidateStorage has a row for each rule of the storage objects.
func TestValidateStorage(t *testing.T) {
	badSelector := &Selector{[]Requirement{{Key: "a", Operator: Exists}, {Key: "b", Operator: In}}}
	badTerms := &NodeTerms{[]NodeTerm{{}, {Labels: []Requirement{{Operator: Exists}}}}}
	number := func(n int64) *int64 { return &n }
	limit := func(n int32) *int32 { return &n }
	for _, tt := range []struct {
		object Object
		want   string
	}{
		{&VolumeClaim{ID: "c"}, ``},
		{&VolumeClaim{ID: "c", Mode: BlockVolume, AccessModes: []AccessMode{ReadWriteOnce, ReadWriteMany}, Selector: &Selector{}}, ``},
		{&VolumeClaim{}, `id: must not be empty`},
		{&VolumeClaim{ID: "c", Namespace: "\xff"}, `namespace: "\xff" is not valid UTF-8`},
		{&VolumeClaim{ID: "c", Name: "\xff"}, `name: "\xff" is not valid UTF-8`},
		{&VolumeClaim{ID: "c", Request: -1}, `request: -1 is less than 0`},
		{&VolumeClaim{ID: "c", AccessModes: []AccessMode{ReadOnlyMany, "ReadWriteOncePod"}},
			`accessModes[1]: "ReadWriteOncePod" is not one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOnceWorkload`},
		{&VolumeClaim{ID: "c", Mode: "Raw"}, `mode: "Raw" is not one of Filesystem, Block`},
		{&VolumeClaim{ID: "c", Selector: badSelector}, `selector.requirements[1].values: In wants at least one value`},
		{&VolumeClaim{ID: "c", Volume: "v", Bound: true, Lost: true}, ``},
		{&VolumeClaim{ID: "c", Bound: true}, `volume: must not be empty where the claim is bound`},
		{&VolumeClaim{ID: "c", Lost: true}, `volume: must not be empty where it is lost`},

		{&Volume{Name: "v"}, ``},
		{&Volume{Name: "v", Nodes: &NodeTerms{[]NodeTerm{{}}}, Phase: VolumePending, Claim: &ClaimIdentity{ID: "c"}}, ``},
		{&Volume{}, `name: must not be empty`},
		{&Volume{Name: "v", Labels: map[string]string{"": ""}}, `labels: has an empty key`},
		{&Volume{Name: "v", Capacity: -1}, `capacity: -1 is less than 0`},
		{&Volume{Name: "v", AccessModes: []AccessMode{""}},
			`accessModes[0]: "" is not one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOnceWorkload`},
		{&Volume{Name: "v", Mode: "block"}, `mode: "block" is not one of Filesystem, Block`},
		{&Volume{Name: "v", Nodes: &NodeTerms{}}, `nodes.terms: must have at least one term; without any, no node would do`},
		{&Volume{Name: "v", Nodes: badTerms}, `nodes.terms[1].labels[0].key: must not be empty`},
		{&Volume{Name: "v", Driver: "d", Plugin: "p", StandInNodes: badTerms}, `standInNodes.terms[1].labels[0].key: must not be empty`},
		{&Volume{Name: "v", StandInNodes: &NodeTerms{[]NodeTerm{{}}}}, `standInNodes: must be nil where there is no plugin to stand in for`},
		{&Volume{Name: "v", Claim: &ClaimIdentity{}}, `claim.id: must not be empty`},
		{&Volume{Name: "v", Phase: "Free"}, `phase: "Free" is not one of Available, Bound, Released, Failed, Pending`},
		{&Volume{Name: "v", Driver: "d", Handle: "h", Plugin: "p"}, ``},
		{&Volume{Name: "v", Handle: "h"}, `handle: must be empty where driver is`},
		{&Volume{Name: "v", Plugin: "p"}, `plugin: must be empty where driver is`},

		{&StorageClass{Name: "s"}, ``},
		{&StorageClass{Name: "s", Provisioner: NoProvisioner, Binding: BindImmediate}, ``},
		{&StorageClass{}, `name: must not be empty`},
		{&StorageClass{Name: "s", Binding: "Later"}, `binding: "Later" is not one of Immediate, WaitForFirstConsumer`},
		{&StorageClass{Name: "s", AllowedNodes: badTerms}, `allowedNodes.terms[1].labels[0].key: must not be empty`},
		{&StorageClass{Name: "s", AllowedNodes: &NodeTerms{}}, `allowedNodes.terms: must have at least one term; without any, no node would do`},

		{&StorageDriver{Name: "d"}, ``},
		{&StorageDriver{}, `name: must not be empty`},

		{&NodeStorage{Node: "n"}, ``},
		{&NodeStorage{Node: "n", Drivers: []NodeDriver{{"d", nil}, {"e", limit(0)}}, StandsIn: []string{"p"}}, ``},
		{&NodeStorage{}, `node: must not be empty`},
		{&NodeStorage{Node: "n", Drivers: []NodeDriver{{"", nil}}}, `drivers[0].name: must not be empty`},
		{&NodeStorage{Node: "n", Drivers: []NodeDriver{{"d", limit(-1)}}}, `drivers[0].maxVolumes: -1 is less than 0`},
		{&NodeStorage{Node: "n", Drivers: []NodeDriver{{"d", nil}, {"d", limit(1)}}}, `drivers[1]: has the same name as [0]`},
		{&NodeStorage{Node: "n", StandsIn: []string{"p", ""}}, `standsIn[1]: must not be empty`},

		{&StorageCapacity{ID: "x", Class: "s"}, ``},
		{&StorageCapacity{ID: "x", Class: "s", Nodes: &Selector{}, Capacity: number(0), MaxVolumeSize: number(0)}, ``},
		{&StorageCapacity{Class: "s"}, `id: must not be empty`},
		{&StorageCapacity{ID: "x"}, `class: must not be empty`},
		{&StorageCapacity{ID: "x", Class: "s", Nodes: badSelector}, `nodes.requirements[1].values: In wants at least one value`},
		{&StorageCapacity{ID: "x", Class: "s", Capacity: number(-1)}, `capacity: -1 is less than 0`},
		{&StorageCapacity{ID: "x", Class: "s", MaxVolumeSize: number(-2)}, `maxVolumeSize: -2 is less than 0`},

		{&VolumeAttachment{ID: "a", Driver: "d", Node: "n", Volume: "v"}, ``},
		{&VolumeAttachment{ID: "a", Driver: "d", Node: "n", Handle: "h"}, ``},
		{&VolumeAttachment{Driver: "d", Node: "n", Volume: "v"}, `id: must not be empty`},
		{&VolumeAttachment{ID: "a", Node: "n", Volume: "v"}, `driver: must not be empty`},
		{&VolumeAttachment{ID: "a", Driver: "d", Volume: "v"}, `node: must not be empty`},
		{&VolumeAttachment{ID: "a", Driver: "d", Node: "n"}, `volume: must not be empty where handle is`},
		{&VolumeAttachment{ID: "a", Driver: "d", Node: "n", Volume: "v", Handle: "h"}, `handle: must be empty where volume is not`},
	} {
		checkProblems(t, tt.object, lines(tt.want)...)
	}
}

// TestValidateWorkloadStorage has a row for each rule of what a workload says of
// storage.
func TestValidateWorkloadStorage(t *testing.T) {
	for _, tt := range []struct {
		change func(*Workload)
		want   string
	}{
		{func(w *Workload) {
			w.VolumeClaims = []VolumeClaimRef{{ID: "c"}, {ID: "d", Name: "data", Generated: true}}
		}, ``},
		{func(w *Workload) { w.VolumeClaims = []VolumeClaimRef{{ID: "c"}, {Name: "d"}} }, `volumeClaims[1].id: must not be empty`},
		{func(w *Workload) { w.VolumeClaims = []VolumeClaimRef{{ID: "c", Name: "\xff"}} }, `volumeClaims[0].name: "\xff" is not valid UTF-8`},
		{func(w *Workload) { w.VolumeClaims = []VolumeClaimRef{{ID: "c"}, {ID: "d"}, {ID: "c", Name: "other"}} },
			`volumeClaims[2]: has the same id as [0]`},
		{func(w *Workload) {
			w.Disks = []Disk{{}, {Keys: []string{"a", "b"}, Driver: "d", Handle: "h", Plugin: "p"}}
		}, ``},
		{func(w *Workload) { w.Disks = []Disk{{}, {Keys: []string{"a", ""}}} }, `disks[1].keys[1]: must not be empty`},
		{func(w *Workload) { w.Disks = []Disk{{Handle: "h"}} }, `disks[0].handle: must be empty where driver is`},
		{func(w *Workload) { w.Disks = []Disk{{Plugin: "p"}} }, `disks[0].plugin: must be empty where driver is`},
	} {
		w := fullWorkload()
		tt.change(w)
		checkProblems(t, w, lines(tt.want)...)
	}
}

// TestValidateStorageReportsAll: everything that is wrong is said at once, in
// the order of the fields, with the kind and the identity of the object.
func TestValidateStorageReportsAll(t *testing.T) {
	checkProblems(t, &Volume{Phase: "x", Mode: "x", Capacity: -1, Handle: "h", Plugin: "p"},
		`name: must not be empty`,
		`capacity: -1 is less than 0`,
		`mode: "x" is not one of Filesystem, Block`,
		`phase: "x" is not one of Available, Bound, Released, Failed, Pending`,
		`handle: must be empty where driver is`,
		`plugin: must be empty where driver is`)
	for want, object := range map[string]Object{
		`volume claim "c": request: -1 is less than 0`:                     &VolumeClaim{ID: "c", Request: -1},
		`volume "v": capacity: -1 is less than 0`:                          &Volume{Name: "v", Capacity: -1},
		`storage class "": name: must not be empty`:                        &StorageClass{},
		`storage driver "": name: must not be empty`:                       &StorageDriver{},
		`node storage "n": standsIn[0]: must not be empty`:                 &NodeStorage{Node: "n", StandsIn: []string{""}},
		`storage capacity "x": class: must not be empty`:                   &StorageCapacity{ID: "x"},
		`volume attachment "a": volume: must not be empty where handle is`: &VolumeAttachment{ID: "a", Driver: "d", Node: "n"},
	} {
		if err := object.Validate(); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestValidateStorageDoesNotAllocate: it runs on every report.
func TestValidateStorageDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	objects := []Object{
		modeltest.RandomVolumeClaim(r), modeltest.RandomVolume(r), modeltest.RandomStorageClass(r), modeltest.RandomStorageDriver(r),
		modeltest.RandomNodeStorage(r), modeltest.RandomStorageCapacity(r), modeltest.RandomVolumeAttachment(r),
	}
	if allocs := testing.AllocsPerRun(10, func() {
		for _, o := range objects {
			if o.Validate() != nil {
				t.Fatal("not valid")
			}
		}
	}); allocs != 0 {
		t.Errorf("%v allocations for valid objects", allocs)
	}
}
