package queue

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/model"
)

// Know counts workloads that have come to be known (n is 1), or are not any more, or have
// ended (-1), for limits on their number. Where the order is not by queues it does nothing.
func (q *Queue) Know(w *model.Workload, n int) {
	t := q.tree
	if t == nil {
		return
	}
	key := keyOf(w)
	if t.known[key] += n; t.known[key] == 0 {
		delete(t.known, key)
	}
	t.recount(key, n)
}

// Admission returns the check that workloads which are submitted in one transaction go
// through, one by one: it refuses, with every reason, what a limit of breach
// [model.LimitRefuse] does not allow. What has left in the same transaction still
// counts. Nil where the order is not by queues.
func (q *Queue) Admission() func(*model.Workload) error {
	t := q.tree
	if t == nil {
		return nil
	}
	more := map[gaugeKey]int{}
	return func(w *model.Workload) error {
		var problems []error
		var counted []gaugeKey
		t.limitsOn(keyOf(w), func(l *model.Limit, principal string) {
			if l.Breach != model.LimitRefuse {
				return
			}
			n, key := int64(1), gaugeKey{l.Name, principal}
			switch l.Measure {
			case model.LimitCount:
				n += int64(t.counts[key] + more[key])
				counted = append(counted, key)
			case model.LimitResource:
				n = requested(w, l.Resource)
			case model.LimitResourceSeconds:
				if n = requested(w, l.Resource); n > 0 {
					n = resourceSeconds(n, w.Limit)
				}
			}
			if n > l.Amount {
				problems = append(problems, fmt.Errorf("workload %q: limit %q: it would be %d, of at most %d", w.ID, l.Name, n, l.Amount))
			}
		})
		if len(problems) == 0 {
			for _, key := range counted {
				more[key]++
			}
		}
		return errors.Join(problems...)
	}
}
