package state

import (
	"slices"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// putQueue adds a queue, or replaces it.
func (t *tx) putQueue(q *Queue) Result {
	queues.put(t.txn, q)
	t.touchQueue(q.Name)
	return Result{}
}

// removeQueue removes a queue that no job is in.
func (t *tx) removeQueue(name string) Result {
	q := queues.get(t.txn, []byte(name))
	if q == nil {
		return refuse(api.CodeNotFound, "there is no queue %q", name)
	}
	for j := range t.Jobs() {
		if j.Spec.Queue == name && !j.Done() && name != job.DefaultQueue {
			return refuse(api.CodeConflict, "queue %q has jobs that have not ended, for example %d", name, j.ID)
		}
	}
	queues.remove(t.txn, q)
	t.touchQueue(name)
	return Result{}
}

// touchQueue says of the jobs of a queue that they have changed.
func (t *tx) touchQueue(name string) {
	for j := range t.Jobs() {
		if j.Spec.Queue == name && !j.Done() {
			t.jobs[j.ID] = true
		}
	}
}

func (t *tx) putToken(k *Token) Result {
	k.Created, k.By = t.now(), t.by
	tokens.put(t.txn, k)
	return Result{}
}

func (t *tx) removeToken(id string) Result {
	k := t.Token(id)
	if k == nil {
		return refuse(api.CodeNotFound, "there is no token %q", id)
	}
	tokens.remove(t.txn, k)
	return Result{}
}

// purge forgets jobs that have ended, and records beyond what is kept. Jobs that
// others wait for stay.
func (t *tx) purge(c *Purge) Result {
	if c.Records < 0 {
		return refuse(api.CodeInvalid, "%d records cannot be kept", c.Records)
	}
	needed := map[job.ID]bool{}
	var old []*Job
	for j := range t.Jobs() {
		if !j.Done() {
			for i := range j.Spec.After {
				if id, ok := j.Spec.After[i].ID(); ok {
					needed[id] = true
				}
			}
		} else if j.Ended.Before(c.Before) {
			old = append(old, j)
		}
	}
	for _, j := range old {
		if !needed[j.ID] {
			t.forget(j)
		}
	}
	t.cutRecords(c.Records)
	return Result{}
}

// restoredGap is how many numbers of jobs are left out after a backup was restored.
const restoredGap = 1_000_000

// restored makes the state of a backup one that agents can go on with. They remember
// tasks by their IDs: the numbers of jobs that were submitted after the backup are not
// given out again, or the new ones would be taken for those. And they have had orders
// of a later index, so all are given again; what ended meanwhile is reported again then.
func (t *tx) restored() Result {
	t.m.NextJob += restoredGap
	for _, old := range slices.Collect(t.Tasks()) {
		if old.Ready {
			k := *old
			t.putOrder(&k)
		}
	}
	return Result{}
}

// forget removes all that there is of a job.
func (t *tx) forget(j *Job) {
	for _, r := range slices.Collect(t.RecordsOf(j.ID)) {
		records.remove(t.txn, r)
	}
	for _, c := range slices.Collect(chunks.all(t.txn, "id", jobKey(j.ID))) {
		chunks.remove(t.txn, c)
	}
	if j.Key != "" {
		if k := keys.get(t.txn, keys.id(&key{Owner: j.Owner, Key: j.Key})); k != nil {
			keys.remove(t.txn, k)
		}
	}
	jobs.remove(t.txn, j)
	t.jobs[j.ID] = true
}

// cutRecords removes the oldest records beyond a number.
func (t *tx) cutRecords(most int) {
	all := slices.Collect(t.RecordsAfter(0))
	for _, r := range all[:max(0, len(all)-most)] {
		records.remove(t.txn, r)
		if j := t.Job(r.Job); !j.Cut {
			next := *j
			next.Cut = true
			t.putJob(&next)
		}
	}
}
