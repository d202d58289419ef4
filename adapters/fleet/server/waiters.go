package server

import "sync"

// waiters are those who wait for news about nodes.
type waiters struct {
	mu    sync.Mutex
	nodes map[string]chan struct{} // closed when there is news
}

func newWaiters() *waiters { return &waiters{nodes: map[string]chan struct{}{}} }

// on returns a channel that is closed at the next news about a node.
func (w *waiters) on(node string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.nodes[node]
	if c == nil {
		c = make(chan struct{})
		w.nodes[node] = c
	}
	return c
}

// wake tells those who wait for the nodes.
func (w *waiters) wake(nodes []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range nodes {
		if c := w.nodes[n]; c != nil {
			close(c)
			delete(w.nodes, n)
		}
	}
}

// wakeAll tells all.
func (w *waiters) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, c := range w.nodes {
		close(c)
		delete(w.nodes, n)
	}
}
