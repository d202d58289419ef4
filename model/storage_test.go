package model_test

import (
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// TestStorageIdentity: every storage object says what it is, and an empty one of
// the kind can be made.
func TestStorageIdentity(t *testing.T) {
	for _, tt := range []struct {
		object Object
		kind   ObjectKind
	}{
		{&VolumeClaim{ID: "x"}, VolumeClaimKind},
		{&Volume{Name: "x"}, VolumeKind},
		{&StorageClass{Name: "x"}, StorageClassKind},
		{&StorageDriver{Name: "x"}, StorageDriverKind},
		{&NodeStorage{Node: "x"}, NodeStorageKind},
		{&StorageCapacity{ID: "x"}, StorageCapacityKind},
		{&VolumeAttachment{ID: "x"}, VolumeAttachmentKind},
	} {
		if tt.object.ObjectKind() != tt.kind || tt.object.ObjectID() != "x" {
			t.Errorf("%+v is %s %q", tt.object, tt.object.ObjectKind(), tt.object.ObjectID())
		}
		if made := NewObject(tt.kind); reflect.TypeOf(made) != reflect.TypeOf(tt.object) {
			t.Errorf("NewObject(%s) is a %T", tt.kind, made)
		}
	}
}

func TestStorageDisplayNames(t *testing.T) {
	for _, tt := range []struct {
		got, want string
	}{
		{(&VolumeClaim{ID: "ns/c"}).DisplayName(), "ns/c"},
		{(&VolumeClaim{ID: "ns/c", Name: "c"}).DisplayName(), "c"},
		{(&VolumeClaimRef{ID: "ns/c"}).DisplayName(), "ns/c"},
		{(&VolumeClaimRef{ID: "ns/c", Name: "c"}).DisplayName(), "c"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
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
		checkAmended(t, tt.name, tt.reported.Amend(decided, []string{"w"}), tt.want)
		if !reflect.DeepEqual(before, tt.reported) {
			t.Errorf("%s: the report was changed", tt.name)
		}
	}
	if got := (&VolumeClaim{ID: "c"}).Amend(&Volume{Name: "c"}, nil); got != nil {
		t.Errorf("amended by a volume: %+v", got)
	}
	if got := decided.Release("w"); got != Object(decided) {
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
		checkAmended(t, tt.name, tt.reported.Amend(decided, []string{"w"}), tt.want)
		if !reflect.DeepEqual(before, tt.reported) {
			t.Errorf("%s: the report was changed", tt.name)
		}
	}
	if got := (&Volume{Name: "v"}).Amend(&Volume{Name: "v"}, nil); got != nil {
		t.Errorf("amended by a volume without a claim: %+v", got)
	}
	if got := (&Volume{Name: "c"}).Amend(&VolumeClaim{ID: "c"}, nil); got != nil {
		t.Errorf("amended by a claim: %+v", got)
	}
	if got := decided.Release("w"); got != Object(decided) {
		t.Errorf("after one of several users is gone: %+v", got)
	}
}

func checkAmended[T Object](t *testing.T, name string, got Object, want T) {
	t.Helper()
	if none := reflect.ValueOf(want).IsNil(); none && got != nil || !none && !reflect.DeepEqual(got, Object(want)) {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
}

// TestStorageAsJSON: a list of storage objects is the same after being written
// and read.
func TestStorageAsJSON(t *testing.T) {
	r := seeded(t)
	for range 500 {
		list := Objects{
			modeltest.RandomVolumeClaim(r), modeltest.RandomVolume(r), modeltest.RandomStorageClass(r), modeltest.RandomStorageDriver(r),
			modeltest.RandomNodeStorage(r), modeltest.RandomStorageCapacity(r), modeltest.RandomVolumeAttachment(r),
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var read Objects
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read, list) {
			t.Fatalf("%s\nread as %+v", text, read)
		}
	}
}
