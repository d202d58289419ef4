package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func jobsCommand(a *app) *cobra.Command {
	f := client.JobFilter{}
	all, start := false, false
	c := &cobra.Command{
		Use:     "jobs",
		Short:   "List jobs, the newest first",
		Example: "  berth jobs --state pending,running --owner eve",
		Args:    args(0, 0),
	}
	c.Flags().StringVar(&f.Owner, "owner", "", "only those of this `user`")
	c.Flags().StringVar(&f.Queue, "queue", "", "only those of this `queue`")
	c.Flags().StringVar(&f.Name, "name", "", "only those of this `name`")
	c.Flags().StringVar(&f.State, "state", "", "only those in one of these `states`, with commas")
	c.Flags().IntVar(&f.Limit, "limit", 50, "at most this `number`")
	c.Flags().BoolVar(&all, "all", false, "without a limit")
	c.Flags().BoolVar(&start, "start", false, "those that wait, and when and where they are expected to start")
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
		return a.printJobs(c, list, table)
	})
	return c
}

// listJobs gathers pages up to the filter's limit, or all.
func listJobs(c *cobra.Command, servers *client.Client, f client.JobFilter, all bool) (api.JobList, error) {
	if !all && f.Limit < 1 {
		return api.JobList{}, usage(fmt.Errorf("--limit %d is below 1", f.Limit))
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
		t.row(j.ID.String(), j.Name, j.Owner, j.Queue, strconv.Itoa(int(j.Priority)), string(j.State), done,
			a.stamp(j.Ended), a.elapsed(j.Started, j.Ended), where(j))
	}
	return t
}

// startTable is a table of jobs and when and where they are expected to start.
func (a *app) startTable(c *cobra.Command, jobs []api.Job) *table {
	t := a.newTable(c, "JOB", "NAME", "OWNER", "QUEUE", "PRIO", "STATE", "START", "NODES", "REASON")
	for i := range jobs {
		j := &jobs[i]
		t.row(j.ID.String(), j.Name, j.Owner, j.Queue, strconv.Itoa(int(j.Priority)), string(j.State),
			a.start(j), or(shortList(j.ExpectedNodes), "-"), or(waits(j.Reason, j.Message), "-"))
	}
	return t
}

// unplanned says of jobs that wait for a reason when they start, where no time is known.
var unplanned = map[job.Reason]string{
	job.ReasonBadConstraints: "never, as the fleet is", job.ReasonNever: "never",
	job.ReasonHeldUser: "when released", job.ReasonHeldAdmin: "when released",
	job.ReasonQueueStopped: "when the queue goes on", job.ReasonBeginTime: "not before its time",
	job.ReasonDependency: "after other jobs", job.ReasonBackoff: "after a pause",
	job.ReasonArrayLimit: "after others of it", job.ReasonQueueLimit: "after others of its user",
	job.ReasonResources: "not planned yet", job.ReasonPriority: "not planned yet",
}

// start is when a job that waits is expected to start, or why that is not known.
func (a *app) start(j *api.Job) string {
	if !j.ExpectedStart.IsZero() {
		return a.stamp(j.ExpectedStart)
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
		return "(" + shortText(j.Message) + ")"
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
