package state

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// MaxStored is the most that the servers store of one user's jobs, in bytes, also of those
// that have ended and are not forgotten yet: their specs, and the chunks of arrays. It
// holds whatever queues say. Their limit, StoredLimit, is seen to before a submission is
// proposed: the log of an older program has submissions beyond it, which must be taken
// again as they were.
const MaxStored = 1 << 30

// holding is what the servers have of a user. It follows from the other tables, and is
// not in pictures.
type holding struct {
	Owner string
	// Records counts hers, Stored is that of all her jobs.
	Records, Stored int64
	// Queued counts her jobs that have not ended, by queue, a gang by its tasks. It is
	// replaced, never changed.
	Queued map[string]int32
}

// holdingOf returns a copy that may be put.
func (v View) holdingOf(owner string) *holding {
	if h := holdings.get(v.txn, []byte(owner)); h != nil {
		next := *h
		return &next
	}
	return &holding{Owner: owner}
}

// putHolding puts a holding, or removes it where there is nothing.
func putHolding(txn *memdb.Txn, h *holding) {
	if h.Records == 0 && h.Stored == 0 && len(h.Queued) == 0 {
		if old := holdings.get(txn, []byte(h.Owner)); old != nil {
			holdings.remove(txn, old)
		}
		return
	}
	holdings.put(txn, h)
}

// queue counts so much more in a queue.
func (h *holding) queue(name string, more int32) {
	next := maps.Clone(h.Queued)
	if next == nil {
		next = map[string]int32{}
	}
	if next[name] += more; next[name] == 0 {
		delete(next, name)
	}
	h.Queued = next
}

// holdJob counts a job that replaces another, or nil, of the same number.
func (t *tx) holdJob(old, j *Job) {
	active := j != nil && !j.Done()
	wasActive := old != nil && !old.Done()
	if active == wasActive && old != nil && j != nil {
		return
	}
	one := j
	if one == nil {
		one = old
	}
	h := t.holdingOf(one.Owner)
	if old == nil {
		h.Stored += j.Stored
	}
	if j == nil {
		h.Stored -= old.Stored
	}
	switch {
	case active && !wasActive:
		h.queue(one.Spec.Queue, one.Spec.Tasks)
	case wasActive && !active:
		h.queue(one.Spec.Queue, -one.Spec.Tasks)
	}
	putHolding(t.txn, h)
}

// holdRecord counts so many more records.
func (t *tx) holdRecord(owner string, more int64) {
	h := t.holdingOf(owner)
	h.Records += more
	putHolding(t.txn, h)
}

// addUpHoldings makes the holdings of a picture.
func addUpHoldings(txn *memdb.Txn) {
	all := map[string]*holding{}
	of := func(owner string) *holding {
		if all[owner] == nil {
			all[owner] = &holding{Owner: owner}
		}
		return all[owner]
	}
	v := View{txn: txn}
	for j := range v.Jobs() {
		h := of(j.Owner)
		if h.Stored += j.Stored; !j.Done() {
			h.queue(j.Spec.Queue, j.Spec.Tasks)
		}
	}
	for r := range v.RecordsAfter(0) {
		of(r.Owner).Records++
	}
	for _, h := range all {
		putHolding(txn, h)
	}
}

// Stored is how much the servers store of a user's jobs, in bytes.
func (v View) Stored(owner string) int64 {
	if h := holdings.get(v.txn, []byte(owner)); h != nil {
		return h.Stored
	}
	return 0
}

// StoredLimit is how much may be stored of a user's jobs, in bytes: what the most
// generous of the queues says that are open to her.
func (v View) StoredLimit(owner string) int64 {
	most := api.DefaultMaxStored
	for _, q := range v.Queues() {
		if q.Open(owner) {
			most = max(most, q.StoredLimit())
		}
	}
	return int64(most)
}

// ownersAbove says of whom more than half of her limit is stored, and how much more.
func (v View) ownersAbove(limit func(owner string) int64) map[string]int64 {
	above := map[string]int64{}
	for h := range holdings.all(v.txn, "id", nil) {
		if most := limit(h.Owner) / 2; h.Stored > most {
			above[h.Owner] = h.Stored - most
		}
	}
	return above
}

// StoredSize is how much a job takes, in bytes: its spec, and the chunks that an array
// has at the end.
func StoredSize(s *job.Spec) int64 {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // it came as JSON
	}
	return int64(len(text)) + chunkSize*chunksOf(&s.Array)
}

// chunksOf counts the chunks of an array, of which one with gaps may have many.
func chunksOf(a *job.Array) int64 {
	var n int64
	for index, ok := a.Next(-1); ok; index, ok = a.Next((index/chunkSize+1)*chunkSize - 1) {
		n++
	}
	return n
}

// cutRecords removes the oldest records beyond a number, of the owners who have the
// most: one who makes many does not push out those of others.
func (t *tx) cutRecords(most int) {
	counts := map[string]int64{}
	over := -int64(most)
	for h := range holdings.all(t.txn, "id", nil) {
		counts[h.Owner] = h.Records
		over += h.Records
	}
	if over <= 0 {
		return
	}
	cut := fromTheLargest(counts, over)
	var gone []*Record
	for r := range t.RecordsAfter(0) {
		if int64(len(gone)) == over {
			break
		}
		if cut[r.Owner] > 0 {
			cut[r.Owner]--
			gone = append(gone, r)
		}
	}
	for _, r := range gone {
		t.dropRecord(r)
		if j := t.Job(r.Job); !j.Cut {
			next := *j
			next.Cut = true
			t.putJob(&next)
		}
	}
}

// dropRecord forgets a record.
func (t *tx) dropRecord(r *Record) {
	records.remove(t.txn, r)
	t.holdRecord(r.Owner, -1)
}

// fromTheLargest says how much to take of each count, so many in all and no more than
// there are, so that the largest that is left is as small as can be.
func fromTheLargest(counts map[string]int64, take int64) map[string]int64 {
	above := func(level int64) (sum int64) {
		for _, n := range counts {
			sum += max(0, n-level)
		}
		return sum
	}
	low, high := int64(0), int64(math.MaxInt64) // above(low) >= take, above(high) < take
	for high-low > 1 {
		if middle := low + (high-low)/2; above(middle) >= take {
			low = middle
		} else {
			high = middle
		}
	}
	spare := above(low) - take // less than there are owners above the level
	out := map[string]int64{}
	for _, owner := range slices.Sorted(maps.Keys(counts)) {
		n := max(0, counts[owner]-low)
		if n > 0 && spare > 0 {
			n, spare = n-1, spare-1
		}
		out[owner] = n
	}
	return out
}
