package transcript

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// env is an engine with everything around it that a transcript commands.
type env struct {
	t   *testing.T
	now time.Time

	cfg        engine.Config
	registered map[string][]extpoints.EventHint
	made       bool
	raw        *engine.Raw // nil until the first verb that needs it
	deaf       bool        // extenders must not be asked
	configured []line      // the verbs that said what the engine is made of

	script   *script
	handles  map[string]extpoints.Handle // by plugin
	latest   map[string]*model.Workload
	nodes    map[string]*model.Node
	tasks    []*task
	branches map[string]*engine.Branch

	tape   tape
	events []string

	mu   sync.Mutex // guards out: plugins write to it from binding goroutines
	out  []string
	side int // how many lines at the end of out are from calls side by side
}

func newEnv(t *testing.T, workers int) *env {
	e := &env{
		t: t, now: epoch,
		registered: map[string][]extpoints.EventHint{},
		script:     newScript(),
		handles:    map[string]extpoints.Handle{},
		latest:     map[string]*model.Workload{},
		nodes:      map[string]*model.Node{},
		branches:   map[string]*engine.Branch{},
	}
	e.cfg.Workers = workers
	e.script.note = e.note
	return e
}

// task is a task that the engine has handed out.
type task struct {
	*engine.Task
	cancel context.CancelFunc
	done   chan struct{} // nil until it was run
}

// name is how transcripts call it.
func (t *task) name() string { return t.Workload().ID }

func (e *env) fail(l line, why string) {
	e.t.Helper()
	e.t.Fatalf("%s: %s", l.text, why)
}

// say adds a line to the answer.
func (e *env) say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.side = 0
	e.out = append(e.out, fmt.Sprintf(format, args...))
}

// note adds a plugin's call to the answer. Calls side by side are sorted, since
// any order is right.
func (e *env) note(call string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.out = append(e.out, "  "+call)
	if e.side++; !strings.HasPrefix(call, sideBySide) {
		e.side = 0
	}
	slices.Sort(e.out[len(e.out)-e.side:])
}
