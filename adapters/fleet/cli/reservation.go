package cli

import (
	"errors"
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
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

func reservationCommand(a *app) *cobra.Command {
	return group("reservation", "Set nodes aside for a time, and for some users",
		createReservationCommand(a), listReservationsCommand(a), deleteReservationCommand(a))
}

// reservationFlags are those of "reservation create".
type reservationFlags struct {
	nodes, constraint    string
	keep                 string
	users, accounts      string
	start, end, duration string
	repeat, zone, reason string
}

func createReservationCommand(a *app) *cobra.Command {
	f := reservationFlags{}
	c := &cobra.Command{
		Use:   "create NAME",
		Short: "Set nodes aside for a time",
		Long: `Set nodes aside for a time. Jobs that name the reservation (berth submit --reservation)
and whose owners are among its users start there while it is on, if they end before it
does. Others are not placed there if they could not end before it begins. A job needs
its time limit, its killGrace and 5 seconds to start.

A reservation ends no tasks: those that run when it begins run on. For work on a node,
"berth node maintenance" also ends what still runs. A reservation without users is for
nobody.

With --keep it sets so much of each of the nodes aside, and others may use the rest.`,
		Example: `  berth reservation create course --nodes n[1-4] --start 2026-02-02T14:00 --duration 2h --users alice,bob
  berth reservation create class --constraint rack=4 --keep cpu=8,memory=32G --start 08:00 --duration 4h --accounts school
  berth reservation create backup --constraint rack=4 --start 02:00 --duration 1h --repeat daily --zone Europe/Zurich`,
		Args: command.Args(1, 1),
	}
	fs := c.Flags()
	fs.StringVarP(&f.nodes, "nodes", "w", "", "the `nodes`, with commas: a,b or n[01-20]")
	fs.StringVarP(&f.constraint, "constraint", "C", "", "the nodes that fulfil this `condition`, as --constraint of submit has it")
	fs.StringVar(&f.keep, "keep", "", "how much of each of the nodes is set aside, `amounts`, such as cpu=8,memory=32G; default: all of it")
	fs.StringVar(&f.start, "start", "now", "`time` at which it begins")
	fs.StringVar(&f.end, "end", "", "`time` at which it ends")
	fs.StringVar(&f.duration, "duration", "", "how long it lasts, a `duration`, in place of --end")
	fs.StringVar(&f.repeat, "repeat", "", "`how` often it comes again: daily or weekly, at the same time of the clock")
	fs.StringVar(&f.zone, "zone", "", "time `zone` of --start, --end and --repeat, such as Europe/Zurich; default: that of this machine, and of --repeat UTC")
	fs.StringVar(&f.users, "users", "", "the `users` who may use it, with commas")
	fs.StringVar(&f.accounts, "accounts", "", "the `accounts` whose users may use it, with those below them")
	fs.StringVar(&f.reason, "reason", "", "`text` that says what it is for")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		r, err := a.readReservation(args[0], &f)
		if err != nil {
			return err
		}
		made, err := servers.AddReservation(c.Context(), r)
		if err != nil {
			return err
		}
		for _, w := range made.Warnings {
			fmt.Fprintf(c.ErrOrStderr(), "berth: %s\n", visible(w))
		}
		if len(lets(&r)) == 0 && r.Keep == nil {
			fmt.Fprintln(c.ErrOrStderr(), "berth: nobody may use this reservation, so no job starts on its nodes while it is on; --users and --accounts say who may")
		}
		return a.print(c, view{value: r, names: []string{r.Name}, people: func(w io.Writer) {
			fmt.Fprintf(w, "Reservation %s is from %s to %s%s.\n", r.Name, a.stamp(r.From), a.stamp(r.To), repeats(&r))
		}})
	})
	return c
}

// repeats says how often a reservation comes again, as the end of a sentence.
func repeats(r *api.Reservation) string {
	if r.Repeat == "" {
		return ""
	}
	return fmt.Sprintf(", %s (%s)", r.Repeat, or(r.Zone, "UTC"))
}

// readReservation makes a reservation of what the flags say.
func (a *app) readReservation(name string, f *reservationFlags) (r api.Reservation, err error) {
	r = api.Reservation{Name: name, Repeat: api.Repeat(f.repeat), Zone: f.zone, Users: commas(f.users), Accounts: commas(f.accounts), Reason: f.reason}
	if (f.nodes == "") == (f.constraint == "") {
		return r, command.Mistake(errors.New("write --nodes or --constraint: the nodes that are set aside"))
	}
	if (f.end == "") == (f.duration == "") {
		return r, command.Mistake(errors.New("write --duration or --end: how long they are"))
	}
	if f.nodes != "" {
		if r.Nodes, err = flags.Nodes(f.nodes); err != nil {
			return r, command.Mistakef("--nodes: %w", err)
		}
	} else if r.Constraints, err = flags.Conditions(f.constraint); err != nil {
		return r, command.Mistakef("--constraint: %w", err)
	}
	if r.Keep, err = readAmounts(f.keep); err != nil {
		return r, command.Mistakef("--keep: %w", err)
	}
	zone := a.now().Location()
	if f.zone != "" {
		if zone, err = time.LoadLocation(f.zone); err != nil {
			return r, command.Mistakef("--zone: there is no time zone %q; write a name such as Europe/Zurich", f.zone)
		}
	}
	read := func(value string, now time.Time) (time.Time, error) { return flags.Moment(value, now.In(zone)) }
	if r.From, err = a.readMoment("start", f.start, read); err != nil {
		return r, err
	}
	if f.end != "" {
		if r.To, err = a.readMoment("end", f.end, read); err != nil {
			return r, err
		}
	} else {
		d, err := job.ParseDuration(f.duration)
		if err != nil {
			return r, command.Mistakef("--duration: %w", err)
		}
		r.To = r.From.Add(time.Duration(d))
	}
	if !r.To.After(r.From) {
		return r, command.Mistake(errors.New("it must end after it begins"))
	}
	return r, nil
}

// commas are the parts of a list with commas between them.
func commas(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

func listReservationsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List reservations",
		Args:  command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Reservations(c.Context())
			if err != nil {
				return err
			}
			v := view{value: list, people: func(w io.Writer) {
				t := a.newTable(c, "RESERVATION", "STATE", "FROM", "TO", "REPEAT", "NODES", "USERS", "JOBS", "REASON")
				for i := range list.Reservations {
					a.reservationRow(t, &list.Reservations[i])
				}
				t.write(w)
			}}
			for i := range list.Reservations {
				v.names = append(v.names, list.Reservations[i].Name)
			}
			return a.print(c, v)
		}),
	}
}

// reservationRow adds the row of a reservation: its interval is that which is on, or the next.
func (a *app) reservationRow(t *table, r *api.ReservationStatus) {
	state, from, to := "over", r.From, r.To
	if !r.NextTo.IsZero() {
		state, from, to = "to come", r.NextFrom, r.NextTo
	}
	if r.Active {
		state = "on"
	}
	where := shortList(r.Nodes)
	if len(r.Constraints) > 0 {
		where = conditionWords(r.Constraints)
	}
	if r.Keep != nil {
		where += ": " + amountsText(r.Keep)
	}
	t.row(r.Name, state, a.stamp(from), a.stamp(to), or(strings.TrimPrefix(repeats(&r.Reservation), ", "), "-"), where,
		or(shortList(lets(&r.Reservation)), "nobody"), strconv.Itoa(int(r.Waiting)), or(r.Reason, "-"))
}

// lets are the users and accounts that a reservation is for.
func lets(r *api.Reservation) []string {
	list := slices.Clone(r.Users)
	for _, account := range r.Accounts {
		list = append(list, "account "+account)
	}
	return list
}

// conditionWords are constraints as people write them.
func conditionWords(list []job.Constraint) string {
	var out []string
	for i := range list {
		c := list[i].WithDefaults()
		values := strings.Join(c.Values, ",")
		switch c.Operator {
		case job.Exists:
			out = append(out, c.Label)
		case job.NotExists:
			out = append(out, "!"+c.Label)
		case job.NotIn:
			out = append(out, c.Label+"!="+values)
		case job.Gt:
			out = append(out, c.Label+">"+values)
		case job.Lt:
			out = append(out, c.Label+"<"+values)
		default:
			out = append(out, c.Label+"="+values)
		}
	}
	return strings.Join(out, "&")
}

func deleteReservationCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete reservations",
		Long:  "Delete reservations. Tasks that run in them run on; jobs that name them wait until they are cancelled.",
		Args:  command.Args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			for i, name := range args {
				if err := servers.RemoveReservation(c.Context(), name); err != nil {
					if i > 0 {
						return fmt.Errorf("%w (deleted: %s)", err, strings.Join(args[:i], ", "))
					}
					return err
				}
			}
			return a.print(c, view{value: args, names: args, people: func(w io.Writer) {
				for _, name := range args {
					fmt.Fprintf(w, "Reservation %s is deleted.\n", visible(name))
				}
			}})
		}),
	}
}
