package state

import (
	"slices"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// putQueue adds a queue, or replaces it.
func (t *tx) putQueue(q *Queue) Result {
	if problems := t.CheckQueue(q); len(problems) > 0 {
		return notValid("the queue", problems)
	}
	queues.put(t.txn, q)
	t.tree = true
	t.touchQueue(q.Name)
	return Result{}
}

// removeQueue removes a queue that no job is in. The default queue is always there: it
// gets its first settings again.
func (t *tx) removeQueue(name string) Result {
	q := queues.get(t.txn, []byte(name))
	switch {
	case q == nil && name == job.DefaultQueue:
		return refuse(api.CodeConflict, "queue %q is always there, and has its first settings", name)
	case q == nil:
		return refuse(api.CodeNotFound, "there is no queue %q", name)
	}
	for j := range t.Jobs() {
		if j.Spec.Queue == name && !j.Done() && name != job.DefaultQueue {
			return refuse(api.CodeConflict, "queue %q has jobs that have not ended, for example %d", name, j.ID)
		}
	}
	if name != job.DefaultQueue { // that one stays
		if needs := t.needsQueue(name); needs != "" {
			return refuse(api.CodeConflict, "queue %q is needed by %s; change or remove that first", name, needs)
		}
	}
	queues.remove(t.txn, q)
	t.tree = true
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
	t.revoked = true
	return Result{}
}

// revoke remembers which certificates are not good any more. Of one that was revoked
// before, the later times count. Tokens of the same role and name are removed.
func (t *tx) revoke(r *api.Revocation) Result {
	if r.ID == "" || r.Expires.IsZero() {
		return refuse(api.CodeInvalid, "what is revoked has no name, or no end")
	}
	next := *r
	next.By = t.by
	if old := t.Revocation(r.ID); old != nil {
		if old.Created.After(next.Created) {
			next.Created = old.Created
		}
		if old.Expires.After(next.Expires) {
			next.Expires = old.Expires
		}
	}
	revoked.put(t.txn, &next)
	t.revoked = true
	return Result{Tokens: t.removeTokensOf(next.ID)}
}

// removeTokensOf removes the tokens that somebody bears, and returns their IDs.
func (t *tx) removeTokensOf(who string) []string {
	var removed []string
	for _, k := range slices.Collect(t.Tokens()) {
		if !k.Join && k.Bearer() == who {
			tokens.remove(t.txn, k)
			removed = append(removed, k.ID)
		}
	}
	return removed
}

// purge forgets tokens that have expired, jobs that have ended, and records beyond what
// is kept. Jobs that others wait for stay.
func (t *tx) purge(c *Purge) Result {
	if c.Records < 0 {
		return refuse(api.CodeInvalid, "%d records cannot be kept", c.Records)
	}
	t.purgeExpired()
	needed := map[job.ID]bool{}
	var ended []*Job
	for j := range t.Jobs() {
		if !j.Done() {
			for i := range j.Spec.After {
				if id, ok := j.Spec.After[i].ID(); ok {
					needed[id] = true
				}
			}
		} else {
			ended = append(ended, j)
		}
	}
	limit := t.StoredLimit
	if !c.ByQueues {
		limit = func(string) int64 { return MaxStored }
	}
	tooMuch := t.ownersAbove(limit)
	for _, j := range ended { // oldest first
		early := tooMuch[j.Owner] > 0
		if (early || j.Ended.Before(c.Before)) && !needed[j.ID] {
			t.forget(j)
			tooMuch[j.Owner] -= j.Stored
		}
	}
	t.cutRecords(c.Records)
	t.purgeReservations()
	return Result{}
}

// purgeExpired forgets tokens that are not good any more, and revocations of certificates
// that are not good without them.
func (t *tx) purgeExpired() {
	for _, k := range slices.Collect(t.Tokens()) {
		if !k.Expires.IsZero() && !t.now().Before(k.Expires) {
			tokens.remove(t.txn, k)
			t.revoked = true
		}
	}
	for _, r := range slices.Collect(t.Revocations()) {
		if !t.now().Before(r.Expires) {
			revoked.remove(t.txn, r)
		}
	}
}

// forget removes all that there is of a job.
func (t *tx) forget(j *Job) {
	for _, r := range slices.Collect(t.RecordsOf(j.ID)) {
		t.dropRecord(r)
	}
	for _, c := range slices.Collect(chunks.all(t.txn, "id", jobKey(j.ID))) {
		chunks.remove(t.txn, c)
	}
	if j.Key != "" {
		if k := keys.get(t.txn, keys.id(&key{Owner: j.Owner, Key: j.Key})); k != nil {
			keys.remove(t.txn, k)
		}
	}
	t.holdJob(j, nil)
	jobs.remove(t.txn, j)
	t.jobs[j.ID] = true
}
