package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// target is a job, or some of its elements, as arguments name it: "17", "17_3",
// "17_[1-5,9]".
type target struct {
	job job.ID
	// elements are indices as job.ParseIndexes reads them; empty for all.
	elements string
}

func (t target) String() string {
	if t.elements == "" {
		return t.job.String()
	}
	return fmt.Sprintf("%s_[%s]", t.job, t.elements)
}

// parseTarget reads a job or some of its elements.
func parseTarget(s string) (target, error) {
	number, elements, hasElements := strings.Cut(s, "_")
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil || id == 0 {
		return target{}, usage(fmt.Errorf("%q is no job, write its number, or 17_3 or 17_[1-5,9] for some of its elements", s))
	}
	t := target{job: job.ID(id)}
	if !hasElements {
		return t, nil
	}
	if inner, ok := strings.CutPrefix(elements, "["); ok {
		if elements, ok = strings.CutSuffix(inner, "]"); !ok {
			return target{}, usage(fmt.Errorf(`%q has a "[" without its "]"`, s))
		}
	}
	x, err := job.ParseIndexes(elements)
	if err != nil {
		return target{}, usage(err)
	}
	t.elements = x.String()
	return t, nil
}

// parseElement reads a job or one of its elements; 0 where none is named.
func parseElement(s string) (job.ID, int32, error) {
	t, err := parseTarget(s)
	if err != nil || t.elements == "" {
		return t.job, 0, err
	}
	index, err := strconv.ParseInt(t.elements, 10, 32)
	if err != nil {
		return 0, 0, usage(fmt.Errorf("%q is more than one element", s))
	}
	return t.job, int32(index), nil
}

// parseJob reads a whole job.
func parseJob(s string) (job.ID, error) {
	t, err := parseTarget(s)
	if err == nil && t.elements != "" {
		err = usage(fmt.Errorf("%q names elements, and this is for whole jobs", s))
	}
	return t.job, err
}
