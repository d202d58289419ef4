package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// User is somebody at a shell, who runs the command berth.
type User struct {
	cluster     *Cluster
	certificate string // file
	token       string
}

// Bearer is a user with a token.
func (c *Cluster) Bearer(token string) *User {
	return &User{cluster: c, token: strings.TrimSpace(token)}
}

// Answer is what a command said.
type Answer struct {
	Args     []string // of the command
	Out, Bad string   // the output, and the error output
	Code     int      // with which it exited
}

// Err is nil where the command exited with 0.
func (a Answer) Err() error {
	if a.Code == 0 {
		return nil
	}
	return fmt.Errorf("berth %s: exit code %d\n%s%s", strings.Join(a.Args, " "), a.Code, a.Out, a.Bad)
}

// commandLimit is how long a command may take.
const commandLimit = 3 * time.Minute

// Try runs a command, and leaves it to the caller whether it may fail.
func (u *User) Try(args ...string) Answer { return u.TryWith("", args...) }

// TryWith runs a command with something at its standard input.
func (u *User) TryWith(input string, args ...string) Answer {
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := u.command(ctx, args...)
	var out, bad bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &bad
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(&bad, err)
	}
	return Answer{Args: args, Out: out.String(), Bad: bad.String(), Code: cmd.ProcessState.ExitCode()}
}

// command is the command berth as the user has it.
func (u *User) command(ctx context.Context, args ...string) *exec.Cmd {
	c := u.cluster
	cmd := exec.CommandContext(ctx, c.program, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "HOME="+c.dir, "BERTH_ADDR="+strings.Join(c.Addresses(), ","), "BERTH_CACERT="+filepath.Join(c.dir, "ca.pem"),
		"BERTH_CLIENT_CERT="+u.certificate, "BERTH_TOKEN="+u.token, "BERTH_CONFIG=", "BERTH_TOKEN_FILE=", "XDG_CONFIG_HOME="+c.dir)
	return cmd
}

// Berth runs a command that must not fail, and returns its output.
func (u *User) Berth(args ...string) string {
	u.cluster.t.Helper()
	a := u.Try(args...)
	if err := a.Err(); err != nil {
		u.cluster.t.Fatal(err)
	}
	return a.Out
}

// Refused runs a command that must fail with the exit code, and with all these texts in
// what it says.
func (u *User) Refused(code int, texts []string, args ...string) {
	u.cluster.t.Helper()
	a := u.Try(args...)
	if a.Code != code {
		u.cluster.t.Errorf("berth %s: exit code %d, not %d\n%s%s", strings.Join(args, " "), a.Code, code, a.Out, a.Bad)
	}
	for _, text := range texts {
		if !strings.Contains(a.Out+a.Bad, text) {
			u.cluster.t.Errorf("berth %s: it does not say %q but\n%s%s", strings.Join(args, " "), text, a.Out, a.Bad)
		}
	}
}

// JSON runs a command with -o json, and reads its output into a value.
func (u *User) JSON(into any, args ...string) {
	u.cluster.t.Helper()
	text := u.Berth(append([]string{"-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), into); err != nil {
		u.cluster.t.Fatalf("berth %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// Submit submits one job with arguments of the command submit, and returns its number.
func (u *User) Submit(args ...string) job.ID {
	u.cluster.t.Helper()
	ids := u.jobs(u.Berth(append([]string{"submit", "-o", "name"}, args...)...))
	if len(ids) != 1 {
		u.cluster.t.Fatalf("berth submit %s: %d jobs", strings.Join(args, " "), len(ids))
	}
	return ids[0]
}

// SubmitFile submits the text of a job file or script, with arguments before it.
func (u *User) SubmitFile(text string, args ...string) []job.ID {
	u.cluster.t.Helper()
	a := u.TryWith(text, append(append([]string{"submit", "-o", "name"}, args...), "-")...)
	if err := a.Err(); err != nil {
		u.cluster.t.Fatal(err)
	}
	return u.jobs(a.Out)
}

func (u *User) jobs(text string) []job.ID {
	u.cluster.t.Helper()
	var ids []job.ID
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			u.cluster.t.Fatalf("%q is no job", word)
		}
		ids = append(ids, job.ID(n))
	}
	return ids
}

// Following is a command that goes on.
type Following struct {
	cmd   *exec.Cmd
	out   string // file
	ended chan struct{}
}

// Follow starts a command that goes on. It ends with the test.
func (u *User) Follow(args ...string) *Following {
	u.cluster.t.Helper()
	f, err := os.CreateTemp(u.cluster.dir, "follow-")
	if err != nil {
		u.cluster.t.Fatal(err)
	}
	defer f.Close()
	cmd := u.command(context.Background(), args...)
	cmd.Stdout, cmd.Stderr = f, f
	if err := spawn(cmd, ""); err != nil {
		u.cluster.t.Fatal(err)
	}
	out := &Following{cmd: cmd, out: f.Name(), ended: make(chan struct{})}
	go func() {
		defer close(out.ended)
		_ = cmd.Wait()
	}()
	u.cluster.t.Cleanup(out.Stop)
	return out
}

// Text is what it has written so far.
func (f *Following) Text() string {
	text, err := os.ReadFile(f.out)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Stop ends it.
func (f *Following) Stop() {
	_ = f.cmd.Process.Kill() // it may have ended
	<-f.ended
}

// Wait waits for its end, and returns its exit code.
func (f *Following) Wait() int {
	<-f.ended
	return f.cmd.ProcessState.ExitCode()
}

// connect makes the operator's client.
func (c *Cluster) connect() (err error) {
	c.Client, err = c.NewClient(c.Addresses()...)
	return err
}

// One is the operator's client of one server alone.
func (c *Cluster) One(name string) (*client.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ones[name] == nil {
		one, err := c.NewClient(c.processes[name].Address)
		if err != nil {
			return nil, err
		}
		c.ones[name] = one
	}
	return c.ones[name], nil
}

// NewClient is an operator's client of some servers.
func (c *Cluster) NewClient(addresses ...string) (*client.Client, error) {
	keeper, err := pki.NewKeeper(pki.Files{CA: filepath.Join(c.dir, "ca.pem"), Credential: c.certificate}, hclog.NewNullLogger())
	if err != nil {
		return nil, err
	}
	return client.New(client.Config{Servers: addresses, TLS: keeper.ClientTLS(pki.Identity{Role: pki.Server}), UserAgent: "berth-e2e"})
}
