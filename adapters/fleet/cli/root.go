package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
)

// app is what the commands share. It is for one run.
type app struct {
	version  string
	settings settings
	format   string // of --format
	getenv   func(string) string
	environ  []string
	now      func() time.Time
	// dir, hostname and umask say where commands are called, as far as that is known.
	dir, hostname, umask string
	// pause waits between two looks at something.
	pause func(context.Context, time.Duration) error
	// patience is that of the client.
	patience time.Duration
}

// patience outlasts a change of leader, and is no longer than people have.
const patience = 8 * time.Second

// NewCommand is the command "berth" with the commands for users and operators, and
// extra ones. Where one of these is "server", it gets the commands that operate
// servers.
func NewCommand(version string, extra ...*cobra.Command) *cobra.Command {
	a := &app{version: version, getenv: os.Getenv, environ: os.Environ(), now: time.Now, pause: sleep, patience: patience}
	a.dir, _ = os.Getwd() // "submit" says so where it needs it
	a.hostname, _ = os.Hostname()
	a.umask = umask()
	return newCommand(a, extra)
}

func newCommand(a *app, extra []*cobra.Command) *cobra.Command {
	root := group("berth", "Batch jobs on a fleet of machines",
		submitCommand(a), jobsCommand(a), jobCommand(a), explainCommand(a), logsCommand(a), waitCommand(a),
		cancelCommand(a), holdCommand(a), releaseCommand(a), requeueCommand(a),
		nodesCommand(a), nodeCommand(a), queueCommand(a), accountCommand(a), userCommand(a), limitCommand(a), shareCommand(a), prioCommand(a), reservationCommand(a), eventsCommand(a), usageCommand(a), topCommand(a), tokenCommand(a),
	)
	root.Long = `Batch jobs on a fleet of machines.

The addresses of the servers and your credentials come from flags, from the environment
variables named beside the flags below, or from ~/.config/berth/config.yaml or the file
that BERTH_CONFIG names. The file may set servers, caCert, clientCert, and tokenFile or
token; BERTH_TOKEN may hold the token, too.

Exit codes: 0 done; 1 failed; 2 a mistake in the command line, a file or a request;
3 not found; 4 not allowed; 5 no server could be reached. "wait" and "submit --wait"
exit with the code of the job, or with 125.`
	root.Version = a.version
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetVersionTemplate("berth {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.Mistake(err) })
	fs := root.PersistentFlags()
	a.settings.addTo(fs)
	fs.StringVarP(&a.format, "format", "o", "", "`how` to print: json, yaml or name; a table without it")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		var empty error
		fs.VisitAll(func(f *pflag.Flag) { empty = errors.Join(empty, notEmpty(f)) })
		return errors.Join(empty, checkFormat(c.Name(), a.format))
	}

	operate := serverCommands(a)
	for _, c := range extra {
		if c.Name() == "server" {
			c.AddCommand(operate...)
			operate = nil
		}
	}
	if operate != nil {
		root.AddCommand(group("server", "Manage the servers", operate...))
	}
	root.AddCommand(extra...)
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(&cobra.Command{
		Use: "version", Short: "Print the version", Args: command.Args(0, 0),
		Run: func(c *cobra.Command, _ []string) { fmt.Fprintf(c.OutOrStdout(), "berth %s\n", a.version) },
	})
	return root
}

// helpCommand prints the help of a command. Cobra's own succeeds where there is none.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return command.NoCommand(root, strings.Join(args, " "))
			}
			return c.Help()
		},
	}
}

// umask is that of the process, which cannot be read without setting it.
func umask() string {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fmt.Sprintf("%04o", mask)
}

// group is a command that only has others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// filled refuses options of the command that are given as an empty text, as a script does
// whose variable is not set: it would mean what leaving them out means, which is more, such
// as the jobs of all users, or a token that is good for ever.
func filled(c *cobra.Command, options ...string) {
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, name := range options {
			if err := notEmpty(c.Flags().Lookup(name)); err != nil {
				return err
			}
		}
		return nil
	}
}

// notEmpty refuses an option that is given as an empty text.
func notEmpty(f *pflag.Flag) error {
	if f.Changed && f.Value.String() == "" {
		return command.Mistakef("--%s is empty: give it a value, or leave it out", f.Name)
	}
	return nil
}

// client connects as the settings say.
func (a *app) client() (*client.Client, error) {
	config, err := a.settings.resolve(a.getenv)
	if err != nil {
		return nil, err
	}
	config.Patience = a.patience
	config.UserAgent = "berth/" + a.version
	servers, err := client.New(config)
	if err != nil {
		return nil, command.Mistake(err)
	}
	return servers, nil
}

// with makes the function of a command that needs a client.
func (a *app) with(f func(c *cobra.Command, servers *client.Client, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		servers, err := a.client()
		if err != nil {
			return err
		}
		defer servers.Close()
		return f(c, servers, args)
	}
}

// sleep waits, or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
