package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
)

func shareCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "share",
		Short: "Show what queues and users are entitled to, and what they use",
		Long: `Show the tree of queues and their users: what weights entitle each to while all others
want theirs, and what tasks under way use. Both are parts of the fleet. SHARE is that of
the resource of which it is most, which stands beside it.

Where a queue goes by usage, USED is what its parts have used over time, of which the older
counts less: for how long all of the fleet would have been used. EFFECTIVE is the part of
that among those beside each other, and LEVEL the part of the weights over that: the
highest goes first. RANK is that of each user, or of a queue that goes by another policy:
all in the queue that goes first come before all in the next, as in Slurm's Fair Tree.`,
		Args: command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Shares(c.Context())
			if err != nil {
				return err
			}
			head := []string{"QUEUE/USER", "WEIGHT", "ENTITLED", "SHARE", "OF", "RUNNING", "WAITING", "USE", "GUARANTEED", "MAX"}
			past := slices.ContainsFunc(list.Shares, func(s api.Share) bool { return s.Usage != nil })
			if past {
				head = append(head, "USED", "EFFECTIVE", "LEVEL", "RANK")
			}
			t := a.newTable(c, head...)
			v := view{value: list, people: t.write}
			for i := range list.Shares {
				s := &list.Shares[i]
				name := s.Queue
				if s.User != "" {
					name = "user " + s.User
				}
				v.names = append(v.names, strings.TrimSuffix(s.Queue+"/"+s.User, "/"))
				row := []string{strings.Repeat("  ", int(s.Depth)) + name, strconv.Itoa(int(s.Weight)), percent(s.Entitled), percent(s.Share), or(s.Dominant, "-"),
					strconv.Itoa(int(s.Running)), strconv.Itoa(int(s.Waiting)), usedText(&s.Use), amountsText(s.Guaranteed), amountsText(s.Max)}
				if past {
					row = append(row, usageText(s.Usage), effectiveText(s), levelText(s), rankText(s))
				}
				t.row(row...)
			}
			if err := a.print(c, v); err != nil {
				return err
			}
			if !list.ByQueues && a.format == "" {
				fmt.Fprintln(c.ErrOrStderr(), "berth: no shares are configured, so jobs go by priority and number alone; see berth queue create --help")
			}
			return nil
		}),
	}
}

// usageText is what was used, "-" where that does not count.
func usageText(u *api.PastUse) string {
	switch {
	case u == nil:
		return "-"
	case u.Of == "":
		return "0s"
	}
	used := time.Duration(u.Fleet * float64(time.Second)).Round(time.Second).String()
	if u.Of == api.OfPrices {
		return used + " by prices"
	}
	return used + " of " + u.Of
}

func effectiveText(s *api.Share) string {
	if s.Usage == nil {
		return "-"
	}
	return percent(s.Effective)
}

func levelText(s *api.Share) string {
	switch {
	case s.Usage == nil:
		return "-"
	case s.Level == 0:
		return "inf"
	}
	return strconv.FormatFloat(s.Level, 'f', 3, 64)
}

func rankText(s *api.Share) string {
	if s.Rank == 0 {
		return "-"
	}
	return strconv.Itoa(int(s.Rank))
}

// percent is a part of the whole for people.
func percent(part float64) string { return strconv.FormatFloat(100*part, 'f', 1, 64) + "%" }

func prioCommand(a *app) *cobra.Command {
	limit := 0
	c := &cobra.Command{
		Use:   "prio",
		Short: "Show in which order jobs that wait have their turn, and why",
		Long: `Show the jobs that wait for their turn and for room, in the order in which they go. Users
see the places of their own. Jobs that wait for something else, such as other jobs, are
not among them, nor the elements of an array that have not come to the front of it. Those
without a place are held back by the limit or quota that ORDER names.

PRIO is the job's priority and that of its queue. Where jobs go by a tree of queues, ORDER
says what comes first: of the queues beside each other, and of the users of a queue, the
one with the smallest share for its weight, or by usage the one that has used least for
it. The share, or what was used, and the weight stand behind each.`,
		Args: command.Args(0, 0),
	}
	c.Flags().IntVar(&limit, "limit", 50, "at most so many, a `number`")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		if limit < 1 || limit > api.MaxPage {
			return command.Mistakef("--limit %d is not from 1 to %d", limit, api.MaxPage)
		}
		list, err := servers.Order(c.Context(), limit)
		if err != nil {
			return err
		}
		t := a.newTable(c, "PLACE", "JOB", "NAME", "OWNER", "QUEUE", "PRIO", "SUBMITTED", "ORDER")
		v := view{value: list, people: func(w io.Writer) {
			t.write(w)
			fmt.Fprintf(w, "%d wait in all.\n", list.Waiting)
		}}
		for i := range list.Turns {
			n := &list.Turns[i]
			prio := strconv.Itoa(int(n.Priority))
			if n.QueuePriority != 0 {
				prio = fmt.Sprintf("%d%+d", n.Priority, n.QueuePriority)
			}
			id := n.Job.String()
			if n.Array {
				id = fmt.Sprintf("%s_%d", n.Job, n.Element)
			}
			v.names = append(v.names, id)
			place := "-"
			if n.Place > 0 {
				place = strconv.Itoa(n.Place)
			}
			t.row(place, id, n.Name, n.Owner, n.Queue, prio, a.stamp(n.Since), or(n.Held, or(pathText(n.Path), "-")))
		}
		return a.print(c, v)
	})
	return c
}

// pathText is the path of an element in the tree of queues.
func pathText(path []api.Level) string {
	var parts []string
	for _, l := range path {
		name := l.Queue
		if l.User != "" {
			name = "user " + l.User
		}
		if l.Usage != nil {
			parts = append(parts, fmt.Sprintf("%s used %s/%d", name, usageText(l.Usage), l.Weight))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s/%d", name, percent(l.Share), l.Weight))
	}
	return strings.Join(parts, " > ")
}
