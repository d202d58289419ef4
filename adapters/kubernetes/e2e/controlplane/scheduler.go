package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// SchedulerKind says which scheduler runs.
type SchedulerKind string

// The schedulers. Both take the same flags and the same configuration file.
const (
	Kube  SchedulerKind = "kube"  // the real kube-scheduler
	Berth SchedulerKind = "berth" // berth-scheduler of this checkout
)

// program is the scheduler's.
func (k SchedulerKind) program() (Program, error) {
	switch k {
	case Kube:
		return KubeScheduler, nil
	case Berth:
		return BerthScheduler, nil
	}
	return "", fmt.Errorf("there is no scheduler %q: choose %q or %q", k, Kube, Berth)
}

// Build builds the scheduler if it is not built, so that its start takes no longer
// than the start itself.
func (k SchedulerKind) Build(ctx context.Context) error {
	program, err := k.program()
	if err == nil {
		_, err = Path(ctx, program)
	}
	return err
}

// SchedulerOptions say how a scheduler runs. Kind and Kubeconfig must be set.
type SchedulerOptions struct {
	// Kind says whose program runs, unless Program says otherwise.
	Kind SchedulerKind
	// Program is the one to run where it is not the kind's own, but one that takes the
	// same flags.
	Program Program
	// Kubeconfig is the path of the file that leads to the API server, or to a proxy
	// before it.
	Kubeconfig string
	// Config is the part of the configuration file after apiVersion, kind,
	// clientConnection and leaderElection: YAML that starts with a field name, such
	// as profiles. The default is nothing more.
	Config string
	// LeaderElection is that field of the file, in YAML's flow form. The default is
	// {leaderElect: false}.
	LeaderElection string
	// ConfigFile is the path of a whole configuration file, in place of the two above.
	ConfigFile string
	// FeatureGates of the scheduler.
	FeatureGates map[string]bool
	// Args are more flags, as in "-v=2".
	Args []string
}

// Scheduler is a scheduler that was started, whether it still runs or not.
type Scheduler struct {
	*Process
	Kind SchedulerKind // that of its options, also where these name another Program
	dir  string
	port string
}

// StartScheduler builds the scheduler if it is not built, starts it in a temporary
// folder of its own and returns when it says that it is ready, which it does
// whether it leads or not. The error has the end of its log.
func StartScheduler(ctx context.Context, o SchedulerOptions) (*Scheduler, error) {
	var s *Scheduler
	err := withPorts(ctx, 1, func(ctx context.Context, ports []string) error {
		started, err := launchScheduler(ctx, o, ports[0])
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errSlow)
		defer cancel()
		if err := started.ready(ctx, answers(started.URL()+"/readyz", "")); err != nil {
			started.Remove()
			return err
		}
		s = started
		return nil
	})
	return s, err
}

// RunScheduler starts a scheduler that is expected to end by itself, for instance
// because its configuration is wrong, and returns it without waiting for anything.
func RunScheduler(ctx context.Context, o SchedulerOptions) (*Scheduler, error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	return launchScheduler(ctx, o, ports[0])
}

func launchScheduler(ctx context.Context, o SchedulerOptions, port string) (*Scheduler, error) {
	program, err := o.program()
	if err != nil {
		return nil, err
	}
	path, err := Path(ctx, program)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "berth-e2e-scheduler-")
	if err != nil {
		return nil, err
	}
	process, err := o.launch(string(program), path, dir, port)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &Scheduler{Process: process, Kind: o.Kind, dir: dir, port: port}, nil
}

func (o SchedulerOptions) program() (Program, error) {
	if o.Program != "" {
		return o.Program, nil
	}
	return o.Kind.program()
}

func (o SchedulerOptions) launch(name, path, dir, port string) (*Process, error) {
	file, err := o.file(dir)
	if err != nil {
		return nil, err
	}
	args := []string{
		"--config=" + file,
		"--bind-address=" + host, "--secure-port=" + port, "--cert-dir=" + dir,
		"--authentication-kubeconfig=" + o.Kubeconfig, "--authorization-kubeconfig=" + o.Kubeconfig,
		"--authorization-always-allow-paths=/healthz,/readyz,/livez",
	}
	args = append(append(args, gatesFlag(o.FeatureGates)...), o.Args...)
	return launch(name, path, dir, args...)
}

// file writes the configuration file, unless there is one, and returns its path.
// The client is not limited: by default both schedulers would bind 50 pods a second.
func (o SchedulerOptions) file(dir string) (string, error) {
	if o.ConfigFile != "" {
		return o.ConfigFile, nil
	}
	election := o.LeaderElection
	if election == "" {
		election = "{leaderElect: false}"
	}
	path := filepath.Join(dir, "config.yaml")
	content := fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 5000, burst: 5000}
leaderElection: %s
%s
`, o.Kubeconfig, election, o.Config)
	return path, os.WriteFile(path, []byte(content), 0o600)
}

// URL is the address at which the scheduler serves health and metrics.
func (s *Scheduler) URL() string { return "https://" + host + ":" + s.port }

// CAFile is the path of the certificate that the scheduler has made for itself, which
// it is verified by.
func (s *Scheduler) CAFile() string { return filepath.Join(s.dir, "kube-scheduler.crt") }

// Get asks the scheduler for a path, such as "/metrics", with the token of a user if
// there is one, and returns the status and the body.
func (s *Scheduler) Get(path, token string) (status int, body string, err error) {
	return get(s.URL()+path, token)
}

// Remove kills the scheduler, if it still runs, and removes its files, its log
// among them.
func (s *Scheduler) Remove() {
	s.Kill()
	_ = os.RemoveAll(s.dir) // a temporary folder: what stays does no harm
}
