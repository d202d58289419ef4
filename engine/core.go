package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/decide"
	"github.com/berth-project/berth/engine/internal/preempt"
	"github.com/berth-project/berth/engine/internal/record"
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/engine/internal/wake"
	"github.com/berth-project/berth/queue"
)

// core is what the parts of an engine share. The parts are floors: facts follows what
// was committed, outside does what is done outside, scheduling makes attempts, and Raw
// takes the calls. Each uses those before it.
type core struct {
	cfg      *Config
	rec      *record.Record
	handed   record.Handed
	decider  *decide.Decider
	queue    *queue.Queue
	listener Listener
	history

	permits  *tasks.Permits
	commands tasks.Commands
	tasks    *tasks.Book
	room     *preempt.Book
	wake     *wake.Waker
	heldBack map[string]bool      // pending workloads that are not queued before an old binding has returned
	leaving  map[string]time.Time // since when those are terminating that are
	lastWhy  map[string]Rejection
	rooms    rooms
	plan     *timeline.Book // nil where nothing is planned
	nextHold time.Time      // see holds.go
	memory   decide.Memory
	// forecasts is nil where there are none.
	forecasts *forecasts
}

func (c *core) activate(now time.Time, ids []string) {
	if len(ids) > 0 {
		c.queue.Activate(now, ids...)
	}
}

// activateAsked carries out what plugins have asked of the cycle's state since
// it was last called for the cycle.
func (c *core) activateAsked(m *tasks.Member) {
	c.activate(m.Now, m.TakeActivated())
}

// unreserve calls Unreserve of all Reserve plugins.
func (c *core) unreserve(m *decide.Cycle) {
	for _, err := range m.Framework.Unreserve(m.State, m.Info, &m.Binding) {
		c.listener.Failed(FailedEvent{At: m.Now, Workload: m.Info.ID, Err: err})
	}
}

// facts lets the rest of the engine follow what becomes part of the record.
type facts struct{ *core }

// outside is what is done outside the engine: bindings, from Permit on, evictions, and
// releases of claims.
type outside struct{ facts }

// scheduling makes attempts to place what was popped from the queue.
type scheduling struct{ outside }
