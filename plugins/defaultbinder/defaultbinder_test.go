package defaultbinder

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func TestBind(t *testing.T) {
	refusal := errors.New("fake error")
	for _, refuse := range []bool{false, true} {
		world := &extpointstest.Orchestrator{}
		if refuse {
			world.Refuse = func(*model.Workload) error { return refusal }
		}
		handle := extpointstest.NewHandle()
		handle.World = world
		p, err := New(extpoints.NoArgs{}, handle)
		if err != nil {
			t.Fatal(err)
		}
		s := extpointstest.NewSituation(&model.Workload{ID: "w"})
		b := model.Binding{Workload: "w", Node: "n", Devices: []model.DeviceShare{{Device: 1, Share: 500}}}
		status := p.Bind(context.Background(), s.State(), s.Workload, &b)
		if refuse {
			if status.Code() != extpoints.Error || !errors.Is(status.AsError(), refusal) || len(world.Bound()) != 0 {
				t.Errorf("refused: %v, bound %v", status, world.Bound())
			}
			continue
		}
		if !status.IsSuccess() || !reflect.DeepEqual(world.Bound(), []model.Binding{b}) {
			t.Errorf("accepted: %v, bound %v", status, world.Bound())
		}
	}
}

// A factory must not wait until Bind to find out that it has no orchestrator to
// ask for.
func TestNewNeedsHandle(t *testing.T) {
	if p, err := New(extpoints.NoArgs{}, nil); err == nil || p != nil {
		t.Errorf("%v, %v", p, err)
	}
}
