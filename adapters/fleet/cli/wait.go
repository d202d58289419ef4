package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func waitCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "wait JOB...",
		Short: "Wait for the end of jobs, and exit with their code",
		Args:  args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			var ids []job.ID
			for _, arg := range args {
				id, err := parseJob(arg)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return a.wait(c, servers, ids)
		}),
	}
}

// The pauses between two looks at a job that is waited for.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// wait waits for the jobs. Its error has the largest of their exit codes.
func (a *app) wait(c *cobra.Command, servers *client.Client, ids []job.ID) error {
	var worst *exitError
	for _, id := range ids {
		j, err := a.waitFor(c, servers, id)
		if err != nil {
			return err
		}
		code := jobCode(&j)
		if code != 0 && (worst == nil || code > worst.code) {
			worst = &exitError{code, fmt.Errorf("job %s has ended as %s, its exit code is %d%s", id, j.State, code, because(j.Message))}
		}
	}
	if worst != nil {
		return worst
	}
	return nil
}

// because is a message as the end of a sentence, where there is one.
func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// waitFor waits for one job, and says on a terminal how it stands.
func (a *app) waitFor(c *cobra.Command, servers *client.Client, id job.ID) (api.JobDetail, error) {
	pause, told := firstLook, ""
	for {
		j, err := servers.Job(c.Context(), id)
		if err != nil {
			return j, err
		}
		if now := progress(&j.Job); now != told && isTerminal(c.ErrOrStderr()) {
			fmt.Fprintf(c.ErrOrStderr(), "job %s: %s\n", id, visible(now))
			told = now
		}
		if !j.Ended.IsZero() || j.State.Ended() {
			return j, nil
		}
		if err := a.pause(c.Context(), pause); err != nil {
			return j, err
		}
		pause = min(2*pause, lastLook)
	}
}

// progress says in a few words how a job stands.
func progress(j *api.Job) string {
	s := string(j.State)
	if j.Reason != "" {
		s += " (" + waits(j.Reason, j.Message) + ")"
	}
	if j.Array {
		s += fmt.Sprintf(", %d of %d elements have ended", endedElements(j), j.Elements)
	}
	return s
}

// endedElements counts the elements of a job that have ended.
func endedElements(j *api.Job) int32 {
	var n int32
	for state, count := range j.Counts {
		if state.Ended() {
			n += count
		}
	}
	return n
}

// jobCode is the exit code for a job that has ended. The package comment says
// what it is.
func jobCode(j *api.JobDetail) int {
	worst := stateCode(j.State)
	last := map[int32]*api.Attempt{}
	for i := range j.Attempts {
		at := &j.Attempts[i]
		if known := last[at.Element]; known == nil || cmp.Compare(at.Attempt, known.Attempt) > 0 {
			last[at.Element] = at
		}
	}
	for _, at := range last {
		if at.State == job.Failed && at.Exit != nil {
			worst = max(worst, exitCode(at.Exit))
		} else {
			worst = max(worst, stateCode(at.State))
		}
	}
	return worst
}

// stateCode is the exit code for an end without one of its own.
func stateCode(s job.State) int {
	switch s {
	case job.Completed:
		return 0
	case job.Timeout, job.Deadline:
		return 124
	}
	return 1
}

// exitCode is how shells number the end of a process.
func exitCode(e *api.Exit) int {
	if e.Signal != "" {
		return 128 + job.SignalNumber(e.Signal)
	}
	return min(max(e.Code, 0), 255)
}
