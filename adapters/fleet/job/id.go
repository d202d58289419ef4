package job

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// ID is a job's number, from 1, in the order of submission.
type ID uint64

// String is the number.
func (id ID) String() string { return strconv.FormatUint(uint64(id), 10) }

// TaskID names one task of one attempt. A task with the same ID is never started
// twice.
type TaskID struct {
	Job     ID    // the number of the job
	Element int32 // the index in the array, 0 where there is none
	Attempt int32 // from 1
	Rank    int32 // from 0
}

// String is "job_element.attempt.rank", for example "17_0.1.0". It can be part of
// a file name.
func (t TaskID) String() string {
	return fmt.Sprintf("%d_%d.%d.%d", t.Job, t.Element, t.Attempt, t.Rank)
}

// Compare orders tasks by job, element, attempt and rank.
func (t TaskID) Compare(o TaskID) int {
	return cmp.Or(cmp.Compare(t.Job, o.Job), cmp.Compare(t.Element, o.Element),
		cmp.Compare(t.Attempt, o.Attempt), cmp.Compare(t.Rank, o.Rank))
}

// ParseTaskID reads what String writes, and nothing else.
func ParseTaskID(s string) (TaskID, error) {
	bad := fmt.Errorf("task ID %q is not job_element.attempt.rank", s)
	j, rest, ok := strings.Cut(s, "_")
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 {
		return TaskID{}, bad
	}
	id, err := strconv.ParseUint(j, 10, 64)
	if err != nil {
		return TaskID{}, bad
	}
	var n [3]int32
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 32)
		if err != nil || v < 0 {
			return TaskID{}, bad
		}
		n[i] = int32(v)
	}
	t := TaskID{Job: ID(id), Element: n[0], Attempt: n[1], Rank: n[2]}
	if t.String() != s {
		return TaskID{}, bad
	}
	return t, nil
}

// MarshalText implements encoding.TextMarshaler.
func (t TaskID) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *TaskID) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTaskID(string(text))
	return err
}
