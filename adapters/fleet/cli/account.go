package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func accountCommand(a *app) *cobra.Command {
	account := api.Account{}
	set := &cobra.Command{
		Use:   "set ACCOUNT",
		Short: "Make an account, or change it",
		Long: `Make an account, or change it: what is left out gets its default. Accounts have users
("berth user set --account") and limits ("berth limit set --account"). What is shared,
and how, is said of queues; an account says which queue its users' jobs go to.`,
		Example: "  berth account set lasers --parent physics --queue physics",
		Args:    command.Args(1, 1),
	}
	set.Flags().StringVar(&account.Parent, "parent", "", "the `account` that it is part of")
	set.Flags().StringVar(&account.Queue, "queue", "", "the `queue` for jobs of its users that name none")
	set.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		account.Name = args[0]
		return a.done(c, "Account %s is set.\n", args[0], servers.SetAccount(c.Context(), account))
	})
	list := &cobra.Command{Use: "list", Short: "List accounts", Args: command.Args(0, 0), RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		list, err := servers.Accounts(c.Context())
		if err != nil {
			return err
		}
		t := a.newTable(c, "ACCOUNT", "PARENT", "QUEUE")
		v := view{value: list, people: t.write}
		for _, x := range list.Accounts {
			t.row(x.Name, or(x.Parent, "-"), or(x.Queue, "-"))
			v.names = append(v.names, x.Name)
		}
		return a.print(c, v)
	})}
	return group("account", "Manage accounts, which users belong to", set, list,
		a.removing("Remove an account that nothing needs", "ACCOUNT", "Account %s is removed.\n", (*client.Client).RemoveAccount))
}

func userCommand(a *app) *cobra.Command {
	user := api.User{}
	set := &cobra.Command{
		Use:   "set USER",
		Short: "Say which account a user belongs to, and its weight",
		Long: `Say which account a user belongs to, and its weight among the users of a queue, in place
of what was said before: what is left out gets its default. "berth token" lets a user in.`,
		Example: "  berth user set alice --account lasers --weight 2",
		Args:    command.Args(1, 1),
	}
	set.Flags().StringVar(&user.Account, "account", "", "the `account` that the user belongs to")
	set.Flags().StringVar(&user.Queue, "queue", "", "the `queue` for jobs of the user that name none; default: the account's")
	set.Flags().Int32Var(&user.Weight, "weight", 0, "the user's part of what a queue shares, a `number`; default: 1")
	set.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		user.Name = args[0]
		return a.done(c, "User %s is set.\n", args[0], servers.SetUser(c.Context(), user))
	})
	list := &cobra.Command{Use: "list", Short: "List users of whom something is said", Args: command.Args(0, 0), RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		list, err := servers.Users(c.Context())
		if err != nil {
			return err
		}
		t := a.newTable(c, "USER", "ACCOUNT", "WEIGHT", "QUEUE")
		v := view{value: list, people: t.write}
		for _, x := range list.Users {
			t.row(x.Name, or(x.Account, "-"), strconv.Itoa(int(max(x.Weight, 1))), or(x.Queue, "-"))
			v.names = append(v.names, x.Name)
		}
		return a.print(c, v)
	})}
	return group("user", "Say which account users belong to, and their weights", set, list,
		a.removing("Take back what was said of a user", "USER", "User %s has the defaults again.\n", (*client.Client).RemoveUser))
}

func limitCommand(a *app) *cobra.Command {
	var (
		l       api.Limit
		each    string
		use     string
		hours   string
		running int64
	)
	set := &cobra.Command{
		Use:   "set LIMIT",
		Short: "Make a limit, or change it",
		Long: `Make a limit, or change it: the most that the jobs of a queue, an account or a user may
have at once, with those of queues and accounts below it. What would be more waits. A
limit ends no tasks, and jobs behind one that it holds back do not pass it in the same
queue and of the same user.

--hours is a limit over time, in core-hours, GPU-hours and so on: what tasks request times
how long they run. What was used counts, half of it after --half-life, and what tasks under
way will have used at the end of their time limits. A job without a time limit waits for
ever. So does one that asks for more than --hours with --each task.`,
		Example: `  berth limit set lasers-gpus --account lasers --use gpus=8
  berth limit set fair --queue default --each user --running 100 --use cpu=64,memory=256Gi
  berth limit set small --queue default --each task --use cpu=32
  berth limit set grant --account lasers --hours gpus=500 --half-life 720h`,
		Args: command.Args(1, 1),
	}
	fs := set.Flags()
	fs.StringVar(&l.Queue, "queue", "", "of the jobs in this `queue`")
	fs.StringVar(&l.Account, "account", "", "of the jobs of users of this `account`")
	fs.StringVar(&l.User, "user", "", "of the jobs of this `user`")
	fs.StringVar(&each, "each", "", "for each `user` of the queue by himself, or each task by itself")
	fs.Int64Var(&running, "running", 0, "how many tasks may run, a `number`")
	fs.StringVar(&use, "use", "", "how much they may request together, `amounts` like cpu=16,memory=64Gi,gpus=2")
	fs.StringVar(&hours, "hours", "", "how much they may use over time, `amounts` times hours, like cpu=1000,gpus=40")
	fs.DurationVar((*time.Duration)(&l.HalfLife), "half-life", 0, "after this `duration` what was used of --hours counts half; default: 168h")
	set.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		l.Name, l.Each = args[0], api.Each(each)
		if c.Flags().Changed("running") {
			l.Running = &running
		}
		var err error
		if l.Use, err = readAmounts(use); err != nil {
			return command.Mistakef("--use: %w", err)
		}
		if l.Hours, err = readAmounts(hours); err != nil {
			return command.Mistakef("--hours: %w", err)
		}
		if l.Running == nil && l.Use == nil && l.Hours == nil {
			return command.Mistake(errors.New("write --running, --use or --hours: what is limited"))
		}
		if err := saidHalfLife(c, l.HalfLife); err != nil {
			return err
		}
		return a.done(c, "Limit %s is set.\n", args[0], servers.SetLimit(c.Context(), l))
	})
	list := &cobra.Command{Use: "list", Short: "List limits", Args: command.Args(0, 0), RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		list, err := servers.Limits(c.Context())
		if err != nil {
			return err
		}
		t := a.newTable(c, "LIMIT", "OF", "EACH", "RUNNING", "USE", "HOURS", "HALF-LIFE")
		v := view{value: list, people: t.write}
		for i := range list.Limits {
			x := &list.Limits[i]
			t.row(x.Name, limitOf(x), or(string(x.Each), "-"), optional(x.Running), amountsText(x.Use), amountsText(x.Hours), halfLifeText(x))
			v.names = append(v.names, x.Name)
		}
		return a.print(c, v)
	})}
	return group("limit", "Manage limits of queues, accounts and users", set, list,
		a.removing("Remove limits", "LIMIT", "Limit %s is removed.\n", (*client.Client).RemoveLimit))
}

// limitOf says whose limit it is.
func limitOf(l *api.Limit) string {
	switch {
	case l.Account != "":
		return "account " + l.Account
	case l.User != "":
		return "user " + l.User
	}
	return "queue " + l.Queue
}

// saidHalfLife refuses one of nothing, which would be none at all: it is not the default.
func saidHalfLife(c *cobra.Command, d job.Duration) error {
	if c.Flags().Changed("half-life") && d <= 0 {
		return command.Mistakef("--half-life %s is not from 1s to %s", d, api.MaxHalfLife)
	}
	return nil
}

// halfLifeText is that of a limit over time, "-" where it has none.
func halfLifeText(l *api.Limit) string {
	if l.Hours.IsZero() || l.Each == api.EachTask {
		return "-"
	}
	return cmp.Or(l.HalfLife, api.DefaultHalfLife).String()
}

// optional is a number, "-" where there is none.
func optional(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// done says that something was done to what has a name, or why not.
func (a *app) done(c *cobra.Command, text, name string, err error) error {
	if err != nil {
		return err
	}
	return a.print(c, view{value: []string{name}, names: []string{name}, people: func(w io.Writer) { fmt.Fprintf(w, text, visible(name)) }})
}

// removing is a command that removes things of the name.
func (a *app) removing(short, what, text string, remove func(*client.Client, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: "remove " + what, Short: short, Args: command.Args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			return a.done(c, text, args[0], remove(servers, c.Context(), args[0]))
		}),
	}
}
