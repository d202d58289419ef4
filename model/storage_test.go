package model_test

import (
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

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
