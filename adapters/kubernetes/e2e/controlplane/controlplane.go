package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options of a control plane. The zero value is a control plane with the API
// server's defaults.
type Options struct {
	// FeatureGates of the API server and the controller manager. Schedulers have
	// their own.
	FeatureGates map[string]bool
	// RuntimeConfig is which API versions are served beside the default ones, as in
	// "scheduling.k8s.io/v1beta1=true".
	RuntimeConfig []string
	// Users beside AdminUser and SchedulerUser. What they may do is up to the roles
	// that the test binds them to.
	Users []User
}

// ControlPlane is a running etcd and kube-apiserver, and what was started beside
// them. Its methods may be called from any goroutine, except that those that start
// or stop something must not overlap.
type ControlPlane struct {
	options  Options
	dir      string
	accounts []account
	etcdURL  string
	port     string // of the API server
	programs map[Program]*Process
}

// startPatience bounds the start of one program that is built. On a machine that is
// not busy it takes three seconds.
const startPatience = 2 * time.Minute

// Start builds what is not built, starts etcd and the API server in a temporary
// folder of their own and returns when the API server is ready. The error says which
// program failed and has the end of its log; nothing is left running then.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	dir, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{options: o, dir: dir, accounts: accounts(o.Users), programs: map[Program]*Process{}}
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context) error {
	if err := writeTokens(c.file("tokens.csv"), c.accounts); err != nil {
		return err
	}
	if err := c.writeKeys(); err != nil {
		return err
	}
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	err := withPorts(ctx, 1, func(ctx context.Context, ports []string) error {
		c.port = ports[0]
		return c.startAPIServer(ctx)
	})
	if err != nil {
		return err
	}
	for _, a := range c.accounts {
		if err := c.WriteKubeconfig(c.Kubeconfig(a.Name), a.Name, c.URL(), ""); err != nil {
			return err
		}
	}
	return nil
}

// Stop kills everything that was started, and removes its files. It may be called
// again.
func (c *ControlPlane) Stop() {
	// The API server before etcd, so that it does not fill its log.
	for _, p := range []Program{Kwok, ControllerManager, APIServer, Etcd} {
		if process := c.programs[p]; process != nil {
			process.Kill()
			delete(c.programs, p)
		}
	}
	_ = os.RemoveAll(c.dir) // a temporary folder: what stays does no harm
}

// StopProgram kills one of the programs that was started, if it runs.
func (c *ControlPlane) StopProgram(p Program) {
	if process := c.programs[p]; process != nil {
		process.Kill()
	}
}

// RestartAPIServer kills the API server, starts it again on the same port and
// returns when it is ready. Its clients see broken connections.
func (c *ControlPlane) RestartAPIServer(ctx context.Context) error {
	c.StopProgram(APIServer)
	var err error
	for range portAttempts { // a client's own port may be the one, for a moment
		if err = c.startAPIServer(ctx); err == nil || !portTaken(err) {
			return err
		}
	}
	return err
}

// Process is the running program, or the one that ran last; nil if it was never
// started.
func (c *ControlPlane) Process(p Program) *Process { return c.programs[p] }

// URL is that of the API server.
func (c *ControlPlane) URL() string { return "https://" + host + ":" + c.port }

// Dir is a folder for files that may go when the control plane is stopped.
func (c *ControlPlane) Dir() string { return c.dir }

func (c *ControlPlane) file(name string) string { return filepath.Join(c.dir, name) }

// caFile is what clients verify the API server by: it has made its own certificate.
func (c *ControlPlane) caFile() string { return c.file("apiserver.crt") }

// gatesFlag is the flag for feature gates, sorted, or none.
func gatesFlag(gates map[string]bool) []string {
	if len(gates) == 0 {
		return nil
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		list = append(list, fmt.Sprintf("%s=%t", name, gates[name]))
	}
	return []string{"--feature-gates=" + strings.Join(list, ",")}
}

// launchReady starts a program and waits until it is ready. One that does not get
// ready is killed.
func (c *ControlPlane) launchReady(ctx context.Context, p Program, check func() error, args ...string) error {
	path, err := Path(ctx, p)
	if err != nil {
		return err
	}
	process, err := launch(string(p), path, c.dir, args...)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, errSlow)
	defer cancel()
	if err := process.ready(ctx, check); err != nil {
		process.Kill()
		return err
	}
	c.programs[p] = process
	return nil
}

var errSlow = errors.New("it took too long")
