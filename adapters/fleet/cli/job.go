package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func jobCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "job JOB[_ELEMENT]",
		Short: "Show a job: its requests, its state, its nodes and its history",
		Long: `Show a job: its requests, its state, its nodes and its history.
With an element, the tables are about that one alone.`,
		Args: command.Args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			t, err := parseElement(args[0])
			if err != nil {
				return err
			}
			j, err := t.look(c, servers)
			if err != nil {
				return err
			}
			return a.print(c, view{value: j, names: []string{t.String()}, people: func(w io.Writer) { a.writeJob(c, w, &j) }})
		}),
	}
}

// fields prints names and values below each other. Empty values are left out.
func fields(w io.Writer, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" && pairs[i+1] != "-" {
			fmt.Fprintf(w, "%-11s %s\n", pairs[i]+":", visible(strings.TrimSpace(pairs[i+1])))
		}
	}
}

// writeJob prints a job for people.
func (a *app) writeJob(c *cobra.Command, w io.Writer, j *api.JobDetail) {
	reason := a.waitsUntil(j.Reason, j.Eligible)
	if j.Message != "" {
		reason = strings.TrimPrefix(reason+": "+j.Message, ": ")
	}
	fields(w,
		"Job", j.ID.String(), "Name", j.Name, "Owner", j.Owner, "Queue", j.Queue, "Priority", strconv.Itoa(int(j.Priority)),
		"State", string(j.State), "Reason", reason, "Expected", a.expected(j.ExpectedStart, j.ExpectedNodes), "Likely", a.likely(j.Forecast), "Elements", counts(&j.Job),
		"Submitted", a.stamp(j.Submitted), "Started", a.stamp(j.Started), "Ended", a.stamp(j.Ended), "Time", a.elapsed(j.Started, j.Ended),
		"Nodes", strings.Join(j.Nodes, ","), "Usage", used(j.Usage, j.GPUSeconds))
	a.writeElements(c, w, j)
	a.writeFailures(c, w, j.Failures)
	a.writeAttempts(c, w, j)
	data, err := yaml.Marshal(j.Spec)
	if err != nil {
		data = []byte(err.Error() + "\n")
	}
	fmt.Fprint(w, "\nSpec:\n")
	for line := range strings.Lines(string(data)) {
		fmt.Fprintln(w, "  "+visible(strings.TrimRight(line, "\n")))
	}
}

// expected says when and where something that waits will start, as far as is known.
func (a *app) expected(start time.Time, nodes []string) string {
	if start.IsZero() {
		return ""
	}
	return "to start by " + a.stamp(start) + " on " + shortList(nodes)
}

// counts says how many elements of an array are in each state.
func counts(j *api.Job) string {
	if !j.Array {
		return ""
	}
	parts := []string{strconv.Itoa(int(j.Elements))}
	for _, state := range slices.Sorted(maps.Keys(j.Counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", j.Counts[state], state))
	}
	return strings.Join(parts, ", ")
}

// used says what was used.
func used(u api.Usage, gpuSeconds float64) string {
	if u == (api.Usage{}) && gpuSeconds == 0 {
		return ""
	}
	s := fmt.Sprintf("cpu %s, peak memory %s, read %s, written %s", seconds(u.CPUSeconds),
		shortBytes(u.PeakMemory), shortBytes(u.ReadBytes), shortBytes(u.WriteBytes))
	if gpuSeconds > 0 {
		s += ", gpu " + seconds(gpuSeconds)
	}
	return s
}

// writeElements prints the elements and tasks that are under way.
func (a *app) writeElements(c *cobra.Command, w io.Writer, j *api.JobDetail) {
	if len(j.Elements) == 0 {
		return
	}
	t := a.newTable(c, "ELEMENT", "ATTEMPT", "STATE", "TASK", "NODE", "TIME", "NOTE")
	for _, g := range groupWaiting(j.Elements) {
		e := g.first
		index, attempt, note := job.IndexesOf(g.elements).String(), strconv.Itoa(int(e.Attempt)), g.note(a)
		if len(e.Tasks) == 0 {
			t.row(shortText(index), attempt, string(e.State), "-", "-", "-", note)
		}
		for _, task := range e.Tasks {
			t.row(index, attempt, string(task.State), strconv.Itoa(int(task.ID.Rank)), task.Node,
				a.elapsed(task.Started, j.Ended), or(task.Stopping, note))
		}
	}
	fmt.Fprintln(w)
	t.write(w)
}

// writeAttempts prints the attempts that have ended, without those of writeFailures.
func (a *app) writeAttempts(c *cobra.Command, w io.Writer, j *api.JobDetail) {
	if !slices.ContainsFunc(j.Attempts, func(at api.Attempt) bool { return at.Failure == 0 }) {
		return
	}
	t := a.newTable(c, "ELEMENT", "ATTEMPT", "STATE", "EXIT", "NODES", "STARTED", "TIME", "CPU", "MEMORY", "NOTE")
	for i := range j.Attempts {
		at := &j.Attempts[i]
		if at.Failure > 0 {
			continue
		}
		t.row(strconv.Itoa(int(at.Element)), strconv.Itoa(int(at.Attempt)), string(at.State), exit(at.Exit),
			or(strings.Join(at.Nodes, ","), "-"), a.stamp(at.Started), a.elapsed(at.Started, at.Ended),
			seconds(at.Usage.CPUSeconds), shortBytes(at.Usage.PeakMemory), at.Message)
	}
	fmt.Fprintln(w)
	t.write(w)
}

// exit says how a process ended.
func exit(e *api.Exit) string {
	switch {
	case e == nil:
		return "-"
	case e.Signal != "":
		return "SIG" + e.Signal
	}
	return strconv.Itoa(e.Code)
}
