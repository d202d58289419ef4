package adaptertest

import (
	"maps"
	"slices"
	"sync"
)

// Log is the history of a world: which run started and which ended, in order.
// The zero value is an empty log. All methods may be called by any goroutine.
type Log struct {
	mu      sync.Mutex
	events  []Event
	waiting []func() // called at the next write
}

// Event is one line of a world's history.
type Event struct {
	// Workload is the workload's name, Node where the run is.
	Workload, Node string
	// Ended is false where the run starts and true where it has ended.
	Ended bool
}

// String says it in words.
func (e Event) String() string {
	if e.Ended {
		return e.Workload + " ended on " + e.Node
	}
	return e.Workload + " started on " + e.Node
}

// Started writes down that a run of the workload with the name has started.
func (l *Log) Started(workload, node string) { l.write(Event{workload, node, false}) }

// Ended writes down that a run of the workload with the name has ended.
func (l *Log) Ended(workload, node string) { l.write(Event{workload, node, true}) }

// Events returns what has been written so far.
func (l *Log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

func (l *Log) write(e Event) {
	l.mu.Lock()
	l.events = append(l.events, e)
	waiting := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// after calls f, once, when the log has more than n lines, at once if it does
// already.
func (l *Log) after(n int, f func()) {
	l.mu.Lock()
	if len(l.events) <= n {
		l.waiting = append(l.waiting, f)
		f = func() {}
	}
	l.mu.Unlock()
	f()
}

// runs says where each workload runs according to the history: by workload,
// the nodes of its runs that have not ended.
func runs(history []Event) map[string][]string {
	on := map[string][]string{}
	for _, e := range history {
		nodes := on[e.Workload]
		if !e.Ended {
			on[e.Workload] = append(nodes, e.Node)
		} else if i := slices.Index(nodes, e.Node); i >= 0 {
			on[e.Workload] = slices.Delete(nodes, i, i+1)
		}
	}
	maps.DeleteFunc(on, func(_ string, nodes []string) bool { return len(nodes) == 0 })
	return on
}
