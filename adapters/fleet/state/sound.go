package state

import (
	"fmt"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// sound says which rows of a picture cannot be, nil where all can: they would end a
// server that works with them. The error is ErrPicture.
func (v View) sound() error {
	for _, check := range []func() error{v.soundMeta, v.soundJobs, v.soundChunks, v.soundElements, v.soundTasks, v.soundRecords, v.soundReservations, v.soundTree} {
		if err := check(); err != nil {
			return fmt.Errorf("%w: %w", ErrPicture, err)
		}
	}
	return nil
}

func (v View) soundMeta() error {
	if m := v.meta(); m.Version < 0 || m.Version > Version {
		return fmt.Errorf("its version is %d", m.Version)
	}
	if m := v.meta(); m.Attempts < 0 || m.Attempts > maxLeftOut || m.NextJob > maxNumber || m.NextSeq > maxNumber || m.Since > m.NextJob {
		return fmt.Errorf("the next job is to be %d, record %d, and attempts begin after %d", m.NextJob, m.NextSeq, m.Attempts)
	}
	return nil
}

// maxNumber is the largest number of a job or a record in a picture. It leaves room to
// go on, in numbers that all readers of JSON know.
const maxNumber = 1 << 50

func (v View) soundJobs() error {
	next := v.meta().NextJob
	for j := range v.Jobs() {
		if err := sound(j.Spec); err != nil {
			return fmt.Errorf("job %d: %w", j.ID, err)
		}
		var sum int64
		for _, n := range j.Counts {
			if n < 0 {
				return fmt.Errorf("job %d: it counts %d elements", j.ID, n)
			}
			sum += int64(n)
		}
		if sum != int64(j.Elements()) {
			return fmt.Errorf("job %d: it counts %d elements of %d", j.ID, sum, j.Elements())
		}
		if j.Stored < 0 || j.Stored > maxNumber {
			return fmt.Errorf("job %d: it takes %d bytes", j.ID, j.Stored)
		}
		if j.ID >= next {
			return fmt.Errorf("job %d: the next is to be %d", j.ID, next)
		}
	}
	return nil
}

func (v View) soundChunks() error {
	for c := range chunks.all(v.txn, "id", nil) {
		j := v.Job(c.Job)
		if j == nil || c.Number < 0 || len(c.Codes) != chunkSize {
			return fmt.Errorf("there is a chunk of job %d that cannot be", c.Job)
		}
		for i, b := range c.Codes {
			if b == waiting {
				continue
			}
			index := c.Number*chunkSize + int32(i)
			wrong := b >= byte(codes) && b != held && b != heldByAdmin && b != detailed
			if wrong || !j.HasElement(index) || b == detailed && v.Element(c.Job, index) == nil {
				return fmt.Errorf("job %d: its element %d is %d", c.Job, index, b)
			}
		}
	}
	return nil
}

func (v View) soundElements() error {
	for e := range elements.all(v.txn, "id", nil) {
		j := v.Job(e.Job)
		_, ok := codeOf[e.State]
		if j == nil || !j.HasElement(e.Index) || !ok || e.State.Ended() {
			return fmt.Errorf("element %d of job %d is %q", e.Index, e.Job, e.State)
		}
		if !j.Spec.Array.IsZero() && v.byteOf(e.Job, e.Index) != detailed {
			return fmt.Errorf("element %d of job %d is there twice", e.Index, e.Job)
		}
		if e.Attempt < 0 || !leavesOut(e.LeftOut, e.Attempt) {
			return fmt.Errorf("element %d of job %d is in attempt %d", e.Index, e.Job, e.Attempt)
		}
		if e.State == job.Pending {
			continue
		}
		if len(e.Nodes) != int(j.Spec.Tasks) || e.Ended < 0 || e.Placed < e.Ended || e.Placed > j.Spec.Tasks {
			return fmt.Errorf("element %d of job %d has %d of %d tasks placed, %d ended", e.Index, e.Job, e.Placed, j.Spec.Tasks, e.Ended)
		}
		if o := e.Outcome; o != nil && (o.Rank < 0 || o.Rank >= j.Spec.Tasks || !known(o.State)) {
			return fmt.Errorf("element %d of job %d ends as %q by rank %d", e.Index, e.Job, o.State, o.Rank)
		}
		if o := e.Stopping; o != nil && (o.Rank < 0 || o.Rank >= j.Spec.Tasks || !known(o.State)) {
			return fmt.Errorf("element %d of job %d is ended as %q by rank %d", e.Index, e.Job, o.State, o.Rank)
		}
	}
	return nil
}

// leavesOut reports whether so many numbers can have been left out up to that of an
// attempt, where 0 is none.
func leavesOut(n, attempt int32) bool { return n == 0 || 0 < n && n < attempt }

func (v View) soundTasks() error {
	sums := map[string]*Used{}
	for k := range v.Tasks() {
		e := v.Element(k.ID.Job, k.ID.Element)
		if e == nil || e.Attempt != k.ID.Attempt || int(k.ID.Rank) >= len(e.Nodes) || e.Nodes[k.ID.Rank] != k.Node {
			return fmt.Errorf("task %s is of no attempt that is under way", k.ID)
		}
		for _, g := range k.GPUs {
			if g.GPU < 0 || g.GPU >= job.MaxGPUs || g.Share < 0 || g.Share > wholeGPU {
				return fmt.Errorf("task %s has %d of GPU %d", k.ID, g.Share, g.GPU)
			}
		}
		if sums[k.Node] == nil {
			sums[k.Node] = &Used{Node: k.Node}
		}
		sums[k.Node] = sums[k.Node].take(&v.Job(k.ID.Job).Spec.Resources, k.GPUs)
	}
	for node, sum := range sums {
		if v.Node(node) == nil || !sum.same(v.Used(node)) {
			return fmt.Errorf("what is used of node %q is not what its tasks have", node)
		}
	}
	for u := range used.all(v.txn, "id", nil) {
		if sums[u.Node] == nil && !u.same(&Used{}) {
			return fmt.Errorf("what is used of node %q is not nothing, and it has no tasks", u.Node)
		}
	}
	return nil
}

// same reports whether as much is used.
func (u *Used) same(o *Used) bool {
	if u.CPU != o.CPU || u.Memory != o.Memory || u.Disk != o.Disk || u.Tasks != o.Tasks {
		return false
	}
	for i := range max(len(u.GPUs), len(o.GPUs)) {
		if at(u.GPUs, i) != at(o.GPUs, i) {
			return false
		}
	}
	for _, a := range []map[string]int64{u.Other, o.Other} {
		for name := range a {
			if u.Other[name] != o.Other[name] {
				return false
			}
		}
	}
	return true
}

// at is the number at a place, 0 beyond the end.
func at(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

func (v View) soundReservations() error {
	for r := range v.Reservations() {
		if problems := CheckReservation(r); len(problems) > 0 {
			return fmt.Errorf("reservation %q: %s %s", r.Name, problems[0].Field, problems[0].Message)
		}
	}
	return nil
}

func (v View) soundRecords() error {
	next := v.meta().NextSeq
	for r := range v.RecordsAfter(0) {
		if v.Job(r.Job) == nil || r.Seq > next || r.Attempt < 0 || !leavesOut(r.LeftOut, r.Attempt) {
			return fmt.Errorf("there is a record %d of job %d that cannot be", r.Seq, r.Job)
		}
	}
	return nil
}
