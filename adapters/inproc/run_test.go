package inproc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berth-project/berth/adapters/inproc"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
)

// bench is an orchestrator with an engine that runs, in a bubble: synctest.Wait
// waits until everything has settled.
type bench struct {
	*testing.T
	o *inproc.Orchestrator
	e *engine.Engine
}

func inBubble(t *testing.T, opts inproc.Options, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if opts.Failed == nil {
			opts.Failed = func(err error) { t.Errorf("the engine refused: %v", err) }
		}
		b := &bench{T: t, o: inproc.New(opts)}
		var err error
		b.e, err = engine.New(engine.Config{
			Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: b.o,
		})
		b.must(err)
		b.must(b.o.Connect(b.e))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- b.e.Run(ctx) }()
		test(b)
		stop()
		b.must(<-ended)
		b.o.Close()
	})
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) join(names ...string) {
	b.Helper()
	for _, name := range names {
		b.must(b.o.Join(&model.Node{Name: name, Allocatable: model.Resources{CPU: 1000}}))
	}
}

func (b *bench) submit(id string, task inproc.Task) {
	b.Helper()
	b.must(b.o.Submit(&model.Workload{ID: id, Requests: model.Resources{CPU: 1000}}, task))
}

// where is what the engine knows of the workload.
func (b *bench) where(id string) string {
	synctest.Wait()
	r, ok := b.e.View().Workload(id)
	if !ok {
		return "forgotten"
	}
	return fmt.Sprint(r.Phase, " ", r.Node)
}

func (b *bench) expect(id, want string) {
	b.Helper()
	if got := b.where(id); got != want {
		b.Errorf("workload %s is %s, want %s", id, got, want)
	}
}

// forever is a task that runs until it is told to end.
func forever(ctx context.Context, _ model.Binding) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestRetryPolicy(t *testing.T) {
	var ends []string
	inBubble(t, inproc.Options{After: func(e inproc.End) inproc.Next {
		ends = append(ends, fmt.Sprint(e.Workload.ID, " ", e.Binding.Node, " ", e.Run, " ", e.Err))
		if e.Err != nil && e.Run < 3 {
			return inproc.Retry
		}
		return inproc.Forget
	}}, func(b *bench) {
		b.join("n1")
		runs := 0
		b.submit("flaky", func(context.Context, model.Binding) error {
			if runs++; runs == 1 {
				panic("first")
			}
			return errors.New("again")
		})
		b.expect("flaky", "forgotten")
	})
	want := []string{
		`flaky n1 1 the task of workload "flaky" panicked: first`, "flaky n1 2 again", "flaky n1 3 again",
	}
	if !slices.Equal(ends, want) {
		t.Errorf("runs ended as %q, want %q", ends, want)
	}
}

// However a run and the question what comes after it end, the workload leaves its node.
func TestWhatDoesNotReturn(t *testing.T) {
	good := func(context.Context, model.Binding) error { return nil }
	for name, test := range map[string]struct {
		task  inproc.Task
		after func(inproc.End) inproc.Next
		told  string // of Failed
	}{
		"a task that ends its goroutine": {
			task:  func(context.Context, model.Binding) error { runtime.Goexit(); return nil },
			after: func(e inproc.End) inproc.Next { return inproc.DefaultAfter(e) },
		},
		"an After that panics": {
			task: good, after: func(inproc.End) inproc.Next { panic("no policy") },
			told: `Options.After panicked about workload "w": no policy`,
		},
		"an After that ends its goroutine": {
			task: good, after: func(inproc.End) inproc.Next { runtime.Goexit(); return inproc.Retry },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var told string
			inBubble(t, inproc.Options{After: test.after, Failed: func(err error) { told += err.Error() }}, func(b *bench) {
				b.join("n1")
				b.submit("w", test.task)
				b.expect("w", "forgotten")
				b.submit("next", forever)
				b.expect("next", "Confirmed n1")
			})
			inBubble(t, inproc.Options{After: test.after, Failed: func(error) { panic("nobody listens") }}, func(b *bench) {
				b.join("n1")
				b.submit("w", test.task)
				b.expect("w", "forgotten")
			})
			if told != test.told {
				t.Errorf("Failed was told %q, want %q", told, test.told)
			}
		})
	}
}

func TestDrain(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.join("n1")
		var cause error
		b.submit("a", func(ctx context.Context, on model.Binding) error {
			<-ctx.Done()
			if on.Node == "n1" {
				cause = context.Cause(ctx)
			}
			return nil
		})
		b.expect("a", "Confirmed n1")
		b.join("n2")
		b.must(b.o.Drain("n1"))
		b.expect("a", "Confirmed n2")
		if !errors.Is(cause, inproc.ErrDrained) {
			b.Errorf("the cause is %v, want %v", cause, inproc.ErrDrained)
		}
		b.submit("b", forever)
		b.expect("b", "Pending ")
		b.join("n1") // its agent has started again
		b.expect("b", "Pending ")
		b.must(b.o.Open("n1"))
		b.expect("b", "Confirmed n1")
		if err := b.o.Drain("n3"); !errors.Is(err, inproc.ErrNotFound) {
			b.Errorf("draining what is not there: %v", err)
		}
		if err := b.o.Open("n3"); !errors.Is(err, inproc.ErrNotFound) {
			b.Errorf("opening what is not there: %v", err)
		}
	})
}

// TestReconnect: another engine is told of all there is, whatever is away by then.
func TestReconnect(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.join("n1", "n2")
		mayEnd := make(chan struct{})
		b.must(b.o.Submit(&model.Workload{ID: "leaves", NodeName: "n2", Limit: time.Hour}, func(context.Context, model.Binding) error {
			<-mayEnd
			return nil
		}))
		b.must(b.o.Submit(&model.Workload{ID: "runs", NodeName: "n1"}, forever))
		b.must(b.o.Submit(&model.Workload{ID: "waits for n3", NodeName: "n3"}, forever))
		b.must(b.o.Submit(&model.Workload{ID: "waits for its profile", Profile: "gone"}, forever))
		b.expect("leaves", "Confirmed n2")
		b.must(b.o.Kill("n2"))

		b.o.Disconnect()
		again, err := engine.New(engine.Config{Profiles: []extpoints.Profile{plugins.DefaultProfile()}, Orchestrator: b.o})
		b.must(err)
		b.must(b.o.Connect(again))
		b.e = again
		b.expect("leaves", "Terminating n2")
		b.expect("runs", "Confirmed n1")
		b.expect("waits for n3", "Pending ")
		b.expect("waits for its profile", "Pending ")

		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- again.Run(ctx) }()
		b.join("n3")
		b.expect("waits for n3", "Confirmed n3")
		close(mayEnd)
		b.expect("leaves", "Pending ") // to be placed again, on n2
		stop()
		b.must(<-ended)
	})
}

// TestReconnectKeepsTheGrantedLimit: a run that was granted a shorter limit has it in the next engine.
func TestReconnectKeepsTheGrantedLimit(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.o.Disconnect()
		b.join("n1")
		w := &model.Workload{ID: "w", Limit: time.Hour, MinLimit: time.Minute}
		b.must(b.o.Submit(w, forever))
		b.must(b.o.Bind(b.Context(), w, model.Binding{Workload: "w", Node: "n1", Limit: time.Minute}))
		b.must(b.o.Connect(b.e))
		b.expect("w", "Confirmed n1")
		if r, _ := b.e.View().Workload("w"); r.GrantedLimit != time.Minute {
			b.Errorf("its limit is %v", r.GrantedLimit)
		}
	})
}

func TestCancel(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.join("n1")
		b.submit("runs", forever)
		b.expect("runs", "Confirmed n1")
		b.submit("waits", forever)
		b.submit("waits too", forever)
		b.must(b.o.Cancel("waits"))
		b.expect("waits", "forgotten")
		b.must(b.o.Cancel("runs"))
		b.expect("runs", "forgotten")
		b.expect("waits too", "Confirmed n1")
		if err := b.o.Cancel("runs"); !errors.Is(err, inproc.ErrNotFound) {
			b.Errorf("cancelling what is not there: %v", err)
		}
	})
}

// TestLeaving: until the task has returned the workload keeps its room and is
// not started again.
func TestLeaving(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.join("n1")
		mayEnd := make(chan struct{})
		b.submit("slow", func(ctx context.Context, _ model.Binding) error {
			<-ctx.Done()
			<-mayEnd
			return nil
		})
		b.expect("slow", "Confirmed n1")
		b.must(b.e.Evict("slow", "test"))
		b.submit("next", forever)
		b.expect("slow", "Terminating n1")
		b.expect("next", "Pending ")
		r, _ := b.e.View().Workload("slow")
		if err := b.o.Bind(b.Context(), r.Workload, model.Binding{Workload: "slow", Node: "n1"}); !errors.Is(err, inproc.ErrEvicted) {
			b.Errorf("Bind while it is leaving: %v, want %v", err, inproc.ErrEvicted)
		}
		b.must(b.o.Cancel("slow")) // else it might take the room again
		close(mayEnd)
		b.expect("slow", "forgotten")
		b.expect("next", "Confirmed n1")
	})
}

func TestRefusals(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.submit("a", forever)
		if err := b.o.Submit(&model.Workload{ID: "a"}, forever); !errors.Is(err, inproc.ErrExists) {
			b.Errorf("the same ID again: %v", err)
		}
		if err := b.o.Submit(&model.Workload{}, forever); !errors.Is(err, model.ErrInvalid) {
			b.Errorf("no ID: %v", err)
		}
		b.must(b.e.Apply(engine.Submit(&model.Workload{ID: "somebody else's"})))
		if err := b.o.Submit(&model.Workload{ID: "somebody else's"}, forever); !errors.Is(err, engine.ErrExists) {
			b.Errorf("the engine's refusal is not passed on: %v", err)
		}
		if err := b.o.Join(&model.Node{}); !errors.Is(err, model.ErrInvalid) {
			b.Errorf("no name: %v", err)
		}
		if err := b.o.Kill("n1"); !errors.Is(err, inproc.ErrNotFound) {
			b.Errorf("killing what is not there: %v", err)
		}
		if err := b.o.Connect(b.e); !errors.Is(err, inproc.ErrConnected) {
			b.Errorf("connecting twice: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	inBubble(t, inproc.Options{}, func(b *bench) {
		b.join("n1")
		var cause error
		b.submit("a", func(ctx context.Context, _ model.Binding) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return nil
		})
		b.expect("a", "Confirmed n1")
		b.o.Close()
		b.o.Close()
		if !errors.Is(cause, inproc.ErrClosed) {
			b.Errorf("the cause is %v, want %v", cause, inproc.ErrClosed)
		}
		w := &model.Workload{ID: "a"}
		if err := b.o.Bind(b.Context(), w, model.Binding{Workload: "a", Node: "n1"}); !errors.Is(err, inproc.ErrClosed) {
			b.Errorf("Bind after Close: %v", err)
		}
		if err := b.o.Submit(w, forever); !errors.Is(err, inproc.ErrClosed) {
			b.Errorf("Submit after Close: %v", err)
		}
	})
}
