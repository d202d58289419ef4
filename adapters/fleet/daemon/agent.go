package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/agent/fingerprint"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/server"
)

// AgentSettings are those of "berth agent". What is not set has the default that
// agent.Config says.
type AgentSettings struct {
	Common
	Labels map[string]string `json:"labels,omitempty"` // of the node; jobs choose by them
	// Reserved is what tasks do not get, Other what they may get besides, and MaxTasks
	// how many there may be at once.
	Reserved struct {
		CPU    job.MilliCPU `json:"cpu,omitzero"`
		Memory job.Bytes    `json:"memory,omitzero"`
		Disk   job.Bytes    `json:"disk,omitzero"`
	} `json:"reserved,omitzero"`
	Other    map[string]int64 `json:"other,omitempty"`    // amounts by name; see Reserved
	MaxTasks int64            `json:"maxTasks,omitempty"` // see Reserved
	// Accounts: "users" runs tasks as their owners (needs root, and is the default
	// then), "own" as the agent.
	Accounts agent.Accounts `json:"accounts,omitempty"`
	// MinUID is the lowest user number that tasks may run as. Default: 1000: those below
	// are the system's accounts on most machines.
	MinUID int `json:"minUID,omitempty"`
	// Cgroup is the folder of the control group to work in; "none" uses none.
	Cgroup string `json:"cgroup,omitempty"`
	// PinCores false has tasks that ask for whole cores share them as others do. By
	// default they get cores of their own, where there is a cpuset controller.
	PinCores *bool `json:"pinCores,omitempty"`

	// Prolog and Epilog run before and after each task, Health every HealthEvery.
	Prolog      HookSettings `json:"prolog,omitzero"`
	Epilog      HookSettings `json:"epilog,omitzero"`      // see Prolog
	Health      HookSettings `json:"health,omitzero"`      // see Prolog
	HealthEvery job.Duration `json:"healthEvery,omitzero"` // see Prolog

	// Of a task's log the last LogFiles files of LogFile bytes are kept, of ended tasks
	// what is younger than KeepFor, and at most KeepBytes in all: see agent.Keep.
	LogFile   job.Bytes    `json:"logFile,omitzero"`
	LogFiles  int          `json:"logFiles,omitempty"` // see LogFile
	KeepFor   job.Duration `json:"keepFor,omitzero"`   // see LogFile
	KeepBytes job.Bytes    `json:"keepBytes,omitzero"` // see LogFile
	// MaxKillGrace is the longest time from TERM to KILL that a job may ask for,
	// MaxProcesses how many processes a task may have, MaxStarts how many tasks may be
	// on their way to their start at once.
	MaxKillGrace job.Duration `json:"maxKillGrace,omitzero"`
	MaxProcesses int64        `json:"maxProcesses,omitempty"` // see MaxKillGrace
	MaxStarts    int          `json:"maxStarts,omitempty"`    // see MaxKillGrace
}

// HookSettings is a program of the operator's, and how long it may take.
type HookSettings struct {
	Command []string     `json:"command,omitempty"` // the program and its arguments
	Limit   job.Duration `json:"limit,omitzero"`    // then it is killed, and has failed; default: 1 min
}

// readsLogs are who may read logs from an agent itself.
var readsLogs = []pki.Role{pki.Server, pki.Operator}

const agentCredential = "agent.pem"

// AgentCommand is "berth agent".
func AgentCommand(version string) *cobra.Command {
	var s AgentSettings
	var config string
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run the agent of a node",
		Long: `Run the agent of a node, until it is interrupted. Tasks go on under their shims,
and the next agent finds them.

The first start joins the fleet with --servers and --join-token-file (berth
server join-token agent). Later starts need --servers only.`,
		Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flagsOver(c.Flags(), func() error { return readSettings(config, &s) }); err != nil {
				return err
			}
			if err := s.fill(agentData, agentPort); err != nil {
				return err
			}
			log, err := s.logger()
			if err != nil {
				return err
			}
			return s.run(c.Context(), version, log)
		},
	}
	s.addTo(c.Flags(), agentData, agentPort)
	c.Flags().StringVar(&config, "config", "", "`file` of settings (YAML)")
	c.Flags().StringToStringVar(&s.Labels, "label", nil, "`labels` of the node, name=value")
	return c
}

// run runs an agent until ctx ends.
func (s *AgentSettings) run(ctx context.Context, version string, log hclog.Logger) error {
	if len(s.Servers) == 0 {
		return command.Mistakef("--servers, or servers in the settings: name the servers of the fleet")
	}
	if err := os.MkdirAll(s.Data, 0o711); err != nil {
		return err
	}
	if err := s.enrol(ctx); err != nil {
		return err
	}
	keeper, err := pki.NewKeeper(pki.Files{
		CA: filepath.Join(s.Data, pki.CAFile), Credential: filepath.Join(s.Data, agentCredential),
	}, log.Named("pki"))
	if err != nil {
		return err
	}
	cl, err := client.New(client.Config{
		Servers: s.Servers, TLS: keeper.ClientTLS(pki.Identity{Role: pki.Server}), UserAgent: "berth-agent/" + version,
	})
	if err != nil {
		return err
	}
	defer cl.Close()
	l, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(s.Advertise); err == nil && port == "0" {
		host, _, _ := net.SplitHostPort(s.Advertise)
		_, port, _ = net.SplitHostPort(l.Addr().String())
		s.Advertise = net.JoinHostPort(host, port)
	}
	a, err := agent.New(s.config(version, cl, log))
	if err != nil {
		l.Close()
		return err
	}
	log.Info("the agent listens", "address", l.Addr().String(), "node", s.Name)
	all, inner := errgroup.WithContext(ctx)
	all.Go(func() error { return a.Run(inner) })
	all.Go(func() error { return serveAgent(inner, l, keeper, a.Handler(), log) })
	all.Go(func() error { s.renew(inner, keeper, cl, log); return nil })
	return all.Wait()
}

// config is what the agent is made from.
func (s *AgentSettings) config(version string, cl agent.Server, log hclog.Logger) agent.Config {
	hook := func(h HookSettings) agent.Hook { return agent.Hook{Command: h.Command, Limit: time.Duration(h.Limit)} }
	cfg := agent.Config{
		Node: s.Name, Address: s.Advertise, Version: version, DataDir: filepath.Join(s.Data, "tasks"), Server: cl,
		Machine: fingerprint.Options{
			Labels: s.Labels, Other: s.Other, MaxTasks: s.MaxTasks,
			Reserved: fingerprint.Reserved{CPU: s.Reserved.CPU, Memory: s.Reserved.Memory, Disk: s.Reserved.Disk},
		},
		Accounts: s.Accounts, MinUID: s.MinUID, Cgroup: s.Cgroup,
		NoPinning: s.PinCores != nil && !*s.PinCores,
		Prolog:    hook(s.Prolog), Epilog: hook(s.Epilog), Health: hook(s.Health), HealthEvery: time.Duration(s.HealthEvery),
		Keep:         agent.Keep{For: time.Duration(s.KeepFor), Bytes: s.KeepBytes},
		MaxKillGrace: time.Duration(s.MaxKillGrace), MaxProcesses: s.MaxProcesses, MaxStarts: s.MaxStarts,
		Logger: log.Named("agent"),
	}
	if s.LogFile > 0 || s.LogFiles > 0 {
		cfg.Logs = agent.LogLimits{FileBytes: s.LogFile, Files: s.LogFiles}
	}
	return cfg
}

// enrol makes sure that the agent has a certificate.
func (s *AgentSettings) enrol(ctx context.Context) error {
	path := filepath.Join(s.Data, agentCredential)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	join, err := s.join(false)
	if err != nil {
		return err
	}
	if join == nil || join.Token == "" {
		return fmt.Errorf("there is no certificate in %s: join the fleet with --join-token-file, or tokenFile in the settings", path)
	}
	got, key, err := server.RequestCertificate(ctx, pki.Identity{Role: pki.Agent, Name: s.Name}, join, s.hosts())
	if err != nil {
		return err
	}
	c, err := pki.NewCredential([]byte(got.Certificate), key)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Data, pki.CAFile), []byte(got.CA), 0o644); err != nil {
		return err
	}
	return c.Save(path, true)
}

// renew renews the agent's certificate in time.
func (s *AgentSettings) renew(ctx context.Context, keeper *pki.Keeper, cl *client.Client, log hclog.Logger) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if pki.NeedsRenewal(keeper.Credential().Cert, time.Now()) {
			err := pki.Renew(ctx, filepath.Join(s.Data, agentCredential), func(ctx context.Context, csr []byte) ([]byte, error) {
				got, err := cl.Join(ctx, api.JoinRequest{Name: s.Name, CSR: string(csr), Hosts: s.hosts()})
				return []byte(got.Certificate), err
			})
			if err != nil && ctx.Err() == nil {
				log.Error("the agent's certificate could not be renewed", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// serveAgent serves logs to servers and operators, and metrics and health to all.
func serveAgent(ctx context.Context, l net.Listener, k *pki.Keeper, h http.Handler, log hclog.Logger) error {
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			who, err := pki.PeerIdentity(*r.TLS)
			if err != nil || !slices.Contains(readsLogs, who.Role) {
				http.Error(w, "logs are read through a server", http.StatusForbidden)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
	srv := &http.Server{
		Handler: guarded, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, ErrorLog: log.Named("http").StandardLogger(nil),
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(tls.NewListener(l, k.ServerTLS("h2", "http/1.1"))); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
