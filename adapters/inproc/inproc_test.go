package inproc_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"github.com/berth-project/berth/adapters/adaptertest"
	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }

func TestConformance(t *testing.T) {
	adaptertest.Run(t, newHarness)
}

func TestConformanceInBubble(t *testing.T) {
	adaptertest.RunInBubble(t, newHarness)
}

// harness is a world of tasks that write the history and wait to be ended.
type harness struct {
	o   *inproc.Orchestrator
	log adaptertest.Log

	mu       sync.Mutex
	finished map[string]chan struct{} // by workload
}

func newHarness(tb adaptertest.TB) adaptertest.Harness {
	h := &harness{finished: map[string]chan struct{}{}}
	h.o = inproc.New(inproc.Options{
		Failed: func(err error) { tb.Errorf("the engine refused what the orchestrator told it: %v", err) },
	})
	tb.Cleanup(h.o.Close)
	return h
}

func (h *harness) AddNode(n *model.Node) error { return h.o.Join(n) }

func (h *harness) KillNode(name string) error { return h.o.Kill(name) }

func (h *harness) Submit(w *model.Workload) error {
	finished := make(chan struct{})
	h.mu.Lock()
	h.finished[w.Name] = finished
	h.mu.Unlock()
	return h.o.Submit(w, func(ctx context.Context, b model.Binding) error {
		h.log.Started(w.Name, b.Node)
		defer h.log.Ended(w.Name, b.Node)
		select {
		case <-finished:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func (h *harness) Finish(name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	finished := h.finished[name]
	if finished == nil {
		return errors.New("there is no such workload")
	}
	close(finished)
	delete(h.finished, name)
	return nil
}

func (h *harness) Log() *adaptertest.Log { return &h.log }

func (h *harness) Start(ctx context.Context, cfg engine.Config) (adaptertest.Session, error) {
	cfg.Orchestrator = h.o
	e, err := engine.New(cfg)
	if err != nil {
		return adaptertest.Session{}, err
	}
	if err := h.o.Connect(e); err != nil {
		return adaptertest.Session{}, err
	}
	ended := make(chan error, 1)
	go func() {
		err := e.Run(ctx)
		h.o.Disconnect()
		ended <- err
	}()
	return adaptertest.Session{Engine: e, Wait: func() error { return <-ended }}, nil
}
