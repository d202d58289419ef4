package cli

import (
	"bufio"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// swf numbers the users, names and queues of a log in the Standard Workload
// Format, which has no texts.
type swf struct {
	users, names, queues map[string]int
}

// writeSWF writes ended attempts in the Standard Workload Format, version 2.2: a
// line each, with 18 numbers, -1 for what is not known. Submit times are seconds
// since 1970. Comments at the end say which users and queues the numbers are.
func writeSWF(c *cobra.Command, servers *client.Client, f client.RecordFilter) error {
	out := bufio.NewWriter(c.OutOrStdout())
	fmt.Fprint(out, "; Version: 2.2\n; Computer: Berth\n; UnixStartTime: 0\n; TimeZoneString: UTC\n; Note: submit times are seconds since 1970\n")
	s := swf{users: map[string]int{}, names: map[string]int{}, queues: map[string]int{}}
	for {
		page, err := servers.Records(c.Context(), f)
		if err != nil {
			return err
		}
		for i := range page.Records {
			fmt.Fprintln(out, s.line(&page.Records[i]))
		}
		if f.After = page.After; f.After == "" {
			break
		}
	}
	writeNumbers(out, "User", s.users)
	writeNumbers(out, "Queue", s.queues)
	return out.Flush()
}

// writeNumbers writes which names the numbers are, in their order.
func writeNumbers(out *bufio.Writer, what string, numbers map[string]int) {
	names := make([]string, len(numbers))
	for name, n := range numbers {
		names[n-1] = name
	}
	for i, name := range names {
		fmt.Fprintf(out, "; %s: %d %s\n", what, i+1, visible(name))
	}
}

// numberOf is the number of a name, a new one where it has none.
func numberOf(numbers map[string]int, name string) int {
	if numbers[name] == 0 {
		numbers[name] = len(numbers) + 1
	}
	return numbers[name]
}

// line is one attempt. The fields are, in this order: job, submit, wait, run,
// processors, cpu time of each, memory of each (KiB), the processors, time and
// memory that were asked for, status, user, group, program, queue, partition,
// preceding job, think time.
func (s *swf) line(r *api.Record) string {
	tasks := int64(max(r.Tasks, 1))
	cores := max(1, (int64(r.Requested.CPU)*tasks+999)/1000)
	wait, run := int64(-1), int64(0)
	if !r.Started.IsZero() {
		wait, run = wholeSeconds(r.Started.Sub(r.Submitted)), wholeSeconds(r.Ended.Sub(r.Started))
	}
	limit := int64(-1)
	if r.TimeLimit > 0 {
		limit = wholeSeconds(time.Duration(r.TimeLimit))
	}
	cpu := int64(r.Usage.CPUSeconds) / cores
	return fmt.Sprintf("%d %d %d %d %d %d %d %d %d %d %d %d -1 %d %d -1 -1 -1",
		r.Job, r.Submitted.Unix(), wait, run, cores, cpu, perCore(r.Usage.PeakMemory, tasks, cores),
		cores, limit, perCore(r.Requested.Memory, tasks, cores), swfStatus(r.State),
		numberOf(s.users, r.Owner), numberOf(s.names, r.Name), numberOf(s.queues, r.Queue))
}

// perCore is the memory of tasks for each core, in KiB; -1 where it is not known.
func perCore(b job.Bytes, tasks, cores int64) int64 {
	if b == 0 {
		return -1
	}
	return int64(b) / 1024 * tasks / cores
}

// swfStatus is how the format numbers ends.
func swfStatus(s job.State) int {
	switch s {
	case job.Completed:
		return 1
	case job.Cancelled:
		return 5
	}
	return 0
}

func wholeSeconds(d time.Duration) int64 { return max(0, int64(d.Round(time.Second)/time.Second)) }
