package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
)

// serverCommands are those that operate servers.
func serverCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		statusCommand(a), membersCommand(a), removeMemberCommand(a), backupCommand(a), restoreCommand(a), joinTokenCommand(a),
		revokeCommand(a), revocationsCommand(a),
	}
}

func statusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the state of the servers", Args: command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			s, err := servers.ServerStatus(c.Context())
			if err != nil {
				return err
			}
			return a.print(c, view{value: s, names: []string{s.ID}, people: func(w io.Writer) {
				leader := or(s.Leader, "none now")
				if s.Leader == s.ID {
					leader += " (this server)"
				}
				fields(w, "Server", s.ID, "Version", s.Version, "State", stateVersion(&s), "Leader", leader, "Term", strconv.FormatUint(s.Term, 10),
					"Applied", strconv.FormatUint(s.Applied, 10), "Started", a.stamp(s.Started), "Nodes", strconv.Itoa(s.Nodes),
					"Jobs", strconv.Itoa(s.Jobs), "Pending", strconv.Itoa(s.Pending), "Running", strconv.Itoa(s.Running))
				fields(w, "To place", partsOfQueue(s.Queue))
			}})
		}),
	}
}

// stateVersion says which version the fleet's state has, and whether that is all that the server knows.
func stateVersion(s *api.ServerStatus) string {
	switch {
	case s.StateVersion == 0: // an older server
		return ""
	case s.StateVersion < s.KnownVersion:
		return fmt.Sprintf("version %d, and %d when all servers know it", s.StateVersion, s.KnownVersion)
	}
	return fmt.Sprintf("version %d", s.StateVersion)
}

// partsOfQueue says in plain words how many tasks are in each part of the engine's queue.
func partsOfQueue(counts map[string]int) string {
	var parts []string
	for _, p := range [][2]string{
		{"active", "to be tried now"}, {"inFlight", "being placed"}, {"backoff", "in a short pause after a try"},
		{"unschedulable", "that did not fit when tried"}, {"gated", "not to be tried yet"},
		{"oldBinding", "held back by an earlier start that was called off"},
	} {
		if n := counts[p[0]]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, p[1]))
		}
	}
	return strings.Join(parts, ", ")
}

func membersCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the servers", Args: command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Members(c.Context())
			if err != nil {
				return err
			}
			v := view{value: list}
			t := a.newTable(c, "SERVER", "ADDRESS", "LEADER", "VOTER", "STATE", "HEARD")
			word := map[bool]string{true: "yes", false: "no"}
			for _, m := range list.Members {
				v.names = append(v.names, m.ID)
				t.row(m.ID, m.Address, word[m.Leader], word[m.Voter], string(m.State), a.stamp(m.Heard))
			}
			v.people = t.write
			return a.print(c, v)
		}),
	}
}

func removeMemberCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove SERVER", Short: "Remove a server from the cluster of servers", Args: command.Args(1, 1),
		Long: `Remove a server from the cluster of servers, whether it runs or not. Its certificates are
revoked: its program ends with an error that says so, and does not join again with its
data folder. Stop its unit and delete the folder, which has the key of the fleet's
authority. A server of the same name can join with an empty folder and a new token
("berth server join-token server").`,
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			if err := servers.RemoveMember(c.Context(), args[0]); err != nil {
				return err
			}
			return a.print(c, view{value: args, names: args, people: func(w io.Writer) {
				fmt.Fprintf(w, "Server %s has been removed.\n", visible(args[0]))
			}})
		}),
	}
}

func backupCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: `Write a copy of the state to a new file; "-" is the standard output`,
		Args:  command.Args(1, 1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			from, err := servers.Backup(c.Context())
			if err != nil {
				return err
			}
			defer from.Close()
			if args[0] == "-" {
				_, err := io.Copy(c.OutOrStdout(), from)
				return err
			}
			n, err := writeBackup(args[0], from)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "berth: %d bytes are in %s\n", n, args[0])
			return nil
		}),
	}
}

// writeBackup writes a file that is there only when it is whole. It has all jobs,
// so it is its owner's alone.
func writeBackup(path string, from io.Reader) (n int64, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return 0, command.Mistakef("%s is there already: name another file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".berth-backup-*") // its mode is 0600
	if err != nil {
		return 0, command.Mistakef("%s: %w", path, errors.Unwrap(err))
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	n, err = io.Copy(f, from)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return n, fmt.Errorf("writing the backup: %w", err)
	}
	// A link fails where somebody has made the file in between.
	if err := os.Link(f.Name(), path); err != nil {
		return n, err
	}
	return n, os.Remove(f.Name())
}

func restoreCommand(a *app) *cobra.Command {
	sure := false
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: `Replace the state by a backup; "-" is the standard input`,
		Long: `Replace the state by a backup. All that has happened since it was made is
forgotten: jobs that were submitted are gone, and tasks that were started are ended
when their nodes hear of it. What ran before goes on, or is tried again where its
node does not know it any more. Numbers of new jobs and attempts are far above all
that were used. Tokens that were made since are gone, those that were removed since
are good again; revocations stay. "berth events" begins anew, without what it had.`,
		Args: command.Args(1, 1),
	}
	c.Flags().BoolVar(&sure, "yes", false, "it is meant")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		if !sure {
			return command.Mistake(errors.New("everything that has happened since the backup will be lost, with the jobs and tokens made since, and all events: " +
				"to go ahead, repeat the command with --yes"))
		}
		from := c.InOrStdin()
		if args[0] != "-" {
			f, err := open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			from = f
		}
		if err := servers.Restore(c.Context(), from); err != nil {
			return err
		}
		return a.print(c, view{value: args, names: args, people: func(w io.Writer) { fmt.Fprintln(w, "The state is that of the backup.") }})
	})
	return c
}

func joinTokenCommand(a *app) *cobra.Command {
	expires, out := "1h", ""
	c := &cobra.Command{
		Use:       "join-token agent|server",
		Short:     "Create a token that lets new machines join, and print it",
		Example:   "  berth server join-token agent --out agent-token",
		Args:      command.Args(1, 1),
		ValidArgs: []string{string(api.RoleAgent), string(api.RoleServer)},
	}
	c.Flags().StringVar(&expires, "expires", expires, "`duration` for which it is good")
	addOut(c, &out)
	filled(c, "expires", "out")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		if !slices.Contains(c.ValidArgs, args[0]) {
			return command.Mistakef("%q is neither agent nor server", args[0])
		}
		until, err := a.expiry(expires)
		if err != nil {
			return err
		}
		return a.giveToken(c, out, func() (api.TokenResponse, error) {
			return servers.CreateJoinToken(c.Context(), api.JoinTokenRequest{Role: api.Role(args[0]), Expires: until})
		})
	})
	return c
}
