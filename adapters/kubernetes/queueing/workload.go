package queueing

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// maxDeadline is the longest limit in seconds: what is longer has no end that matters.
const maxDeadline = 1 << 32

// AddTo adds to the workload of a pod what orders and plans go by: on whose account it runs,
// and its limit. Where c is nil it adds nothing.
func (c *Configuration) AddTo(w *model.Workload, p *v1.Pod) {
	if c == nil {
		return
	}
	if c.Order() == engine.OrderByQueues {
		w.Principal = p.Namespace
	}
	if s := p.Spec.ActiveDeadlineSeconds; s != nil {
		w.Limit = time.Duration(min(*s, maxDeadline)) * time.Second
	}
}
