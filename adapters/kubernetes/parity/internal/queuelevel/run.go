package queuelevel

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/queue"
)

// Queue is what Berth's queue is made of; the hooks are set where it is bare.
type Queue struct {
	queue.Timing
	queue.Hooks
}

// Options change a case.
type Options struct {
	// Change and Deaf make mistakes on purpose, to see that they are noticed:
	// Change changes what Berth's queue is made of, and what Deaf reports true for Berth is not told.
	Change func(*Queue)
	Deaf   func(engine.Change) bool
	// Tell, where not nil, is told everything that happens, for people.
	Tell io.Writer
}

// length is how many steps a history has.
const length = 250

// Run runs one case. The history ends at the first difference: after it
// everything may differ.
func Run(seed, number uint64, report *differences.Report, o Options) error {
	h, err := newHistory(objects{rand.New(rand.NewPCG(seed, number)), seed<<32 ^ number}, kindOf(number), o)
	if err != nil {
		return err
	}
	h.report = report
	defer h.close()
	for range length {
		h.moment()
		s := h.next()
		s.do(h)
		h.compare(s.name)
		if h.over {
			return nil
		}
		report.Count("(" + s.name + ")")
	}
	h.drain()
	return nil
}

// drain takes out what is left, to compare the order.
func (h *history) drain() {
	c := h.berth.QueueCounts()
	for range c.Active + c.Backoff {
		h.moment()
		if h.kind == bare {
			h.pop()
		} else {
			h.attempt()
		}
	}
	h.compare("the end")
}

// compared counts one comparison and ends the history where the two answers
// differ.
func (h *history) compared(where, reference, subject string) {
	if h.over {
		return
	}
	h.over = !h.report.Compare(where, reference, subject, func() string {
		return strings.Join(h.log[max(0, len(h.log)-30):], "\n  ")
	})
}

// note writes the log of the history.
func (h *history) note(format string, args ...any) {
	line := fmt.Sprintf("%-14s %s", sinceEpoch(h.now), fmt.Sprintf(format, args...))
	h.log = append(h.log, line)
	if h.tell != nil {
		fmt.Fprintln(h.tell, line)
	}
}
