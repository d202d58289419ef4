package scheduler

import (
	"sync"

	"github.com/berth-project/berth/engine"
)

// reasons remember why workloads that wait were not placed when they were last
// tried.
type reasons struct {
	mu   sync.Mutex
	last map[string]string // by workload
}

func newReasons() *reasons { return &reasons{last: map[string]string{}} }

// rejected is told by the engine.
func (r *reasons) rejected(e engine.RejectedEvent) { r.set(e.Workload.ID, e.Message) }

func (r *reasons) set(workload, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[workload] = message
}

func (r *reasons) forget(workload string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.last, workload)
}

func (r *reasons) of(workload string) (message string, tried bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	message, tried = r.last[workload]
	return message, tried
}
