package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/daemon"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Cluster is a fleet that runs, as a test sees it. Its methods may be called by any
// goroutine, but those that fail the test by that of the test only.
type Cluster struct {
	// User is the operator that the first server has made. Its commands and methods
	// are those of the cluster.
	*User
	*fleet
	t testing.TB
}

// fleet is what all tests share that see the cluster.
type fleet struct {
	// Client speaks as the operator with all servers.
	Client *client.Client

	options Options
	program string
	dir     string // of data
	logs    string
	network network
	work    sync.WaitGroup

	mu        sync.Mutex
	processes map[string]*Process
	disks     map[string]*Disk
	ones      map[string]*client.Client
	cuts      map[[2]string]bool
}

// For is the same cluster for a part of the test: that is what fails.
func (c *Cluster) For(t testing.TB) *Cluster {
	part := &Cluster{fleet: c.fleet, t: t}
	part.User = &User{cluster: part, certificate: c.certificate, token: c.token}
	return part
}

// logsPrefix is what folders of logs begin with, beside the data's.
const logsPrefix = "logs-"

// Start starts a fleet, and waits until it is whole. It ends with the test.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := start(t, o.withDefaults())
	if err != nil {
		t.Fatalf("the fleet cannot be started: %v", err)
	}
	return c
}

func start(t testing.TB, o Options) (*Cluster, error) {
	program, err := berth()
	if err != nil {
		return nil, err
	}
	run, err := runDir()
	if err != nil {
		return nil, err
	}
	name := strings.Map(plain, t.Name())
	c := &Cluster{t: t, fleet: &fleet{
		options: o, program: program, dir: filepath.Join(run, strconv.Itoa(int(networks.Load()))+"-"+name[:min(len(name), 20)]),
		logs: filepath.Join(run, logsPrefix+name), network: newNetwork(),
		processes: map[string]*Process{}, disks: map[string]*Disk{}, ones: map[string]*client.Client{}, cuts: map[[2]string]bool{},
	}}
	t.Cleanup(c.close)
	t.Logf("the fleet runs on %s", c.network)
	if err := errors.Join(os.MkdirAll(c.dir, 0o711), os.Chmod(c.dir, 0o711), os.MkdirAll(c.logs, 0o700)); err != nil {
		return nil, err
	}
	if err := c.found(); err != nil {
		return nil, err
	}
	for i := 2; i <= o.Servers; i++ {
		if _, err := c.addServer(fmt.Sprintf("s%d", i)); err != nil {
			return nil, err
		}
	}
	for _, a := range o.Agents {
		if _, err := c.addAgent(a); err != nil {
			return nil, err
		}
	}
	return c, c.whole()
}

func plain(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// found starts the first server, and becomes its operator.
func (c *Cluster) found() error {
	s1, err := c.process("s1", serverRole)
	if err != nil {
		return err
	}
	if err := c.configure(s1, c.serverSettings(s1, true)); err != nil {
		return err
	}
	if err := s1.Start(); err != nil {
		return err
	}
	admin := filepath.Join(s1.Data, "admin.pem")
	if err := poll(func() error { _, err := os.Stat(admin); return err }); err != nil {
		return fmt.Errorf("the first server makes no operator: %w", err)
	}
	// The data folder may be a disk that is full, or be emptied: these are the test's.
	for _, name := range []string{"admin.pem", "ca.pem"} {
		text, err := os.ReadFile(filepath.Join(s1.Data, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	c.User = &User{cluster: c, certificate: filepath.Join(c.dir, "admin.pem")}
	if err := c.connect(); err != nil {
		return err
	}
	for _, role := range []role{serverRole, agentRole} {
		var token string
		err := poll(func() error {
			a := c.Try("server", "join-token", string(role))
			token = a.Out
			return a.Err()
		})
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.tokenFile(role), []byte(token), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) tokenFile(r role) string { return filepath.Join(c.dir, string(r)+".token") }

// process makes a machine for a process.
func (c *Cluster) process(name string, role role) (*Process, error) {
	host, port, namespace, err := c.network.add(name)
	if err != nil {
		return nil, err
	}
	p := &Process{
		Name: name, Address: net.JoinHostPort(host, strconv.Itoa(port)), Data: filepath.Join(c.dir, name),
		role: role, program: c.program, namespace: namespace, log: filepath.Join(c.logs, name+".log"), revive: c.options.Revive, work: &c.work,
		over: c.options.Over[name],
	}
	if err := errors.Join(os.Mkdir(p.Data, 0o711), os.Chmod(p.Data, 0o711)); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[name] = p
	if size := c.options.Disks[name]; size > 0 {
		d, err := mount(p.Data, size, slices.Contains(c.options.NoExec, name))
		if err != nil {
			return nil, err
		}
		c.disks[name] = d
	}
	return p, nil
}

// common fills in what servers and agents have in common.
func (c *Cluster) common(p *Process, s daemon.Common) daemon.Common {
	s.Name, s.Data, s.Listen, s.Advertise = p.Name, p.Data, p.Address, p.Address
	return s
}

func (c *Cluster) serverSettings(p *Process, bootstrap bool) *daemon.ServerSettings {
	o := c.options
	s := &daemon.ServerSettings{
		Bootstrap: bootstrap, Rate: 1000,
		Unreachable: job.Duration(o.Unreachable), Lost: job.Duration(o.Lost), Heartbeat: job.Duration(o.Heartbeat),
	}
	s.Common = c.common(p, s.Common)
	if !bootstrap {
		s.Servers, s.TokenFile = c.Addresses(), c.tokenFile(serverRole)
	}
	return s
}

// configure writes the settings' file, and makes it the process's argument.
func (c *Cluster) configure(p *Process, settings any) error {
	text, err := yaml.Marshal(settings)
	if err != nil {
		return err
	}
	path := filepath.Join(c.dir, p.Name+".yaml")
	p.args = []string{string(p.role), "--config", path}
	return os.WriteFile(path, text, 0o600)
}

func (c *Cluster) addServer(name string) (*Process, error) {
	p, err := c.process(name, serverRole)
	if err != nil {
		return nil, err
	}
	if err := c.configure(p, c.serverSettings(p, false)); err != nil {
		return nil, err
	}
	return p, p.Start()
}

// AddServer starts one more server, which joins.
func (c *Cluster) AddServer(name string) *Process {
	c.t.Helper()
	p, err := c.addServer(name)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func (c *Cluster) addAgent(s daemon.AgentSettings) (*Process, error) {
	p, err := c.process(s.Name, agentRole)
	if err != nil {
		return nil, err
	}
	if err := c.configureAgent(p, s); err != nil {
		return nil, err
	}
	return p, p.Start()
}

func (c *Cluster) configureAgent(p *Process, s daemon.AgentSettings) error {
	s.Common = c.common(p, s.Common)
	s.Servers, s.TokenFile = c.Addresses(), c.tokenFile(agentRole)
	return c.configure(p, &s)
}

// AddAgent starts one more agent, and waits for its node.
func (c *Cluster) AddAgent(s daemon.AgentSettings) *Process {
	c.t.Helper()
	p, err := c.addAgent(s)
	if err != nil {
		c.t.Fatal(err)
	}
	c.NodeIs(s.Name, api.NodeReady)
	return p
}

// Process is the server or agent of that name.
func (c *Cluster) Process(name string) *Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[name]
}

// Disk is the small file system of the process of that name.
func (c *Cluster) Disk(name string) *Disk {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.disks[name]
}

// Servers are the names of all servers.
func (c *Cluster) Servers() []string { return c.named(serverRole) }

// Agents are the names of all agents.
func (c *Cluster) Agents() []string { return c.named(agentRole) }

func (c *Cluster) named(role role) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for name, p := range c.processes {
		if p.role == role {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Addresses are those of all servers.
func (c *Cluster) Addresses() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, p := range c.processes {
		if p.role == serverRole {
			out = append(out, p.Address)
		}
	}
	slices.Sort(out)
	return out
}

// CanCut says whether links can be cut.
func (c *Cluster) CanCut() bool { return c.network.cuts() }

// Cut parts two machines: neither can send to the other.
func (c *Cluster) Cut(a, b string) error { return c.link(a, b, true) }

// Heal undoes Cut.
func (c *Cluster) Heal(a, b string) error { return c.link(a, b, false) }

// Isolate takes a machine off the network; Rejoin undoes it.
func (c *Cluster) Isolate(name string) error { return c.link(name, "", true) }

// Rejoin undoes Isolate.
func (c *Cluster) Rejoin(name string) error { return c.link(name, "", false) }

func (c *Cluster) link(a, b string, cut bool) error {
	if a < b {
		a, b = b, a
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cuts[[2]string{a, b}] == cut {
		return nil
	}
	c.cuts[[2]string{a, b}] = cut
	if cut {
		return c.network.cut(a, b)
	}
	return c.network.heal(a, b)
}

// tailLines is how much of each log a failed test shows.
const tailLines = 40

// close takes everything away.
func (c *Cluster) close() {
	if c.Client != nil {
		c.Client.Close()
	}
	for _, one := range c.ones {
		one.Close()
	}
	for _, p := range c.processes {
		p.Kill()
	}
	c.work.Wait()
	if err := killAll(c.dir); err != nil {
		c.t.Error(err)
	}
	for name, d := range c.disks {
		if err := d.unmount(); err != nil {
			c.t.Errorf("the disk of %s: %v", name, err)
		}
	}
	if err := c.network.close(); err != nil {
		c.t.Error(err)
	}
	for name, p := range c.processes {
		removeGroups(name, p.Data)
	}
	if c.t.Failed() {
		for _, name := range append(c.Servers(), c.Agents()...) {
			c.t.Logf("the end of the log of %s:\n%s", name, c.processes[name].tail(tailLines))
		}
		c.t.Logf("all logs are in %s", c.logs)
	} else if err := os.RemoveAll(c.logs); err != nil {
		c.t.Error(err)
	}
	if err := os.RemoveAll(c.dir); err != nil {
		c.t.Error(err)
	}
}
