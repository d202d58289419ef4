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
	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// queueFlags are the fields of a queue that have flags.
type queueFlags struct {
	given   api.Queue
	amounts map[string]*string
	flags   *pflag.FlagSet // these alone
}

func (f *queueFlags) addTo(all *pflag.FlagSet) {
	f.flags = pflag.NewFlagSet("", pflag.ContinueOnError)
	q, fs := &f.given, f.flags
	fs.StringVar(&q.Parent, "parent", "", "the `queue` that it is part of")
	fs.Int32Var(&q.Weight, "weight", 0, "its part of what is shared, a `number`; default: 1")
	fs.Int32Var(&q.Priority, "priority", 0, "`number` that is added to the priority of its jobs, and puts it before queues of lower priority")
	fs.StringVar((*string)(&q.Policy), "policy", "", "`order` of the queues below it and of the users in it: share, usage (over time), priority or fifo; default: share")
	fs.DurationVar((*time.Duration)(&q.HalfLife), "half-life", 0, "after this `duration` what has been used counts half, for --policy usage; default: 168h")
	fs.StringToInt64Var(&q.Prices, "prices", nil, "what a core, a GiB of memory or disk, a GPU or one of another resource counts, for --policy usage, like `cpu=4,memory=1,gpus=64`; default: what counts is the resource of which most was used")
	fs.StringVar((*string)(&q.Reclaim), "reclaim", "", "`whose` tasks in other queues its jobs may displace to get what the queue is entitled to: never, lower (those of lower priority) or any; default: never")
	fs.DurationVar((*time.Duration)(&q.MinRuntime), "min-runtime", 0, "for this `duration` a task of it runs at least before other queues may reclaim its place; default: 0")
	fs.Int32Var(&q.Protected, "protected", 0, "the part of its fair share that nobody may reclaim, a `percentage`; default: 0")
	f.amounts = map[string]*string{}
	for name, usage := range map[string]string{
		"guaranteed": "what it can count on, `amounts`", "max": "the most that it may use, `amounts`",
		"lend": "how much of what it is guaranteed and does not use others may, `amounts`; default: all", "borrow": "how much it may use beyond what it is guaranteed, `amounts`; default: any",
	} {
		f.amounts[name] = fs.String(name, "", usage)
	}
	all.AddFlagSet(fs)
}

// change sets the fields of the queue whose flags were given; an empty value takes one back.
func (f *queueFlags) change(c *cobra.Command, q *api.Queue) error {
	given := c.Flags().Changed
	if err := saidHalfLife(c, f.given.HalfLife); err != nil {
		return err
	}
	for name, set := range map[string]func(){
		"parent": func() { q.Parent = f.given.Parent }, "weight": func() { q.Weight = f.given.Weight },
		"priority": func() { q.Priority = f.given.Priority }, "policy": func() { q.Policy = f.given.Policy },
		"half-life": func() { q.HalfLife = f.given.HalfLife }, "prices": func() { q.Prices = f.given.Prices },
		"reclaim": func() { q.Reclaim = f.given.Reclaim }, "min-runtime": func() { q.MinRuntime = f.given.MinRuntime }, "protected": func() { q.Protected = f.given.Protected },
	} {
		if given(name) {
			set()
		}
	}
	for name, field := range map[string]**api.Amounts{"guaranteed": &q.Guaranteed, "max": &q.Max, "lend": &q.Lend, "borrow": &q.Borrow} {
		if !given(name) {
			continue
		}
		var err error
		if *field, err = readAmounts(*f.amounts[name]); err != nil {
			return command.Mistakef("--%s: %w", name, err)
		}
	}
	return nil
}

// any reports whether a flag of a field was given.
func (f *queueFlags) any() (given bool) {
	f.flags.VisitAll(func(flag *pflag.Flag) { given = given || flag.Changed })
	return given
}

func createQueueCommand(a *app) *cobra.Command {
	f := queueFlags{}
	c := &cobra.Command{
		Use:   "create QUEUE",
		Short: "Make a queue, with its place in the tree of queues",
		Long: `Make a queue that is not there yet, with its place in the tree of queues. "set" changes
queues, with the same flags, or all fields with a file.

Queues with the same parent share what it has by their weights; users share what their
queue has. What a queue is guaranteed it can count on: what it does not lend others
cannot use. Amounts are written like cpu=16,memory=64Gi,gpus=2,disk=1Ti,licence=4. What
others have borrowed it waits for, or with --reclaim takes back: tasks of queues that have
more than they are guaranteed are ended then, and their jobs wait again.

Without any parent, weight, policy, guarantee, account, user or limit, jobs go by
priority and number alone, whoever submits them.`,
		Example: `  berth queue create physics --weight 3 --guaranteed cpu=128,gpus=8
  berth queue create lasers --parent physics --max cpu=64 --policy fifo
  berth queue set physics --reclaim any && berth queue set default --min-runtime 30m`,
		Args: command.Args(1, 1),
	}
	f.addTo(c.Flags())
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		q := api.Queue{Name: args[0]}
		if err := f.change(c, &q); err != nil {
			return err
		}
		list, err := servers.Queues(c.Context())
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list.Queues, func(o api.QueueStatus) bool { return o.Name == q.Name }) {
			return fmt.Errorf(`there is a queue %q already; "berth queue set" changes it, and "berth queue -o yaml" shows what it is`, q.Name)
		}
		if err := servers.SetQueue(c.Context(), q); err != nil {
			return err
		}
		return a.print(c, view{value: q, names: []string{q.Name}, people: func(w io.Writer) { fmt.Fprintf(w, "Queue %s is made.\n", visible(q.Name)) }})
	})
	return c
}

// readAmounts reads "cpu=16,memory=64Gi", nil where there are none.
func readAmounts(text string) (*api.Amounts, error) {
	if text == "" {
		return nil, nil
	}
	a := &api.Amounts{}
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not name=amount, such as cpu=16 or memory=64Gi", part)
		}
		var err error
		switch name {
		case "cpu":
			a.CPU = new(job.MilliCPU)
			*a.CPU, err = job.ParseMilliCPU(value)
		case "memory", "mem":
			a.Memory = new(job.Bytes)
			*a.Memory, err = job.ParseBytes(value)
		case "disk":
			a.Disk = new(job.Bytes)
			*a.Disk, err = job.ParseBytes(value)
		case "gpus", "gpu":
			a.GPUs = new(int64)
			*a.GPUs, err = strconv.ParseInt(value, 10, 64)
		default:
			if a.Other == nil {
				a.Other = map[string]int64{}
			}
			a.Other[name], err = strconv.ParseInt(value, 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part, err)
		}
	}
	return a, nil
}

// amountsText is amounts as readAmounts takes them, "-" where there are none.
func amountsText(a *api.Amounts) string { return amountsWith(a, job.Bytes.String) }

// usedText is amounts that are used, which are sums of what users write: bytes are rounded.
func usedText(a *api.Amounts) string { return amountsWith(a, shortBytes) }

// amountsWith is amounts with a text for bytes.
func amountsWith(a *api.Amounts, bytes func(job.Bytes) string) string {
	if a.IsZero() {
		return "-"
	}
	var parts []string
	add := func(name, value string) { parts = append(parts, name+"="+value) }
	if a.CPU != nil {
		add("cpu", a.CPU.String())
	}
	if a.Memory != nil {
		add("memory", bytes(*a.Memory))
	}
	if a.Disk != nil {
		add("disk", bytes(*a.Disk))
	}
	if a.GPUs != nil {
		add("gpus", strconv.FormatInt(*a.GPUs, 10))
	}
	for _, name := range slices.Sorted(maps.Keys(a.Other)) {
		add(name, strconv.FormatInt(a.Other[name], 10))
	}
	return strings.Join(parts, ",")
}

func queueTreeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "tree",
		Short: "Show the tree of queues",
		Long:  `Show the tree of queues, with what each is given. "berth share" shows what they use.`,
		Args:  command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Queues(c.Context())
			if err != nil {
				return err
			}
			t := a.newTable(c, "QUEUE", "WEIGHT", "POLICY", "PRIO", "GUARANTEED", "MAX", "LEND", "BORROW", "RECLAIM")
			v := view{value: list, people: t.write}
			walkQueues(list.Queues, "", 0, func(q *api.QueueStatus, depth int) {
				v.names = append(v.names, q.Name)
				t.row(strings.Repeat("  ", depth)+q.Name, strconv.Itoa(int(max(q.Weight, 1))), or(string(q.Policy), string(api.PolicyShare)), strconv.Itoa(int(q.Priority)),
					amountsText(q.Guaranteed), amountsText(q.Max), amountsText(q.Lend), amountsText(q.Borrow), or(string(q.Reclaim), string(api.ReclaimNever)))
			})
			return a.print(c, v)
		}),
	}
}

// walkQueues calls f for the queues below one, each before those below it.
func walkQueues(list []api.QueueStatus, parent string, depth int, f func(*api.QueueStatus, int)) {
	for i := range list {
		if q := &list[i]; q.Parent == parent && depth <= len(list) {
			f(q, depth)
			walkQueues(list, q.Name, depth+1, f)
		}
	}
}
