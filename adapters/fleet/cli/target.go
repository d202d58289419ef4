package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
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
		return target{}, command.Mistakef("%q is no job, write its number, or 17_3 or 17_[1-5,9] for some of its elements", s)
	}
	t := target{job: job.ID(id)}
	if !hasElements {
		return t, nil
	}
	if inner, ok := strings.CutPrefix(elements, "["); ok {
		if elements, ok = strings.CutSuffix(inner, "]"); !ok {
			return target{}, command.Mistakef(`%q has a "[" without its "]"`, s)
		}
	}
	x, err := job.ParseIndexes(elements)
	if err != nil {
		return target{}, command.Mistake(err)
	}
	t.elements = x.String()
	return t, nil
}

// parseElement reads a job, or one of its elements: then t.element is set.
func parseElement(s string) (t one, err error) {
	several, err := parseTarget(s)
	if t.job = several.job; err != nil || several.elements == "" {
		return t, err
	}
	index, err := strconv.ParseInt(several.elements, 10, 32)
	if err != nil {
		return t, command.Mistakef("%q is more than one element", s)
	}
	element := int32(index)
	t.element = &element
	return t, nil
}

// one is a job, or one of its elements.
type one struct {
	job     job.ID
	element *int32
}

func (t one) String() string {
	if t.element == nil {
		return t.job.String()
	}
	return fmt.Sprintf("%s_%d", t.job, *t.element)
}

// index is the element for requests, in which 0 stands for none, too.
func (t one) index() int32 {
	if t.element == nil {
		return 0
	}
	return *t.element
}

// look asks for the job, and with an element for that alone of its elements.
func (t one) look(c *cobra.Command, servers *client.Client) (api.JobDetail, error) {
	if t.element == nil {
		return servers.Job(c.Context(), t.job)
	}
	return servers.JobElement(c.Context(), t.job, *t.element)
}

// noteFirst says on the error output that of an array only the first element is shown,
// where none was named. It returns what that is called.
func (a *app) noteFirst(c *cobra.Command, servers *client.Client, t one) string {
	if t.element != nil || a.format != "" {
		return t.String()
	}
	j, err := servers.Job(c.Context(), t.job)
	if first, ok := j.Spec.Array.First(); err == nil && ok { // else the command itself says what is wrong
		fmt.Fprintf(c.ErrOrStderr(), "berth: job %s is an array; this is its element %d: name another one as %s_N\n", t.job, first, t.job)
		t.element = &first
	}
	return t.String()
}
