package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/server"
)

// dev is a fleet of one machine.
type dev struct {
	version string
	dir     string
	listen  string
	// agentAddress is where the agent listens.
	agentAddress string
	verbose      bool
	log          hclog.Logger
	// temporary: the folder goes at the end, so nothing may be left that runs.
	temporary bool
	command   job.ID // 0: there is none
}

// ExitError asks the program to end with a job's exit code.
type ExitError int

// Error implements error.
func (e ExitError) Error() string { return fmt.Sprintf("the job ended with exit code %d", int(e)) }

// ExitCode is the job's.
func (e ExitError) ExitCode() int { return int(e) }

// DevCommand is "berth dev".
func DevCommand(version string) *cobra.Command {
	d := &dev{version: version}
	c := &cobra.Command{
		Use:   "dev [-- command...]",
		Short: "Run a server and an agent on this machine, to try things out",
		Long: `Run a server and an agent in one process, to try things out. With a command it
runs that as a job in the present directory, prints what it writes, and ends with
its exit code; without, it goes on until it is interrupted, and prints how to reach
it. At its end it cancels the command, and in a temporary folder all other jobs, too.
With --data those go on, and the next "dev" with that folder finds them.`,
		RunE: func(c *cobra.Command, args []string) error {
			level := hclog.Off
			if d.verbose {
				level = hclog.Info
			}
			d.log = hclog.New(&hclog.LoggerOptions{Name: "berth", Level: level, Output: os.Stderr})
			return d.run(c.Context(), c.OutOrStdout(), args)
		},
	}
	c.Flags().StringVar(&d.dir, "data", "", "`folder` of all that is kept (default: a temporary one)")
	c.Flags().StringVar(&d.listen, "listen", "127.0.0.1:0", "`address` to listen on")
	c.Flags().BoolVarP(&d.verbose, "verbose", "v", false, "log what happens")
	return c
}

// run runs the fleet, and the command in it if there is one.
func (d *dev) run(ctx context.Context, out io.Writer, args []string) error {
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "berth-dev-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		d.dir, d.temporary = dir, true
	}
	if err := d.fixPort(); err != nil {
		return err
	}
	s, err := server.New(ctx, server.Config{
		ID: "dev", Dir: filepath.Join(d.dir, "server"), Listen: d.listen, Bootstrap: true, Version: d.version, Slowness: 0.1,
		Logger: d.log.Named("server"),
	})
	if err != nil {
		return err
	}
	if err := d.prepare(); err != nil {
		return errors.Join(err, s.Close())
	}
	// When ctx ends, server and agent are still needed to end what runs.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	all, inner := errgroup.WithContext(running)
	all.Go(func() error { return s.Run(inner) })
	all.Go(func() error { return d.agent().run(inner, d.version, d.log.Named("agent")) })
	all.Go(func() error {
		defer stop()
		used, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(inner, cancel)()
		defer cancel()
		return d.use(used, inner, out, args)
	})
	return all.Wait()
}

// fixPort chooses the port, so that it stays the same when the folder is used again.
func (d *dev) fixPort() error {
	l, err := net.Listen("tcp", d.listen)
	if err != nil {
		return err
	}
	d.listen = l.Addr().String()
	return l.Close()
}

// fixAgent chooses the agent's address, the one that it had before where that is free: a
// node that is elsewhere is taken for another machine of its name, for a while.
func (d *dev) fixAgent() error {
	path := filepath.Join(d.dir, "agent", "address")
	d.agentAddress = "127.0.0.1:0"
	if before, err := os.ReadFile(path); err == nil {
		d.agentAddress = string(before)
	}
	l, err := net.Listen("tcp", d.agentAddress)
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	d.agentAddress = l.Addr().String()
	return errors.Join(l.Close(), os.WriteFile(path, []byte(d.agentAddress), 0o600))
}

// settingsFile is how the command line finds the fleet.
func (d *dev) settingsFile() string { return filepath.Join(d.dir, "config.yaml") }

// prepare gives the agent its certificate, and writes how the fleet is reached.
func (d *dev) prepare() error {
	dir := filepath.Join(d.dir, "agent")
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	if err := d.fixAgent(); err != nil {
		return err
	}
	authority, err := pki.LoadAuthority(filepath.Join(d.dir, "server"))
	if err != nil {
		return err
	}
	c, err := authority.Issue(pki.Grant{Identity: pki.Identity{Role: pki.Agent, Name: "dev"}, Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return err
	}
	if err := c.Save(filepath.Join(dir, agentCredential), true); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, pki.CAFile), authority.CAPEM(), 0o644); err != nil {
		return err
	}
	text, err := yaml.Marshal(map[string]string{
		"servers":    d.listen,
		"caCert":     filepath.Join(d.dir, "server", pki.CAFile),
		"clientCert": filepath.Join(d.dir, "server", "admin.pem"),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(d.settingsFile(), text, 0o600)
}

// agent are the settings of the one agent.
func (d *dev) agent() *AgentSettings {
	return &AgentSettings{
		Common: Common{
			Name: "dev", Data: filepath.Join(d.dir, "agent"), Listen: d.agentAddress, Advertise: d.agentAddress,
			Servers: []string{d.listen},
		},
		Accounts: agent.AccountsOwn,
	}
}

// use runs the command, or says how to reach the fleet and waits for the end of ctx. Then it
// ends what runs, while the fleet does.
func (d *dev) use(ctx, fleet context.Context, out io.Writer, args []string) error {
	keeper, err := pki.NewKeeper(pki.Files{
		CA:         filepath.Join(d.dir, "server", pki.CAFile),
		Credential: filepath.Join(d.dir, "server", "admin.pem"),
	}, d.log)
	if err != nil {
		return err
	}
	cl, err := client.New(client.Config{Servers: []string{d.listen}, TLS: keeper.ClientTLS(pki.Identity{Role: pki.Server})})
	if err != nil {
		return err
	}
	defer cl.Close()
	if err := waitForNode(ctx, cl); err != nil {
		return err
	}
	if len(args) == 0 {
		fmt.Fprintf(out, "The fleet is ready. In another shell:\n\n    export BERTH_CONFIG=%s\n    berth submit -- echo hello\n\n", d.settingsFile())
		<-ctx.Done()
	} else {
		err = d.runJob(ctx, cl, out, args)
	}
	return errors.Join(err, d.endJobs(fleet, cl))
}

// unended are the states of jobs that endJobs looks for.
const unended = string(job.Pending + "," + job.Starting + "," + job.Running + "," + job.Completing)

// endJobs cancels the jobs that may not outlast this program, and waits until they have ended.
func (d *dev) endJobs(fleet context.Context, cl *client.Client) error {
	const limit = 2 * time.Duration(job.DefaultKillGrace)
	ctx, cancel := context.WithTimeout(fleet, limit)
	defer cancel()
	for {
		list, err := cl.Jobs(ctx, client.JobFilter{State: unended, Limit: api.MaxPage})
		if err != nil {
			return fmt.Errorf("tasks may be left that run: %w", err)
		}
		left := 0
		for _, j := range list.Jobs {
			if !d.temporary && j.ID != d.command {
				continue
			}
			if left++; j.State != job.Completing {
				_, err = cl.Cancel(ctx, j.ID, api.Selection{Reason: "berth dev ended"})
			}
			if err != nil {
				return fmt.Errorf("tasks may be left that run: %w", err)
			}
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d jobs are left that do not end", left)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// waitForNode waits until a node is there.
func waitForNode(ctx context.Context, cl *client.Client) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if nodes, err := cl.Nodes(ctx, 1, ""); err == nil && len(nodes.Nodes) > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// runJob runs a command as a job, and prints what it writes.
func (d *dev) runJob(ctx context.Context, cl *client.Client, out io.Writer, args []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	got, err := cl.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{{Command: args, Dir: dir, SubmitDir: dir, SubmitHost: host}}})
	if err != nil {
		return err
	}
	id := got.Jobs[0]
	d.command = id
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		j, err := cl.Job(ctx, id)
		if err != nil {
			return err
		}
		if j.State.Ended() {
			return jobEnd(ctx, cl, out, &j)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// jobEnd prints what a job has written, and makes its exit code the program's.
func jobEnd(ctx context.Context, cl *client.Client, out io.Writer, j *api.JobDetail) error {
	for stream, to := range map[api.Stream]io.Writer{api.Stdout: out, api.Stderr: os.Stderr} {
		text, err := cl.Logs(ctx, j.ID, api.LogQuery{Stream: stream})
		var none *api.Error
		if errors.As(err, &none) && none.Code == api.CodeNotFound {
			break // it never ran
		}
		if err != nil {
			return err
		}
		_, err = io.Copy(to, text)
		if err := errors.Join(err, text.Close()); err != nil {
			return err
		}
	}
	last := j.Attempts[len(j.Attempts)-1]
	switch {
	case j.State == job.Completed:
		return nil
	case last.Exit != nil && last.Exit.Code > 0:
		if last.Message != "" {
			return fmt.Errorf("%w: %s", ExitError(last.Exit.Code), last.Message)
		}
		return ExitError(last.Exit.Code)
	}
	return fmt.Errorf("the job is %s: %s", j.State, last.Message)
}
