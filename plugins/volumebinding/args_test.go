package volumebinding

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

func TestArgs(t *testing.T) {
	const by = `arguments of plugin "VolumeBinding": `
	for _, c := range []struct {
		name string
		args any
		want string
	}{
		{"none", nil, ""},
		{"zero", Args{}, ""},
		{"all good", &Args{BindTimeout: time.Second, Shape: []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}}, ""},
		{"everything wrong", Args{BindTimeout: -time.Second, Shape: []helper.ShapePoint{{Utilization: -1, Score: 11}, {Utilization: 50, Score: -1}, {Utilization: 50, Score: 5}, {Utilization: 101, Score: 5}}},
			by + "bindTimeout: -1s is less than 0; shape[0].utilization: -1 is not in [0, 100]; shape[0].score: 11 is not in [0, 10]; " +
				"shape[1].score: -1 is not in [0, 10]; shape[2].utilization: 50 is not above the one before it; shape[3].utilization: 101 is not in [0, 100]"},
	} {
		p, err := extpoints.FactoryOf(New)(c.args, extpointstest.NewHandle())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (p == nil) != (err != nil) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if _, err := New(Args{BindTimeout: -1}, extpointstest.NewHandle()); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("%v", err)
	}
}

func TestDefaults(t *testing.T) {
	want := Args{BindTimeout: 600 * time.Second, Shape: []helper.ShapePoint{{Utilization: 0, Score: 10}, {Utilization: 100, Score: 0}}}
	if got := (Args{}).WithDefaults(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	set := Args{BindTimeout: 1, Shape: []helper.ShapePoint{{Utilization: 1, Score: 2}}}
	if got := set.WithDefaults(); !reflect.DeepEqual(got, set) {
		t.Errorf("%+v", got)
	}
}

// The caller may go on to change the shape that it gave.
func TestTheShapeIsCopied(t *testing.T) {
	shape := []helper.ShapePoint{{Utilization: 0, Score: 3}}
	p := newPlugin(t, Args{Shape: shape}, nil)
	shape[0].Score = 9
	if got := p.score(50); got != 30 {
		t.Errorf("%d", got)
	}
}
