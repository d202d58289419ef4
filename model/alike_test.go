package model_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// numbered is Data of which no plugin looks at the number.
type numbered struct {
	number int
	color  string
}

func (n numbered) AlikeTo(other any) bool {
	o, ok := other.(numbered)
	return ok && o.color == n.color
}

// AlikeTo is true of workloads that differ in ID, Name and the number in their Data, and of no others: they are compared with
// reflection, where one has a single field of another.
func TestAlikeTo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	fields := reflect.TypeFor[model.Workload]()
	alike, different := 0, 0
	for range 5000 {
		w, other := modeltest.RandomWorkload(r), modeltest.RandomWorkload(r)
		w.DeviceClaims, other.DeviceClaims = nil, nil
		w.Data, other.Data = numbered{1, "green"}, numbered{r.IntN(3), []string{"green", "blue"}[r.IntN(2)]}
		changed := w.Clone()
		field := r.IntN(fields.NumField())
		reflect.ValueOf(changed).Elem().Field(field).Set(reflect.ValueOf(other).Elem().Field(field))
		same := w.Clone()
		same.ID, same.Name, same.Data = changed.ID, changed.Name, changed.Data
		want := (reflect.DeepEqual(same, changed) || emptyOrNil(same, changed)) && changed.Data.(numbered).color == "green"
		if got := w.AlikeTo(changed); got != want {
			t.Fatalf("field %s: %v, want %v\n%+v\n%+v", fields.Field(field).Name, got, want, w, changed)
		}
		if want {
			alike++
		} else {
			different++
		}
	}
	if alike < 500 || different < 500 {
		t.Errorf("%d alike, %d different", alike, different)
	}
}

// Claims to devices, Data that do not say, and other times make workloads different.
func TestNotAlike(t *testing.T) {
	w := &model.Workload{ID: "a"}
	for name, o := range map[string]*model.Workload{
		"claims": {DeviceClaims: []model.DeviceClaimRef{{Name: "x"}}}, "data": {Data: "x"}, "time": {CreatedAt: time.Unix(1, 0)},
	} {
		if w.AlikeTo(o) || o.AlikeTo(w) || o.Data != nil && o.AlikeTo(o) {
			t.Errorf("%s: alike", name)
		}
	}
	if !w.AlikeTo(&model.Workload{ID: "b", Name: "b"}) {
		t.Error("the name makes a difference")
	}
}
