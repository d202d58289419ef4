package state

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Cause says why an attempt did not complete: what was said of it, else how it ended.
func (o *Outcome) Cause() string {
	switch {
	case o.Message != "":
		return o.Message
	case o.State != job.Failed || o.Exit == nil:
		return string(o.State)
	case o.Exit.Signal != "":
		return "signal " + o.Exit.Signal
	}
	return fmt.Sprintf("exit code %d", o.Exit.Code)
}

// Node is the node of the task that decided how the attempt ended, empty where it had
// none.
func (r *Record) Node() string {
	if rank := int(r.Outcome.Rank); rank >= 0 && rank < len(r.Nodes) {
		return r.Nodes[rank]
	}
	return ""
}

// LastRecord is that of the last attempt of an element that has ended, nil where none
// is kept.
func (v View) LastRecord(id job.ID, index int32) *Record {
	var last *Record
	for r := range v.RecordsOfElement(id, index) {
		last = r
	}
	return last
}

// Failure is the attempt that shows why a job has not completed: the last one of the
// first element that ended as the job did. It is nil of a job that has completed, or
// not ended, and where no record is kept.
func (v View) Failure(j *Job) *Record {
	s := j.State()
	if !j.Done() || s == job.Completed {
		return nil
	}
	if j.Spec.Array.IsZero() {
		return v.LastRecord(j.ID, 0)
	}
	for c := range chunks.all(v.txn, "id", jobKey(j.ID)) {
		if at := bytes.IndexByte(c.Codes, byte(codeOf[s])); at >= 0 {
			return v.LastRecord(j.ID, c.Number*chunkSize+int32(at))
		}
	}
	return nil
}

// FailedOn lists the nodes that could not start the element, of the attempts that count
// as losses of its row, as far as records of them are kept.
func (v View) FailedOn(e *Element) []string {
	if e.Losses == 0 {
		return nil
	}
	var found []string
	left := e.Losses
	for _, r := range slices.Backward(slices.Collect(v.RecordsOfElement(e.Job, e.Index))) {
		switch r.Outcome.State {
		case job.NodeFail:
			left--
		case job.BootFail:
			if n := r.Node(); n != "" && !slices.Contains(found, n) {
				found = append(found, n)
			}
			left--
		}
		if left == 0 {
			break
		}
	}
	return found
}
