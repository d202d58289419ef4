package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// fleet is some server processes in a folder.
type fleet struct {
	dir       string
	settings  string // of the servers: the text of their file
	addresses []string
	processes []*exec.Cmd
	admin     *client.Client

	mu        sync.Mutex
	authority *pki.Authority
}

// start builds the program and starts servers with it. Where it fails some may be
// there already: stop ends them.
func (f *fleet) start(ctx context.Context, servers int) error {
	binary := filepath.Join(f.dir, "berth")
	if err := build(ctx, binary); err != nil {
		return err
	}
	for i := range servers {
		if err := f.startServer(ctx, binary, i); err != nil {
			return fmt.Errorf("server %d: %w", i, err)
		}
	}
	return f.waitForMembers(ctx, servers)
}

// startServer starts one more server. The first begins the fleet, and gives out the
// token with which the others join.
func (f *fleet) startServer(ctx context.Context, binary string, i int) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	token := filepath.Join(f.dir, "token")
	args := []string{"server", "--name", fmt.Sprintf("s%d", i), "--data", filepath.Join(f.dir, fmt.Sprintf("s%d", i)), "--listen", address}
	file := filepath.Join(f.dir, "settings.yaml")
	if err := os.WriteFile(file, []byte(f.settings), 0o600); err != nil {
		return err
	}
	args = append(args, "--config", file)
	if i == 0 {
		args = append(args, "--bootstrap")
	} else {
		args = append(args, "--servers", f.addresses[0], "--join-token-file", token)
	}
	if err := f.spawn(binary, i, args); err != nil {
		return err
	}
	f.addresses = append(f.addresses, address)
	if i > 0 {
		return nil
	}
	if err := f.connect(ctx); err != nil {
		return err
	}
	t, err := f.admin.CreateJoinToken(ctx, api.JoinTokenRequest{Role: api.RoleServer})
	if err != nil {
		return err
	}
	return os.WriteFile(token, []byte(t.Token), 0o600)
}

// build builds the program, in its own module.
func build(ctx context.Context, binary string) error {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/berth-project/berth/adapters/fleet").Output()
	if err != nil {
		return fmt.Errorf("find the module of the program: %w", err)
	}
	c := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/berth")
	c.Dir = strings.TrimSpace(string(dir))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// spawn starts a process, whose log is a file of the folder.
func (f *fleet) spawn(binary string, i int, args []string) error {
	log, err := os.Create(filepath.Join(f.dir, fmt.Sprintf("s%d.log", i)))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return err
	}
	f.processes = append(f.processes, c)
	return nil
}

// connect waits for the first server, and takes hold of its authority.
func (f *fleet) connect(ctx context.Context) error {
	limit := time.Now().Add(time.Minute)
	for {
		a, err := pki.LoadAuthority(filepath.Join(f.dir, "s0"))
		if err == nil {
			f.authority = a
			break
		}
		if time.Now().After(limit) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	var err error
	if f.admin, err = f.client(pki.Identity{Role: pki.Operator, Name: "load"}); err != nil {
		return err
	}
	for {
		if _, err = f.admin.Jobs(ctx, client.JobFilter{Limit: 1}); err == nil {
			return nil
		}
		if time.Now().After(limit) {
			return err
		}
	}
}

func (f *fleet) waitForMembers(ctx context.Context, count int) error {
	limit := time.Now().Add(time.Minute)
	for {
		m, err := f.admin.Members(ctx)
		voters := 0
		for _, one := range m.Members {
			if one.Voter {
				voters++
			}
		}
		if voters == count {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d servers take part: %w", voters, count, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// client makes a client for an identity.
func (f *fleet) client(who pki.Identity) (*client.Client, error) {
	dir := filepath.Join(f.dir, "clients")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f.mu.Lock()
	c, err := f.authority.Issue(pki.Grant{Identity: who})
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, string(who.Role)+"-"+who.Name+".pem")
	if err := c.Save(file, true); err != nil {
		return nil, err
	}
	k, err := pki.NewKeeper(pki.Files{CA: filepath.Join(f.dir, "s0", pki.CAFile), Credential: file}, hclog.NewNullLogger())
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{
		Servers: f.addresses, TLS: k.ClientTLS(pki.Identity{Role: pki.Server}), Patience: 30 * time.Second,
	})
}

// stop ends the servers.
func (f *fleet) stop() {
	for _, p := range f.processes {
		_ = p.Process.Signal(syscall.SIGTERM)
	}
	for _, p := range f.processes {
		_ = p.Wait()
	}
}

// used is the processor time and the peak memory of the servers so far.
func (f *fleet) used() (cpu time.Duration, peak int64) {
	for _, p := range f.processes {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Process.Pid))
		if err == nil {
			fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
			for _, i := range []int{12, 13} {
				n, _ := strconv.ParseInt(fields[i], 10, 64)
				cpu += time.Duration(n) * 10 * time.Millisecond
			}
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
		for line := range strings.Lines(string(status)) {
			if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.Fields(v)[0], 10, 64)
				peak = max(peak, n<<10)
			}
		}
	}
	return cpu, peak
}

// freeAddress is a port that nobody listens on.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
