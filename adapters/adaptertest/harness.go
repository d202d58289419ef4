package adaptertest

import (
	"context"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Harness is what you write so that the kit can prove your adapter: one small
// world of its own, with nothing in it at first. The kit makes a new one for
// every check, and knows workloads by Name: give each the ID that your world
// gives it, but leave the name as it is, also in the next incarnation of a
// workload that lost its node.
//
// The kit calls the methods from several goroutines at once. An error ends the
// check as failed.
type Harness interface {
	// AddNode lets a node join the world. It has a name, and CPU, memory and
	// MaxWorkloads for as many workloads of the kit's as the check wants. A
	// node that was killed may join again under the same name.
	AddNode(n *model.Node) error

	// KillNode makes a node disappear, as if somebody had pulled the plug, with
	// everything that runs on it. It need not wait until anybody has noticed.
	// What ran there is wanted still: have it placed again in the way of your
	// adapter.
	KillNode(name string) error

	// Submit submits a workload as your users do. From then on it is wanted to
	// run, once, until Finish.
	Submit(w *model.Workload) error

	// Finish ends the run of the workload with the name by itself and
	// successfully: it has done its work and is not wanted any more.
	Finish(name string) error

	// Log is the world's history, in which everything is written down that ran
	// since the harness was made: call Started and Ended of it where runs
	// really start and end, for whatever reason, and not in the adapter that is
	// to be proved. The log may be behind what the engine knows, but Ended must
	// be written before the adapter can learn of the end.
	Log() *Log

	// Start starts your adapter and an engine over the world as it is now:
	// nodes may have joined, workloads may wait and others run. Set
	// cfg.Orchestrator to yours, change nothing else, make the engine, tell it of
	// everything and call its Run, as package adapters says of a start. Start need
	// not wait until that is done.
	// The session ends when ctx does: then the engine's Run and whatever else
	// the session started must end, while the world goes on. At most one
	// session is under way at a time.
	Start(ctx context.Context, cfg engine.Config) (Session, error)
}

// Session is one life of an engine over a world.
type Session struct {
	// Engine is the engine that the session runs.
	Engine *engine.Engine
	// Wait blocks until the context given to Start has ended and after it
	// everything that the session started, and returns what Run returned.
	Wait func() error
}

// TB is the part of [testing.TB] that the kit needs; every *testing.T is one.
// Fatalf must not return.
type TB interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
}

// NewHarness makes a harness. It ends what it started in a function that it
// gives to tb.Cleanup; every session has ended when that is called.
type NewHarness func(tb TB) Harness

const (
	// deadline is how long a check waits for what must come. It is generous:
	// only a broken adapter waits it out.
	deadline = 30 * time.Second
	// shortBackoff is the engines' first backoff.
	shortBackoff = 10 * time.Millisecond
)
