package queue

import (
	"math"
	"time"

	"github.com/berth-project/berth/model"
)

// history is what the order by queues remembers of the past: what has been used. It is the one
// part of it that does not follow from what there is now. The times that it is told are not to
// go back; one that does counts as the latest.
type history struct {
	tick   int64 // the latest time
	due    int64 // when the next interval of a book begins
	books  map[string]*book
	meters map[gaugeKey]*meter
}

func newHistory() *history {
	return &history{due: never, books: map[string]*book{}, meters: map[gaugeKey]*meter{}, tick: math.MinInt64}
}

func tickOf(at time.Time) int64 { return at.UnixMilli() }

func (h *history) setDue() {
	h.due = never
	for _, b := range h.books {
		h.due = min(h.due, b.next)
	}
}

// lateCharge is a charge of which there is something to be done when the tree is whole.
type lateCharge struct {
	workload *model.Workload
	since    int64
}
