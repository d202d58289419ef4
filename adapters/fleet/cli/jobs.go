package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func jobsCommand(a *app) *cobra.Command {
	f := client.JobFilter{}
	all, start := false, false
	c := &cobra.Command{
		Use:   "jobs",
		Short: "List jobs, the newest first",
		Long: `List jobs, the newest first. NODES/REASON has the nodes on which a job runs, of one that
has ended those of its last attempt, of an array those of the element that ended last,
and why a job waits or has failed. "berth job" shows the nodes of each attempt.

With --start, START is when a job starts at the latest. Where the servers make forecasts, P50 and P90
are by when it starts in 50 and in 90 of 100 cases, by how long similar jobs ran; that is
no promise.`,
		Example: "  berth jobs --state pending,running --owner eve",
		Args:    command.Args(0, 0),
	}
	c.Flags().StringVar(&f.Owner, "owner", "", "only those of this `user`")
	c.Flags().StringVar(&f.Queue, "queue", "", "only those of this `queue`")
	c.Flags().StringVar(&f.Name, "name", "", "only those of this `name`")
	c.Flags().StringVar(&f.State, "state", "", "only those in one of these `states`, separated by commas")
	c.Flags().IntVar(&f.Limit, "limit", 50, "at most this `number`")
	c.Flags().BoolVar(&all, "all", false, "without a limit")
	c.Flags().BoolVar(&start, "start", false, "jobs that wait, with when and where they are expected to start; not known: not planned yet, or behind tasks without a time limit")
	filled(c, "owner", "queue", "name", "state")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		f := f
		f.State = strings.ToUpper(f.State)
		table := a.jobTable
		if start {
			table = a.startTable
			if f.State == "" {
				f.State = string(job.Pending)
			}
		}
		list, err := listJobs(c, servers, f, all)
		if err != nil {
			return err
		}
		if err := a.printJobs(c, list, table); err != nil || len(list.Jobs) > 0 {
			return err
		}
		return noneThere(c, servers, f)
	})
	return c
}

// noneThere says of an empty list whether that is because of a queue that there is not, or
// an owner of whom no job is known.
func noneThere(c *cobra.Command, servers *client.Client, f client.JobFilter) error {
	if f.Queue != "" {
		list, err := servers.Queues(c.Context())
		if err == nil && !slices.ContainsFunc(list.Queues, func(q api.QueueStatus) bool { return q.Name == f.Queue }) {
			err = &exitError{ExitNotFound, fmt.Errorf("there is no queue %q; see the queues with: berth queue", f.Queue)}
		}
		if err != nil {
			return err
		}
	}
	if f.Owner != "" {
		page, err := servers.Jobs(c.Context(), client.JobFilter{Owner: f.Owner, Limit: 1})
		if err == nil && len(page.Jobs) == 0 {
			fmt.Fprintf(c.ErrOrStderr(), "berth: there is no job of %s that you may see\n", visible(f.Owner))
		}
		return err
	}
	return nil
}

// listJobs gathers pages up to the filter's limit, or all.
func listJobs(c *cobra.Command, servers *client.Client, f client.JobFilter, all bool) (api.JobList, error) {
	if !all && f.Limit < 1 {
		return api.JobList{}, command.Mistakef("--limit %d is below 1", f.Limit)
	}
	list := api.JobList{Jobs: []api.Job{}}
	for left := f.Limit; ; {
		f.Limit = api.MaxPage
		if !all {
			f.Limit = min(left, api.MaxPage)
		}
		page, err := servers.Jobs(c.Context(), f)
		if err != nil {
			return list, err
		}
		list.Jobs = append(list.Jobs, page.Jobs...)
		list.Page = page.Page
		left -= len(page.Jobs)
		if page.After == "" || len(page.Jobs) == 0 || !all && left <= 0 {
			return list, nil
		}
		f.After = page.After
	}
}

// printJobs prints a list of jobs.
func (a *app) printJobs(c *cobra.Command, list api.JobList, people func(*cobra.Command, []api.Job) *table) error {
	v := view{value: list, people: func(w io.Writer) { people(c, list.Jobs).write(w) }}
	for i := range list.Jobs {
		v.names = append(v.names, list.Jobs[i].ID.String())
	}
	if err := a.print(c, v); err != nil {
		return err
	}
	if list.After != "" && a.format == "" {
		fmt.Fprintf(c.ErrOrStderr(), "berth: there are more: --limit or --all shows them\n")
	}
	return nil
}

// jobTable is a table of jobs.
func (a *app) jobTable(c *cobra.Command, jobs []api.Job) *table {
	t := a.newTable(c, "JOB", "NAME", "OWNER", "QUEUE", "PRIO", "STATE", "DONE", "ENDED", "TIME", "NODES/REASON")
	for i := range jobs {
		j := &jobs[i]
		done := "-"
		if j.Array {
			done = fmt.Sprintf("%d/%d", endedElements(j), j.Elements)
		}
		t.row(j.ID.String(), shortText(j.Name), j.Owner, j.Queue, strconv.Itoa(int(j.Priority)), string(j.State), done,
			a.stamp(j.Ended), a.runTime(j), where(j))
	}
	return t
}

// runTime is for how long a job has run; one that waits does not, though it may have
// before.
func (a *app) runTime(j *api.Job) string {
	if j.State == job.Pending {
		return "-"
	}
	return a.elapsed(j.Started, j.Ended)
}

// startTable is a table of jobs and when and where they are expected to start.
func (a *app) startTable(c *cobra.Command, jobs []api.Job) *table {
	head := []string{"JOB", "NAME", "OWNER", "QUEUE", "PRIO", "STATE", "START", "NODES"}
	likely := a.forecasts(jobs)
	if likely != nil {
		head = append(head, "P50", "P90")
	}
	t := a.newTable(c, append(head, "REASON")...)
	for i := range jobs {
		j := &jobs[i]
		row := []string{j.ID.String(), j.Name, j.Owner, j.Queue, strconv.Itoa(int(j.Priority)), string(j.State),
			a.start(j), or(shortList(j.ExpectedNodes), "-")}
		if likely != nil {
			row = append(row, likely[i]...)
		}
		t.row(append(row, or(waits(j.Reason, j.Message), "-"))...)
	}
	return t
}

// unplanned says of jobs that wait for a reason when they start, where no time is known.
var unplanned = map[job.Reason]string{
	job.ReasonBadConstraints: "never, as the fleet is", job.ReasonNever: "never",
	job.ReasonHeldUser: "when released", job.ReasonHeldAdmin: "when released",
	job.ReasonQueueStopped: "when the queue goes on", job.ReasonBeginTime: "not before its time",
	job.ReasonReservation: "never, as its reservation is", job.ReasonDependency: "after other jobs", job.ReasonBackoff: "after a pause",
	job.ReasonArrayLimit: "after others of it", job.ReasonQueueLimit: "after others of its user",
	job.ReasonResources: "not known", job.ReasonPriority: "not known",
}

// start is when a job that waits is expected to start, or why that is not known.
func (a *app) start(j *api.Job) string {
	if !j.ExpectedStart.IsZero() {
		return a.stamp(j.ExpectedStart)
	}
	if (j.Reason == job.ReasonBeginTime || j.Reason == job.ReasonReservation) && !j.Eligible.IsZero() {
		return "not before " + a.stamp(j.Eligible)
	}
	if when, ok := unplanned[j.Reason]; ok {
		return when
	}
	return "-"
}

// where says where a job is, why it is nowhere, or why it has failed.
func where(j *api.Job) string {
	switch {
	case j.State == job.Pending && j.Reason != "":
		return "(" + waits(j.Reason, j.Message) + ")"
	case (j.State == job.Failed || j.State == job.BootFail) && j.Message != "":
		return "(" + cut(j.Message, maxLast) + ")"
	}
	return or(shortList(j.Nodes), "-")
}

// shortList is a list of names, the first of them where it is long.
func shortList(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:4], ","), len(names)-4)
	}
	return strings.Join(names, ",")
}
