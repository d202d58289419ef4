package decided_test

import (
	"reflect"
	"testing"

	. "github.com/berth-project/berth/engine/internal/decided"
	. "github.com/berth-project/berth/model"
)

// TestCan: claims and volumes are decided on, and nothing else.
func TestCan(t *testing.T) {
	decidable := map[ObjectKind]bool{VolumeClaimKind: true, VolumeKind: true, StorageCapacityKind: true, DeviceClaimKind: true}
	for _, kind := range ObjectKinds {
		if got := Can(NewObject(kind)); got != decidable[kind] {
			t.Errorf("%s: %v", kind, got)
		}
	}
	if got := Amend(&StorageClass{Name: "c"}, &StorageClass{Name: "c", Provisioner: "p"}, nil); got != nil {
		t.Errorf("a storage class was amended: %+v", got)
	}
}

// TestAmendVolumeClaim: a node that was selected holds until the claim is
// reported with a node, with a volume, or as another claim of the same ID.
func TestAmendVolumeClaim(t *testing.T) {
	decided := &VolumeClaim{ID: "c", UID: "1", Request: 5, SelectedNode: "n1"}
	for _, tt := range []struct {
		name     string
		reported VolumeClaim
		want     *VolumeClaim
	}{
		{"nothing said yet, and larger", VolumeClaim{ID: "c", UID: "1", Request: 6}, &VolumeClaim{ID: "c", UID: "1", Request: 6, SelectedNode: "n1"}},
		{"said", VolumeClaim{ID: "c", UID: "1", SelectedNode: "n1"}, nil},
		{"another node", VolumeClaim{ID: "c", UID: "1", SelectedNode: "n2"}, nil},
		{"a volume", VolumeClaim{ID: "c", UID: "1", Volume: "v"}, nil},
		{"bound", VolumeClaim{ID: "c", UID: "1", Volume: "v", Bound: true}, nil},
		{"another claim", VolumeClaim{ID: "c", UID: "2"}, nil},
	} {
		before := tt.reported
		checkAmended(t, tt.name, Amend(&tt.reported, decided, []string{"w"}), tt.want)
		if !reflect.DeepEqual(before, tt.reported) {
			t.Errorf("%s: the report was changed", tt.name)
		}
	}
	if got := Amend(&VolumeClaim{ID: "c"}, &Volume{Name: "c"}, nil); got != nil {
		t.Errorf("amended by a volume: %+v", got)
	}
	if got := Release(decided, "w"); got != Object(decided) {
		t.Errorf("after one of several users is gone: %+v", got)
	}
}

// TestAmendVolume: the claim that was decided on holds until the volume is
// reported to belong to one.
func TestAmendVolume(t *testing.T) {
	claim := &ClaimIdentity{ID: "c", UID: "1"}
	decided := &Volume{Name: "v", Claim: claim}
	for _, tt := range []struct {
		name     string
		reported Volume
		want     *Volume
	}{
		{"nothing said yet, and released", Volume{Name: "v", Phase: VolumeReleased}, &Volume{Name: "v", Phase: VolumeReleased, Claim: claim}},
		{"said", Volume{Name: "v", Claim: claim}, nil},
		{"another's", Volume{Name: "v", Claim: &ClaimIdentity{ID: "d"}}, nil},
	} {
		before := tt.reported
		checkAmended(t, tt.name, Amend(&tt.reported, decided, []string{"w"}), tt.want)
		if !reflect.DeepEqual(before, tt.reported) {
			t.Errorf("%s: the report was changed", tt.name)
		}
	}
	if got := Amend(&Volume{Name: "v"}, &Volume{Name: "v"}, nil); got != nil {
		t.Errorf("amended by a volume without a claim: %+v", got)
	}
	if got := Amend(&Volume{Name: "c"}, &VolumeClaim{ID: "c"}, nil); got != nil {
		t.Errorf("amended by a claim: %+v", got)
	}
	if got := Release(decided, "w"); got != Object(decided) {
		t.Errorf("after one of several users is gone: %+v", got)
	}
}

func checkAmended[T Object](t *testing.T, name string, got Object, want T) {
	t.Helper()
	if none := reflect.ValueOf(want).IsNil(); none && got != nil || !none && !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
}

// What was decided about a claim holds until the report says it.
func TestDeviceClaimAmend(t *testing.T) {
	given := &Allocation{Devices: []AllocatedDevice{{DeviceID: DeviceID{Driver: "drv", Pool: "p", Device: "d"}}}}
	other := &Allocation{}
	w, v := Consumer{Workload: "w"}, Consumer{Workload: "v"}
	decided := &DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{w}}
	tests := []struct {
		name     string
		reported DeviceClaim
		want     *DeviceClaim
	}{
		{"nothing is written yet", DeviceClaim{ID: "c", UID: "1"}, &DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{w}}},
		{"only the devices are", DeviceClaim{ID: "c", UID: "1", Allocation: other}, &DeviceClaim{ID: "c", UID: "1", Allocation: other, ReservedFor: []Consumer{w}}},
		{"others have it too", DeviceClaim{ID: "c", UID: "1", Allocation: other, ReservedFor: []Consumer{v}}, &DeviceClaim{ID: "c", UID: "1", Allocation: other, ReservedFor: []Consumer{v, w}}},
		{"all is written", DeviceClaim{ID: "c", UID: "1", Allocation: other, ReservedFor: []Consumer{v, w}}, nil},
		{"it is another claim", DeviceClaim{ID: "c", UID: "2"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Amend(&tt.reported, decided, []string{"w"})
			if tt.want == nil {
				if got != nil {
					t.Errorf("got %+v, want nil", got)
				}
			} else if !reflect.DeepEqual(got, Object(tt.want)) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if got := Amend(decided, &DeviceClass{Name: "c"}, []string{"w"}); got != nil {
		t.Errorf("amended by a class: %+v", got)
	}
	group := Consumer{Group: "g"}
	// A claim that is made for the decision has no UID when that is taken.
	made := &DeviceClaim{ID: "c", ForResources: true, Allocation: given, ReservedFor: []Consumer{w}}
	if got, want := Amend(&DeviceClaim{ID: "c", UID: "1"}, made, []string{"w"}), (&DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{w}}); !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("as soon as it is made: %+v, want %+v", got, want)
	}
	both := &DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{w, v, group}}
	got := Amend(&DeviceClaim{ID: "c", UID: "1", Allocation: other}, both, []string{"v"})
	if want := (&DeviceClaim{ID: "c", UID: "1", Allocation: other, ReservedFor: []Consumer{v, group}}); !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("after w is gone: got %+v, want %+v", got, want)
	}
	if got, want := Release(both, "w"), (&DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{v, group}}); !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("released: got %+v, want %+v", got, want)
	}
	if got, want := Written(both, []string{"w", "v"}), (&DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{group}}); !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("written for two: got %+v, want %+v", got, want)
	}
	if got, want := Written(both, []string{"w"}), (&DeviceClaim{ID: "c", UID: "1", Allocation: given, ReservedFor: []Consumer{v, group}}); !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("written for one: got %+v, want %+v", got, want)
	}
	if volume := (&Volume{Name: "v", Claim: &ClaimIdentity{ID: "c"}}); Written(volume, []string{"w"}) != Object(volume) {
		t.Error("a volume is another when it is written")
	}
	if len(both.ReservedFor) != 3 {
		t.Error("Release or Written changed its claim")
	}
}

// Room is taken for a workload until the orchestrator may have been asked for the volume, and from
// then on until the room is reported.
func TestRoom(t *testing.T) {
	room := func(taken ...TakenRoom) *StorageCapacity { return &StorageCapacity{ID: "r", Class: "c", Taken: taken} }
	a, b := TakenRoom{Claim: "a", Workload: "w", Bytes: 1}, TakenRoom{Claim: "b", Workload: "v", Bytes: 2}
	asked := TakenRoom{Claim: "a", Bytes: 1}
	both := room(a, b)
	for _, tt := range []struct {
		name      string
		got, want Object
	}{
		{"when it is reported", Amend(room(), both, []string{"w", "v"}), room(a, b)},
		{"when it is reported, and one is gone", Amend(room(), both, []string{"v"}), room(b)},
		{"when it is reported, and one was asked for", Amend(room(), room(asked, b), []string{"w", "v"}), room(b)},
		{"when it is reported with room that is taken", Amend(room(asked), room(b), []string{"v"}), room(asked, b)},
		{"when one is gone", Release(both, "w"), room(b)},
		{"when one is gone that was asked for", Release(room(asked, b), "w"), room(asked, b)},
		{"when one is asked for", Asked(both, "w"), room(asked, b)},
		{"when nobody has it any more", Written(Asked(both, "w"), []string{"w", "v"}), room(asked)},
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
	if got := Amend(room(), room(asked), []string{"w"}); got != nil {
		t.Errorf("all of it is in the report: %+v", got)
	}
	if got := Amend(room(), &Volume{Name: "r"}, nil); got != nil {
		t.Errorf("amended by a volume: %+v", got)
	}
	if claim := (&VolumeClaim{ID: "c"}); Asked(claim, "w") != Object(claim) {
		t.Error("a claim is another when it is asked for")
	}
	if both.Taken[0].Workload != "w" || len(both.Taken) != 2 {
		t.Error("the capacity was changed")
	}
}
