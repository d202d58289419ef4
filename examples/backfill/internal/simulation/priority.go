package simulation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Priority names a published function that orders waiting jobs.
type Priority string

// The priority functions.
const (
	FCFS   Priority = "fcfs"   // first come, first served
	SJF    Priority = "sjf"    // the shortest estimate first
	F1     Priority = "f1"     // a fitted function of estimate, processors and submission
	WFP3   Priority = "wfp3"   // wide jobs whose wait is long for their estimate first
	UNICEP Priority = "unicep" // narrow and short jobs first
)

// Priorities lists the functions.
func Priorities() []Priority { return []Priority{FCFS, SJF, F1, WFP3, UNICEP} }

// ParsePriority returns the function that the text names.
func ParsePriority(text string) (Priority, error) {
	if p := Priority(text); slices.Contains(Priorities(), p) {
		return p, nil
	}
	names := make([]string, len(Priorities()))
	for i, p := range Priorities() {
		names[i] = string(p)
	}
	return "", fmt.Errorf("%q is none of %s", text, strings.Join(names, ", "))
}

// score is the job's place in the order: the smallest goes first. The published
// measurements of WFP3 and UNICEP took -1 for the present time, which makes their scores
// constant; these do the same, to be comparable.
func (p Priority) score(j *Job) float64 {
	const now = -1
	submit, estimate, procs := float64(j.Submit), float64(j.Estimate), float64(j.Procs)
	switch p {
	case SJF:
		return estimate
	case F1:
		return math.Log10(estimate)*procs + 870*math.Log10(submit)
	case WFP3:
		return -math.Pow((now-submit)/estimate, 3) * procs
	case UNICEP:
		const tiny = 1e-15 // against a division by zero
		return -(now - submit + tiny) / (math.Log2(procs+tiny) * estimate)
	default:
		return submit
	}
}

// ranked is a waiting job with its score.
type ranked struct {
	job   int
	score float64
}

// before is the order of jobs that wait: by score, then by submission, then as in the
// workload.
func before(jobs []Job, a, b ranked) bool {
	return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(jobs[a.job].Submit, jobs[b.job].Submit), cmp.Compare(a.job, b.job)) < 0
}
