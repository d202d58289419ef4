package adaptertest

import (
	"context"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func checkNodeDies(w *world) {
	w.node("n1", 2)
	w.submit("a", "b")
	w.start(nil)
	w.runningOn("n1", "a", "b")
	w.node("n2", 3)
	w.submit("c")
	w.running("c")
	w.kill("n1")
	w.runningOn("n2", "a", "b", "c")
	w.once("c")
	w.starts(2, "a", "b")
}

func checkNodeReturns(w *world) {
	w.node("n1", 1)
	w.submit("a")
	w.start(nil)
	w.running("a")
	w.kill("n1")
	w.until("a has left n1", func(v *engine.View, _ map[string][]string) bool {
		r, ok := workload(v, "a")
		return !ok || r.Phase != model.Confirmed
	})
	w.node("n1", 1)
	w.runningOn("n1", "a")
	w.starts(2, "a")
}

func checkNodeDiesWhileBinding(w *world) {
	var tried once
	entered, killed := make(chan struct{}, 1), make(chan struct{})
	w.node("n1", 1)
	w.submit("a")
	w.start(func(ctx context.Context, o extpoints.Orchestrator, wl *model.Workload, b model.Binding) error {
		if tried.first(wl.Name) {
			entered <- struct{}{}
			select {
			case <-killed:
			case <-w.ctx.Done():
			}
			// The engine cancels the bind when it hears that the node has gone. The
			// adapter may have been on its way by then.
			ctx = context.WithoutCancel(ctx)
		}
		return o.Bind(ctx, wl, b)
	})
	receive(w, "a bind of workload a", entered)
	w.kill("n1")
	w.node("n2", 1)
	close(killed)
	w.runningOn("n2", "a")
	w.once("a")
}
