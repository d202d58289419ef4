package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func waitCommand(a *app) *cobra.Command {
	wait := a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		var list []one
		for _, arg := range args {
			t, err := parseElement(arg)
			if err != nil {
				return err
			}
			list = append(list, t)
		}
		return a.wait(c, servers, list)
	})
	return &cobra.Command{
		Use:   "wait JOB[_ELEMENT]...",
		Short: "Wait until jobs have ended, and exit with their exit code",
		Long: `Wait until jobs have ended, and exit with their exit code: that of its task, 128 and the
number of the signal where one ended it, 124 where it reached its time limit or its
deadline, 127, 126 or 1 where it could not be started as it is, and 1 where it did
not succeed for another reason. Of several jobs and elements it is the largest.

Where it is not a job that has ended, the exit code is 125: no server could be reached
(other commands exit with 5 then), there is no such job, or it can never start as
things are, because no node has what it asks for or a dependency can never be met.
Such a job is still there afterwards.`,
		Args: command.Args(1, -1),
		RunE: func(c *cobra.Command, args []string) error { return notTheJobs(wait(c, args)) },
	}
}

// The pauses between two looks at a job that is waited for.
const (
	firstLook = 100 * time.Millisecond
	lastLook  = 2 * time.Second
)

// endError says that a job that was waited for has not succeeded. It has the job's exit
// code.
type endError struct {
	code int
	err  error
}

func (e *endError) Error() string { return e.err.Error() }

// ExitCode is the job's.
func (e *endError) ExitCode() int { return e.code }

// notTheJobs is an error of a command that waits for jobs, with an exit code that is not
// taken for theirs.
func notTheJobs(err error) error {
	var end *endError
	if err == nil || errors.As(err, &end) {
		return err
	}
	return &exitError{ExitNotTheJobs, err}
}

// wait waits for the jobs. Its error has the largest of their exit codes, where they
// have ended: then it is an endError.
func (a *app) wait(c *cobra.Command, servers *client.Client, list []one) error {
	var worst *endError
	for _, t := range list {
		j, err := a.waitFor(c, servers, t)
		if err != nil && c.Context().Err() != nil {
			return fmt.Errorf("%w; what is waited for goes on: \"berth wait %s\" waits again, and \"berth cancel %[2]s\" ends it", err, join(list))
		}
		if err != nil {
			return err
		}
		code := jobCode(&j)
		if code != 0 && (worst == nil || code > worst.code) {
			worst = &endError{code, fmt.Errorf("job %s has ended as %s, its exit code is %d%s", t, j.State, code, because(j.Message))}
		}
	}
	if worst != nil {
		return worst
	}
	return nil
}

// join is a list of jobs as commands take it.
func join(list []one) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.String()
	}
	return strings.Join(names, " ")
}

// because is a message as the end of a sentence, where there is one.
func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// waitFor waits for one job, and says on a terminal how it stands.
func (a *app) waitFor(c *cobra.Command, servers *client.Client, t one) (api.JobDetail, error) {
	pause, told := firstLook, ""
	for {
		j, err := t.look(c, servers)
		if err != nil {
			return j, err
		}
		if t.element != nil && len(j.Elements) > 0 {
			onlyElement(&j)
		}
		if now := progress(&j.Job); now != told && isTerminal(c.ErrOrStderr()) {
			fmt.Fprintf(c.ErrOrStderr(), "job %s: %s\n", t, visible(now))
			told = now
		}
		if !j.Ended.IsZero() || j.State.Ended() {
			return j, nil
		}
		if neverStarts(&j) {
			return j, fmt.Errorf("job %s can never start as things are (%s%s), so this does not wait for it; it is still there: \"berth cancel %s\" ends it",
				t, j.Reason, because(j.Message), t)
		}
		if err := a.pause(c.Context(), pause); err != nil {
			return j, err
		}
		pause = min(2*pause, lastLook)
	}
}

// onlyElement makes of a job what it is like for its first element that is listed.
func onlyElement(j *api.JobDetail) {
	e := &j.Elements[0]
	j.State, j.Reason, j.Message, j.Eligible = e.State, e.Reason, e.Message, e.Eligible
	j.Counts, j.Array, j.Ended = map[job.State]int32{e.State: 1}, false, time.Time{}
	if n := len(j.Attempts); n > 0 && e.State.Ended() {
		j.Message = j.Attempts[n-1].Message
	}
}

// neverStarts reports whether nothing of a job runs, and what is left of it can never
// start as things are. Of an array that waits for the elements of another it is not
// known: the reason is that of the first of its elements.
func neverStarts(j *api.JobDetail) bool {
	for state, n := range j.Counts {
		if n > 0 && state != job.Pending && !state.Ended() {
			return false
		}
	}
	ofElements := func(d job.Dependency) bool { return d.Kind == job.AfterCorr }
	switch j.Reason {
	case job.ReasonBadConstraints:
		return true
	case job.ReasonNever:
		return !j.Spec.KillOnInvalidDep && !(j.Array && slices.ContainsFunc(j.Spec.After, ofElements))
	}
	return false
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
