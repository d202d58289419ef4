package scheduler

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// share is what a queue's limit on the tasks of one user is about.
type share struct{ owner, queue string }

// loads are the tasks of each share.
type loads map[share]*load

// load is how many tasks of a share run or are offered, and which jobs would offer
// more if they were fewer.
type load struct {
	tasks   int32
	limited map[job.ID]bool
	fell    bool // since the last call of unlimited
}

func (l loads) of(s share) *load {
	if l[s] == nil {
		l[s] = &load{limited: map[job.ID]bool{}}
	}
	return l[s]
}

// claim sets how many tasks of its share a job has.
func (l loads) claim(t *tracked, tasks int32) {
	if tasks == t.claim {
		return
	}
	o := l.of(t.share)
	o.tasks += tasks - t.claim
	o.fell = o.fell || tasks < t.claim
	t.claim = tasks
}

// unlimited takes the jobs that may offer more, oldest first.
func (l loads) unlimited() []job.ID {
	var ids []job.ID
	for s, o := range l {
		if o.fell {
			o.fell = false
			ids = slices.AppendSeq(ids, maps.Keys(o.limited))
			clear(o.limited)
		}
		if o.tasks == 0 && len(o.limited) == 0 {
			delete(l, s)
		}
	}
	slices.Sort(ids)
	return ids
}
