package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// action is something that is done to jobs or some of their elements.
type action struct {
	use, short, done string
	do               func(*client.Client, context.Context, job.ID, api.Selection) (api.Affected, error)
}

func cancelCommand(a *app) *cobra.Command {
	signal := ""
	c := actCommand(a, action{"cancel", "Cancel jobs, or elements of them", "cancelled", (*client.Client).Cancel}, func(s *api.Selection) (err error) {
		if signal != "" {
			s.Signal, err = job.SignalName(signal)
		}
		return err
	})
	c.Flags().StringVar(&signal, "signal", "", "first `signal` that tasks get (default TERM)")
	filled(c, "signal")
	return c
}

func holdCommand(a *app) *cobra.Command {
	return actCommand(a, action{"hold", "Hold jobs, or elements of them, so that they do not start", "held", (*client.Client).Hold}, nil)
}

func releaseCommand(a *app) *cobra.Command {
	return actCommand(a, action{"release", "Release jobs that are held", "released", (*client.Client).Release}, nil)
}

func requeueCommand(a *app) *cobra.Command {
	return actCommand(a, action{"requeue", "Stop jobs, or elements of them, and put them back in the queue", "requeued", (*client.Client).Requeue}, nil)
}

// actCommand is the command of an action. Prepare, where it is not nil, completes
// the selection.
func actCommand(a *app, act action, prepare func(*api.Selection) error) *cobra.Command {
	reason := ""
	c := &cobra.Command{
		Use:     act.use + " JOB[_ELEMENTS]...",
		Short:   act.short,
		Example: fmt.Sprintf("  berth %s 17\n  berth %s 17_3 '18_[1-5,9]'", act.use, act.use),
		Args:    command.Args(1, -1),
	}
	c.Flags().StringVar(&reason, "reason", "", "`text` that says why")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		var targets []target
		for _, arg := range args {
			t, err := parseTarget(arg)
			if err != nil {
				return err
			}
			targets = append(targets, t)
		}
		selection := api.Selection{Reason: reason}
		if prepare != nil {
			if err := prepare(&selection); err != nil {
				return command.Mistake(err)
			}
		}
		return a.act(c, servers, act, targets, selection)
	})
	return c
}

// act does the action to each target. What fails for one does not keep it from the
// others.
func (a *app) act(c *cobra.Command, servers *client.Client, act action, targets []target, s api.Selection) error {
	type result struct {
		Job job.ID `json:"job"`
		api.Affected
	}
	var (
		results  []result
		names    []string
		failures []error
	)
	for _, t := range targets {
		s.Elements = t.elements
		affected, err := act.do(servers, c.Context(), t.job, s)
		if err != nil {
			failures = append(failures, fmt.Errorf("job %s: %w", t, err))
			continue
		}
		if affected.Elements == 0 {
			if err := act.nothing(c.Context(), servers, t); err != nil {
				failures = append(failures, err)
				continue
			}
		}
		results = append(results, result{t.job, affected})
		names = append(names, t.String())
	}
	err := a.print(c, view{value: results, names: names, people: func(w io.Writer) {
		for i, r := range results {
			if r.Elements == 0 {
				fmt.Fprintf(w, "Job %s: there was nothing to be %s.\n", names[i], act.done)
				continue
			}
			fmt.Fprintf(w, "Job %s: %d %s %s.\n", names[i], r.Elements, plural(r.Elements, "element"), act.done)
		}
	}})
	return errors.Join(append(failures, err)...)
}

// nothing says whether it is a failure that an action did nothing: there are no such elements,
// or to a job that has ended it comes too late, unless that is what was wanted.
func (act *action) nothing(ctx context.Context, servers *client.Client, t target) error {
	j, err := servers.Job(ctx, t.job)
	if err == nil && !t.in(&j) {
		return &exitError{ExitNotFound, fmt.Errorf("job %s: it has no such element", t)}
	}
	if err == nil && !j.Ended.IsZero() && act.use != "cancel" {
		err = fmt.Errorf("job %s: nothing is %s, it has ended as %s", t, act.done, j.State)
	}
	return err
}

// in reports whether the job has any of the elements.
func (t target) in(j *api.JobDetail) bool {
	named, err := job.ParseIndexes(t.elements)
	if t.elements == "" || err != nil {
		return true
	}
	if !j.Array {
		return named.Contains(0)
	}
	for i := range j.Spec.Array.All() {
		if named.Contains(i) {
			return true
		}
	}
	return false
}

// count is a number of things with their noun.
func count(n int, noun string) string { return fmt.Sprintf("%d %s", n, plural(int32(n), noun)) }

// plural is the noun for a number of things.
func plural(n int32, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
