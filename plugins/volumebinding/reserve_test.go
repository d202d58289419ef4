package volumebinding

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestReserve(t *testing.T) {
	withUID := func(c *model.VolumeClaim) { c.UID = "7" }
	for _, c := range []struct {
		name    string
		w       *modeltest.WorkloadBuilder
		objects []model.Object
		node    string
		status  string
		want    model.Objects
	}{
		{"no claims", using(), nil, "a", "Success", nil},
		{"all bound", using("x"), []model.Object{claim("x", "local").Bound("v").Build(), localVolume("v", 1).Build()}, "a", "Success", nil},
		{"the smallest volume, with all else that it says", using("x"), []model.Object{claim("x", "local").With(withUID).Build(),
			localVolume("v1", 3).Build(), localVolume("v2", 2).Label("k", "v").Build(), localVolume("v3", 1).On(host, "b").Build()}, "a", "Success",
			model.Objects{localVolume("v2", 2).Label("k", "v").With(func(v *model.Volume) { v.Claim = &model.ClaimIdentity{ID: "x", UID: "7"} }).Build()}},
		{"of equal ones the first by name", using("x"), []model.Object{claim("x", "local").Build(), localVolume("v3", 2).Build(), localVolume("v2", 2).Build()}, "a", "Success",
			model.Objects{localVolume("v2", 2).For("x").Build()}},
		{"one that is kept for it learns which claim it is", using("x"), []model.Object{claim("x", "local").With(withUID).Build(),
			localVolume("v1", 1).Build(), localVolume("v2", 5).For("x").Build()}, "a", "Success",
			model.Objects{localVolume("v2", 5).With(func(v *model.Volume) { v.Claim = &model.ClaimIdentity{ID: "x", UID: "7"} }).Build()}},
		{"also what is so already", using("x", "y"), []model.Object{claim("x", "local").Build(), localVolume("v", 5).For("x").Build(), claim("y", "disk").Selected("c").Build()}, "c", "Success",
			model.Objects{localVolume("v", 5).For("x").Build(), claim("y", "disk").Selected("c").Build()}},
		{"volumes before claims, by size; those for the node already before others", using("c1", "c2", "c3", "c4", "c5"), []model.Object{
			claim("c1", "disk").Request(9).Build(), claim("c2", "local").Request(8).Build(), claim("c3", "disk").Request(7).Build(),
			claim("c4", "local").Request(6).Build(), claim("c5", "disk").Request(9).Selected("c").Build(),
			localVolume("v1", 9).Build(), localVolume("v2", 7).Build()}, "c", "Success",
			model.Objects{localVolume("v2", 7).For("c4").Build(), localVolume("v1", 9).For("c2").Build(),
				claim("c5", "disk").Request(9).Selected("c").Build(), claim("c3", "disk").Request(7).Selected("c").Build(), claim("c1", "disk").Request(9).Selected("c").Build()}},
		{"not a node that will do", using("x"), []model.Object{claim("x", "local").Build()}, "a", noMatch, nil},
		{"not a node at all", using("x"), []model.Object{claim("x", "local").Build()}, "d", `Error: reserve volumes: no node "d"`, nil},
		{"not without the claim", using("x"), nil, "a", uau + `volume claim "x" not found`, nil},
	} {
		s := situationOf(c.w.Build(), append(append([]model.Object{}, classes...), c.objects...))
		p, state, b := newPlugin(t, nil, nil), s.State(), &model.Binding{Workload: "w", Node: c.node}
		p.PreFilter(state, s.Workload)
		if got := p.Reserve(state, s.Workload, b).String(); got != c.status || !reflect.DeepEqual(b.Decided, c.want) {
			t.Errorf("%s: %s, %+v", c.name, got, b.Decided)
		}
		for _, o := range b.Decided {
			if kind := model.RefOf(o).Kind; kind != model.VolumeClaimKind && kind != model.VolumeKind {
				t.Errorf("%s: %+v cannot be decided on", c.name, o)
			}
			for _, seen := range s.View.Objects {
				if o == seen {
					t.Errorf("%s: %+v is the view's own", c.name, o)
				}
			}
		}
	}
}

// Others' part of the binding stays.
func TestUnreserve(t *testing.T) {
	p, s := newPlugin(t, nil, nil), situationOf(using("x", "y").Build(), append(classes[:len(classes):len(classes)],
		claim("x", "local").Build(), claim("y", "disk").Build(), localVolume("v", 1).Build()))
	device := &model.DeviceClaim{ID: "d"}
	b := &model.Binding{Workload: "w", Node: "c", Decided: model.Objects{device}}
	if status := p.Reserve(s.State(), s.Workload, b); status != nil || len(b.Decided) != 3 {
		t.Fatalf("%v %+v", status, b.Decided)
	}
	copied := *b
	p.Unreserve(s.State(), s.Workload, b)
	if !reflect.DeepEqual(b.Decided, model.Objects{device}) {
		t.Errorf("%+v", b.Decided)
	}
	if len(copied.Decided) != 3 || copied.Decided[1] == nil || copied.Decided[2] == nil {
		t.Errorf("a copy of the binding was changed: %+v", copied.Decided)
	}
}

// binder is an orchestrator that binds volumes.
type binder struct {
	extpointstest.Orchestrator
	bind func(ctx context.Context, w *model.Workload, b model.Binding) error
}

func (b *binder) BindVolumes(ctx context.Context, w *model.Workload, binding model.Binding) error {
	if b.bind == nil {
		return ctx.Err()
	}
	return b.bind(ctx, w, binding)
}

func bindingOf(objects ...model.Object) *model.Binding {
	return &model.Binding{Workload: "w", Node: "a", Decided: objects}
}

func TestPreBindPreFlight(t *testing.T) {
	decided := bindingOf(localVolume("v", 1).For("x").Build())
	for _, c := range []struct {
		name    string
		world   extpoints.Orchestrator
		binding *model.Binding
		want    string
	}{
		{"a volume", &binder{}, decided, "Success"},
		{"a claim", &binder{}, bindingOf(claim("x", "disk").Selected("a").Build()), "Success"},
		{"nothing", &binder{}, bindingOf(), "Skip"},
		{"what others decided", &binder{}, bindingOf(&model.DeviceClaim{ID: "d"}), "Skip"},
		{"no call needed", &extpointstest.Orchestrator{}, decided, "Skip"},
	} {
		h := extpointstest.NewHandle()
		h.World = c.world
		flight, status := newPlugin(t, nil, h).PreBindPreFlight(nil, nil, c.binding)
		if status.String() != c.want || !flight.AllowParallel {
			t.Errorf("%s: %v %+v", c.name, status, flight)
		}
	}
}

func TestPreBind(t *testing.T) {
	s := situationOf(using("x", "y").Build(), nil)
	b := bindingOf(localVolume("v", 1).For("x").Build(), claim("y", "disk").Selected("a").Build())
	preBind := func(ctx context.Context, world extpoints.Orchestrator) *extpoints.Status {
		h := extpointstest.NewHandle()
		h.World = world
		return newPlugin(t, Args{BindTimeout: time.Minute}, h).PreBind(ctx, s.State(), s.Workload, b)
	}
	wait := &binder{bind: func(ctx context.Context, _ *model.Workload, _ model.Binding) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	const failed = `Error: binding volumes: workload "w", claims "x", "y": `

	t.Run("done", func(t *testing.T) {
		var got *model.Binding
		world := &binder{bind: func(_ context.Context, w *model.Workload, b model.Binding) error {
			if w != s.Workload.Workload {
				t.Errorf("called for %+v", w)
			}
			got = &b
			return nil
		}}
		if status := preBind(t.Context(), world); status != nil || !reflect.DeepEqual(got, b) {
			t.Errorf("%v, %+v", status, got)
		}
	})
	t.Run("refused", func(t *testing.T) {
		refusal := errors.New("no such disk")
		status := preBind(t.Context(), &binder{bind: func(context.Context, *model.Workload, model.Binding) error { return refusal }})
		if status.String() != failed+"no such disk" || !errors.Is(status.AsError(), refusal) {
			t.Error(status)
		}
	})
	t.Run("not done in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			status := preBind(t.Context(), wait)
			if status.String() != failed+"context deadline exceeded (not done within 1m0s)" || !errors.Is(status.AsError(), context.DeadlineExceeded) {
				t.Error(status)
			}
			if took := time.Since(start); took != time.Minute {
				t.Errorf("after %v", took)
			}
		})
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("stopped"))
		if status := preBind(ctx, wait); status.String() != failed+"context canceled (stopped)" {
			t.Error(status)
		}
	})
	t.Run("no call needed", func(t *testing.T) {
		if status := preBind(t.Context(), &extpointstest.Orchestrator{}); status != nil {
			t.Error(status)
		}
	})
}
