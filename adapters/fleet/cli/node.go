package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

func nodeCommand(a *app) *cobra.Command {
	return group("node", "Manage nodes; \"berth nodes\" lists them",
		drainCommand(a), resumeCommand(a), maintenanceCommand(a), labelCommand(a), removeNodeCommand(a))
}

func drainCommand(a *app) *cobra.Command {
	reason, deadline := "", ""
	c := &cobra.Command{
		Use:   "drain NODE...",
		Short: "Keep new tasks away from nodes",
		Long: `Keep new tasks away from nodes. A second drain of a node changes its deadline (without
--deadline there is none any more), and its reason where it names one.`,
		Example: "  berth node drain n17 --reason 'broken fan' --deadline 2h",
		Args:    command.Args(1, -1),
	}
	c.Flags().StringVar(&reason, "reason", "", "`text` that says why")
	c.Flags().StringVar(&deadline, "deadline", "", "`time` at which tasks that still run are ended; without it they may run on")
	filled(c, "deadline")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		d := api.Drain{Reason: reason}
		var err error
		if d.Deadline, err = a.moment("deadline", deadline); err != nil {
			return err
		}
		return a.eachNode(c, args, "takes no new tasks", func(name string) error { return servers.DrainNode(c.Context(), name, d) })
	})
	return c
}

// moment reads the time that a flag has, zero where it is empty.
func (a *app) moment(flag, value string) (time.Time, error) {
	return a.readMoment(flag, value, flags.Moment)
}

// readMoment is moment for times that are read otherwise.
func (a *app) readMoment(flag, value string, read func(string, time.Time) (time.Time, error)) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := read(value, a.now())
	if err != nil {
		return t, command.Mistakef("--%s: %w", flag, err)
	}
	return t, nil
}

// eachNode does something to each node, and stops at the first that fails.
func (a *app) eachNode(c *cobra.Command, names []string, done string, do func(name string) error) error {
	for _, name := range names {
		if err := job.CheckName(name); err != nil {
			return command.Mistakef("the node's name: %w", err)
		}
	}
	for i, name := range names {
		if err := do(name); err != nil {
			if i > 0 {
				return fmt.Errorf("node %s: %w (done: %s; the nodes after it were not tried)", name, err, strings.Join(names[:i], ", "))
			}
			return err
		}
	}
	return a.print(c, view{value: names, names: names, people: func(w io.Writer) {
		for _, name := range names {
			fmt.Fprintf(w, "Node %s %s.\n", name, done)
		}
	}})
}

func resumeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resume NODE...",
		Short: "Use drained nodes again",
		Long: `Use drained nodes again, and nodes that are unhealthy because starts failed on them alone.

A node that complains of itself is unhealthy until it does so no more: a health script is
asked again by itself, and after a prolog or an epilog that failed the agent is to be
started again, which leaves tasks alone. Maintenance windows stay; see maintenance --cancel.`,
		Args: command.Args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			return a.eachNode(c, args, "is resumed", func(name string) error {
				if err := servers.ResumeNode(c.Context(), name); err != nil {
					return err
				}
				n, err := servers.Node(c.Context(), name)
				if err != nil {
					return err
				}
				if n.Unhealthy != "" {
					fmt.Fprintf(c.ErrOrStderr(), "berth: node %s is still unhealthy: %s\n", name, visible(n.Unhealthy))
				}
				if n.Maintenance != nil {
					fmt.Fprintf(c.ErrOrStderr(), "berth: node %s: its maintenance window stays, from %s to %s; maintenance --cancel ends it\n",
						name, a.stamp(n.Maintenance.From), a.stamp(n.Maintenance.To))
				}
				return nil
			})
		}),
	}
}

func maintenanceCommand(a *app) *cobra.Command {
	from, to, reason, cancel := "", "", "", false
	c := &cobra.Command{
		Use:   "maintenance NODE...",
		Short: "Set a maintenance window, in which nodes are not used, or cancel it",
		Long: `Set a window of time in which nodes are not used, in place of the one that there is,
or cancel it. Tasks that could not end before it are not placed there, and those that
still run when it begins are ended and tried again.`,
		Example: `  berth node maintenance n17 --from 2026-02-01T08:00 --to 2026-02-01T12:00
  berth node maintenance n17 --cancel`,
		Args: command.Args(1, -1),
	}
	c.Flags().StringVar(&from, "from", "now", "`time` at which it begins")
	c.Flags().StringVar(&to, "to", "", "`time` at which it ends")
	c.Flags().StringVar(&reason, "reason", "", "`text` that says why")
	c.Flags().BoolVar(&cancel, "cancel", false, "there is no such window any more")
	filled(c, "from", "to")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		m := api.Maintenance{Reason: reason}
		if cancel && (to != "" || c.Flags().Changed("from")) {
			return command.Mistake(errors.New("--cancel goes without --from and --to"))
		}
		if cancel {
			return a.eachNode(c, args, "has no maintenance window", func(name string) error {
				return servers.MaintainNode(c.Context(), name, api.Maintenance{})
			})
		}
		if to == "" {
			return command.Mistake(errors.New("--to is missing: the time at which the window ends; --cancel ends one that there is"))
		}
		var err error
		if m.From, err = a.moment("from", from); err != nil {
			return err
		}
		if m.To, err = a.moment("to", to); err != nil {
			return err
		}
		if !m.To.After(m.From) {
			return command.Mistakef("--to must be after --from; --cancel ends a window that there is")
		}
		return a.eachNode(c, args, "has a maintenance window", func(name string) error { return servers.MaintainNode(c.Context(), name, m) })
	})
	return c
}

func labelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "label NODE KEY=VALUE|KEY-...",
		Short:   "Set labels of a node, or remove them",
		Example: "  berth node label n17 rack=4 old-",
		Args:    command.Args(2, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			l := api.Labels{Labels: map[string]string{}}
			for _, arg := range args[1:] {
				key, value, set := strings.Cut(arg, "=")
				if !set && !strings.HasSuffix(key, "-") || set && value == "" {
					return command.Mistakef("%q is neither key=value nor key-", arg)
				}
				if !set {
					key = strings.TrimSuffix(key, "-")
				}
				if err := job.CheckLabel(key, value); err != nil {
					return command.Mistake(err)
				}
				l.Labels[key] = value
			}
			return a.eachNode(c, args[:1], "has the new labels", func(name string) error { return servers.LabelNode(c.Context(), name, l) })
		}),
	}
}

func removeNodeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NODE...",
		Short: "Remove nodes that are gone for good",
		Long: `Remove nodes that are gone for good, with their labels, drains and maintenance
windows. End their agents first: one that runs comes back, ready for tasks.`,
		Args: command.Args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			return a.eachNode(c, args, "is removed", func(name string) error { return servers.RemoveNode(c.Context(), name) })
		}),
	}
}
