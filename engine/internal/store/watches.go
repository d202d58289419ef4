package store

import "sync"

// watches holds the channels that wait for a commit.
//
// The tree nodes of memdb have channels of their own, but they fire for
// neighbours in the tree too, there is none for an answer put together from
// several places, none fires for a write to a branch, and to track them costs
// every write. Here a channel belongs to one answer. The steps, which lose no
// wake-up:
//
//	reader: 1. register the channel  2. read
//	writer: a. publish the state     b. fire the channels
//
// If the reader missed the new state, 2 was before a, so 1 was before b.
//
// A channel that nobody waits for any more stays registered until it fires. To
// keep that from growing for ever, one of the others fires when there are
// maxWatches: its waiter finds no change and registers again.
type watches struct {
	mu      sync.Mutex
	waiting map[watchKey]chan struct{}
}

const maxWatches = 1 << 17

// watchKey names an answer.
type watchKey struct {
	answer answer
	kind   Kind
	id     string // of the row, node or group; for a phase its byte, for a list of objects their kind
}

type answer uint8

const (
	oneRow  answer = iota // the row of the kind and ID
	allRows               // all rows of the kind
	inPhase               // WorkloadsIn
	onNode                // WorkloadsOn
	ofGroup               // WorkloadsOf
)

func (w *watches) register(key watchKey) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := w.waiting[key]
	if ch != nil {
		return ch
	}
	if len(w.waiting) >= maxWatches {
		for other, ch := range w.waiting {
			close(ch)
			delete(w.waiting, other)
			break
		}
	}
	if w.waiting == nil {
		w.waiting = map[watchKey]chan struct{}{}
	}
	ch = make(chan struct{})
	w.waiting[key] = ch
	return ch
}

func (w *watches) fire(changes []Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range changes {
		if len(w.waiting) == 0 {
			return
		}
		c := &changes[i]
		w.wake(watchKey{oneRow, c.Kind, c.ID()})
		w.wake(watchKey{allRows, c.Kind, ""})
		switch c.Kind {
		case WorkloadKind:
			w.wakeLists(c.OldWorkload)
			w.wakeLists(c.NewWorkload)
		case ObjectKind:
			w.wake(watchKey{allRows, ObjectKind, string(either(c.OldObject, c.NewObject).Ref().Kind)})
		}
	}
}

// wakeLists wakes those who watch a list that the row is in.
func (w *watches) wakeLists(row *Workload) {
	if row == nil {
		return
	}
	w.wake(watchKey{inPhase, WorkloadKind, phasePrefix(row.Phase)})
	if row.Node != "" {
		w.wake(watchKey{onNode, WorkloadKind, row.Node})
	}
	if row.Info.Group != "" {
		w.wake(watchKey{ofGroup, WorkloadKind, row.Info.Group})
	}
}

func (w *watches) wake(key watchKey) {
	if ch := w.waiting[key]; ch != nil {
		close(ch)
		delete(w.waiting, key)
	}
}
