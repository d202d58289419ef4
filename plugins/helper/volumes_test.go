package helper

import (
	"testing"

	"github.com/berth-project/berth/model"
)

func TestWhatIsSaidOfClaims(t *testing.T) {
	for _, c := range []struct {
		w                        model.Workload
		ref                      model.VolumeClaimRef
		notFound, foreign, where string
	}{
		{model.Workload{ID: "1", Namespace: "ns", Name: "w"}, model.VolumeClaimRef{ID: "ns/data", Name: "data"},
			`volume claim "data" not found`, "volume claim ns/data was not created for workload ns/w (workload is not owner)", "ns/data"},
		{model.Workload{ID: "1"}, model.VolumeClaimRef{ID: "data"},
			`volume claim "data" not found`, "volume claim data was not created for workload 1 (workload is not owner)", "data"},
	} {
		if got := ClaimNotFound(&c.ref); got != c.notFound {
			t.Errorf("not found: %s", got)
		}
		if got := ClaimIsForeign(&c.w, &c.ref); got != c.foreign {
			t.Errorf("foreign: %s", got)
		}
		if got := ClaimPath(&c.w, &c.ref); got != c.where {
			t.Errorf("path: %s", got)
		}
	}
}

func TestUsesClaim(t *testing.T) {
	w := &model.Workload{VolumeClaims: []model.VolumeClaimRef{{ID: "a"}, {ID: "b", Generated: true}}}
	for _, c := range []struct {
		id              string
		generated, want bool
	}{{"a", false, true}, {"a", true, true}, {"b", true, true}, {"b", false, false}, {"c", true, false}} {
		if got := UsesClaim(w, c.id, c.generated); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
