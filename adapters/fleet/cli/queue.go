package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func queueCommand(a *app) *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List queues, and what is in them", Args: command.Args(0, 0)}
	c := group("queue", "List queues, or change them", createQueueCommand(a), setQueueCommand(a), list, queueTreeCommand(a), removeQueueCommand(a))
	list.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		list, err := servers.Queues(c.Context())
		if err != nil {
			return err
		}
		v := view{value: list, people: func(w io.Writer) { a.queueTable(c, list.Queues).write(w) }}
		for i := range list.Queues {
			v.names = append(v.names, list.Queues[i].Name)
		}
		return a.print(c, v)
	})
	c.RunE = list.RunE
	return c
}

// queueTable is a table of queues.
func (a *app) queueTable(c *cobra.Command, queues []api.QueueStatus) *table {
	t := a.newTable(c, "QUEUE", "PRIO", "PENDING", "RUNNING", "DEFAULT TIME", "MAX TIME", "MEM/CPU", "NOTE")
	limit := func(d job.Duration) string {
		if d == 0 {
			return "-"
		}
		return d.String()
	}
	for i := range queues {
		q := &queues[i]
		var notes []string
		if q.Stopped {
			notes = append(notes, "stopped")
		}
		if q.Preempts {
			notes = append(notes, "preempts")
		}
		if len(q.Users) > 0 {
			notes = append(notes, "for "+strings.Join(q.Users, ", "))
		}
		memory := "-"
		if q.DefaultMemoryPerCPU > 0 {
			memory = q.DefaultMemoryPerCPU.String()
		}
		t.row(q.Name, strconv.Itoa(int(q.Priority)), strconv.Itoa(int(q.Pending)), strconv.Itoa(int(q.Running)),
			limit(q.DefaultTime), limit(q.MaxTime), memory, strings.Join(notes, "; "))
	}
	return t
}

func setQueueCommand(a *app) *cobra.Command {
	f := queueFlags{}
	c := &cobra.Command{
		Use:   "set QUEUE|FILE",
		Short: "Change a queue by flags, or create or change one from a file",
		Long: `Change the fields of a queue whose flags are given; an empty value resets one, the others
stay. Or make a queue, or change it, as a YAML or JSON file says; "-" is the standard
input. "berth queue -o yaml" shows what is there. Fields that are left out get
their defaults: maxQueued, how many jobs a user may have there (a gang counts once
for each task), is 50,000 then; -1 is any number. maxStored, how much the servers
store of a user's jobs, is 64Mi.

defaultTime and defaultMemoryPerCPU are what a job gets that names no time limit or
no memory.`,
		Example: `  berth queue set physics --weight 5
  echo '{name: default, defaultTime: 1h, maxTime: 2d, defaultMemoryPerCPU: 2Gi}' | berth queue set -`,
		Args: command.Args(1, 1),
	}
	f.addTo(c.Flags())
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		var q api.Queue
		var err error
		if f.any() {
			q, err = f.changed(c, servers, args[0])
		} else if q, err = readQueue(c.InOrStdin(), args[0]); err != nil {
			err = command.Mistake(err)
		}
		if err != nil {
			return err
		}
		if err := servers.SetQueue(c.Context(), q); err != nil {
			return err
		}
		return a.print(c, view{value: q, names: []string{q.Name}, people: func(w io.Writer) { fmt.Fprintf(w, "Queue %s is set.\n", q.Name) }})
	})
	return c
}

// changed is the queue of the name with what the flags change.
func (f *queueFlags) changed(c *cobra.Command, servers *client.Client, name string) (api.Queue, error) {
	list, err := servers.Queues(c.Context())
	if err != nil {
		return api.Queue{}, err
	}
	for _, q := range list.Queues {
		if q.Name == name {
			err := f.change(c, &q.Queue)
			return q.Queue, err
		}
	}
	return api.Queue{}, &exitError{ExitNotFound, fmt.Errorf("there is no queue %q; \"berth queue create\" makes one", name)}
}

// readQueue reads the file of a queue.
func readQueue(stdin io.Reader, path string) (api.Queue, error) {
	var (
		q    api.Queue
		data []byte
		err  error
	)
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(stdin, maxSetting))
	} else {
		data, err = readFile(path)
	}
	if err != nil {
		return q, err
	}
	if err := job.Decode(path, data, &q); err != nil {
		return q, err
	}
	if err := job.CheckName(q.Name); err != nil {
		return q, fmt.Errorf("%s: name: %w", path, err)
	}
	return q, nil
}

func removeQueueCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove QUEUE",
		Short: "Remove an empty queue, or reset the queue default",
		Long: `Remove a queue that has no jobs but ended ones. The queue "default" is always there:
to remove it gives it its first settings again, without limits, and its jobs stay.`,
		Args: command.Args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			if err := job.CheckName(args[0]); err != nil {
				return command.Mistake(err)
			}
			if err := servers.RemoveQueue(c.Context(), args[0]); err != nil {
				return err
			}
			return a.print(c, view{value: args, names: args, people: func(w io.Writer) {
				if args[0] == job.DefaultQueue {
					fmt.Fprintf(w, "Queue %s is back to its first settings; its jobs stay.\n", args[0])
					return
				}
				fmt.Fprintf(w, "Queue %s is removed.\n", args[0])
			}})
		}),
	}
}
