package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// fleet is a fleet of one server, s1, on loopback. All that it logs is kept, and at
// the end searched for the secrets that the test has noted.
type fleet struct {
	t         *testing.T
	server    *Server
	stop      func() // ends the server, and waits for its end
	authority *pki.Authority
	logged    *logged
	// mayEnd is the error that servers may end of.
	mayEnd error

	mu      sync.Mutex
	secrets []string
}

// The people and machines of tests.
var (
	alice  = pki.Identity{Role: pki.User, Name: "alice"}
	bob    = pki.Identity{Role: pki.User, Name: "bob"}
	oscar  = pki.Identity{Role: pki.Operator, Name: "oscar"}
	nodeN1 = pki.Identity{Role: pki.Agent, Name: "n1"}
	nodeN2 = pki.Identity{Role: pki.Agent, Name: "n2"}
	self1  = pki.Identity{Role: pki.Server, Name: "s1"}
)

// begun starts a fleet; changes may change how its server works.
func begun(t *testing.T, changes ...func(*Config)) *fleet {
	t.Helper()
	f := &fleet{t: t, logged: &logged{}}
	cfg := f.config("s1")
	cfg.Bootstrap = true
	for _, change := range changes {
		change(&cfg)
	}
	f.server, f.stop = f.start(cfg)
	t.Cleanup(f.stop)
	var err error
	f.authority, err = pki.LoadAuthority(cfg.Dir)
	require.NoError(t, err)
	_, key, err := f.authority.PEM()
	require.NoError(t, err)
	f.secret(strings.Split(string(key), "\n")[1])
	eventually(t, func() bool { return f.server.leading.Load() != nil })
	return f
}

func (f *fleet) config(id string) Config {
	address := freeAddress(f.t)
	return Config{
		ID: id, Dir: filepath.Join(f.t.TempDir(), id), Listen: address, Slowness: 0.1, Version: "test",
		Logger: hclog.New(&hclog.LoggerOptions{Name: id, Level: hclog.Trace, Output: f.logged}),
	}
}

// run runs a server until the test ends.
func (f *fleet) run(cfg Config) *Server {
	s, stop := f.start(cfg)
	f.t.Cleanup(stop)
	return s
}

// start starts a server, and returns what ends it and waits for its end: only then may another
// one use its folder.
func (f *fleet) start(cfg Config) (*Server, func()) {
	f.t.Helper()
	s, err := New(f.t.Context(), cfg)
	require.NoError(f.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	return s, func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil && !errors.Is(err, f.mayEnd) {
				f.t.Errorf("server %s: %v", cfg.ID, err)
			}
			f.keptSecrets()
		})
	}
}

// addresses counts the addresses that servers of this process have had.
var addresses atomic.Uint32

// freeAddress is one that nobody else listens on, also while a server is down. All of 127.0.0.0/8
// is this machine on Linux, so each process has a network of its own there, and the ports are
// none that the system gives to others. Elsewhere it is one that is free for the moment.
func freeAddress(t *testing.T) string {
	if runtime.GOOS == "linux" {
		n, pid := addresses.Add(1), os.Getpid()
		return fmt.Sprintf("127.%d.%d.%d:%d", 64+pid>>8&63, pid&255, 1+n%250, 7000+n/250)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// secret notes what must not be in the log.
func (f *fleet) secret(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.secrets = append(f.secrets, text)
}

func (f *fleet) keptSecrets() {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.logged.String()
	for _, s := range f.secrets {
		if strings.Contains(text, s) {
			f.t.Errorf("the log has the secret %.12s...", s)
		}
	}
}

// logged is what servers have logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// eventually waits until something is so.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); {
		if time.Now().After(end) {
			t.Fatal("it does not become so")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// caller makes requests as somebody.
type caller struct {
	f       *fleet
	http    *http.Client
	token   string
	address string
	headers map[string]string
}

// as is a caller with a certificate.
func (f *fleet) as(who pki.Identity) *caller {
	f.t.Helper()
	c, err := f.authority.Issue(pki.Grant{Identity: who})
	require.NoError(f.t, err)
	return f.with(c)
}

// ca is the authority's certificate.
func (f *fleet) ca() *x509.Certificate {
	f.t.Helper()
	ca, err := pki.ParseCA(f.authority.CAPEM())
	require.NoError(f.t, err)
	return ca
}

// with is a caller with a credential, nil for none.
func (f *fleet) with(c *pki.Credential) *caller {
	t := &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool(), ServerName: pki.ServerDNS}
	t.RootCAs.AddCert(f.ca())
	if c != nil {
		t.Certificates = []tls.Certificate{{Certificate: [][]byte{c.Cert.Raw, c.CA.Raw}, PrivateKey: c.Key, Leaf: c.Cert}}
	}
	tr := &http.Transport{TLSClientConfig: t, ForceAttemptHTTP2: true}
	f.t.Cleanup(tr.CloseIdleConnections)
	return &caller{f: f, http: &http.Client{Transport: tr, CheckRedirect: noRedirect}, address: f.server.Addr().String()}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bearing is a caller with a token.
func (f *fleet) bearing(token string) *caller {
	c := f.with(nil)
	c.token = token
	return c
}

// got is an answer.
type got struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// ask makes a request. A body that is no string or bytes is sent as JSON.
func (c *caller) ask(method, path string, body any) got {
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case []byte:
		in = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		require.NoError(c.f.t, err)
		in = bytes.NewReader(text)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "https://"+c.address+path, in)
	if err != nil {
		return got{err: err}
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for k, v := range c.headers {
		r.Header.Set(k, v)
	}
	a, err := c.http.Do(r)
	if err != nil {
		return got{err: err}
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return got{status: a.StatusCode, header: a.Header, body: text, err: err}
}

// ledAnswer is the first answer that some server gives that leads, or the one with the status. On a machine
// that is busy servers may change who leads, and say so; callers ask again then.
func ledAnswer(status int, ask func() got) got {
	a := ask()
	none := func() bool {
		return a.status != status && (a.status == http.StatusServiceUnavailable || a.status == http.StatusGatewayTimeout)
	}
	for end := time.Now().Add(patience); none() && time.Now().Before(end); {
		a = ask()
	}
	return a
}

// must makes a request that has to succeed, and reads its answer. It is made again where servers
// change who leads, also where it may have been recorded already: what it makes may be there twice.
func (c *caller) must(method, path string, body, out any) {
	c.f.t.Helper()
	a := ledAnswer(http.StatusOK, func() got { return c.ask(method, path, body) })
	require.NoError(c.f.t, a.err)
	require.Less(c.f.t, a.status, 300, "%s %s: %s", method, path, a.body)
	if out != nil {
		require.NoError(c.f.t, json.Unmarshal(a.body, out), "%s", a.body)
	}
}

// refused makes a request that has to fail with the status, and returns the error.
func (c *caller) refused(status int, method, path string, body any) api.Error {
	c.f.t.Helper()
	return c.refusal(ledAnswer(status, func() got { return c.ask(method, path, body) }), status)
}

// refusal is the error of an answer that has to have the status.
func (c *caller) refusal(a got, status int) api.Error {
	c.f.t.Helper()
	require.NoError(c.f.t, a.err)
	require.Equal(c.f.t, status, a.status, "%s", a.body)
	var e api.Error
	require.NoError(c.f.t, json.Unmarshal(a.body, &e), "%s", a.body)
	require.Equal(c.f.t, status, e.Status)
	require.NotEmpty(c.f.t, e.Message)
	return e
}

// submit submits jobs.
func (c *caller) submit(specs ...job.Spec) []job.ID {
	c.f.t.Helper()
	var out api.SubmitResponse
	c.must("POST", "/v1/jobs", api.SubmitRequest{Jobs: specs}, &out)
	return out.Jobs
}

// sleeper is a job that is held, and does not start for a while when it is released.
func sleeper() job.Spec {
	return job.Spec{Command: []string{"sleep", "1"}, Hold: true, Begin: time.Now().Add(time.Hour).UTC()}
}

// agent speaks for a node.
type agent struct {
	*caller
	name string
	boot string
	seen api.PollResponse
}

// agent registers a node of four cores.
func (f *fleet) agent(name string) *agent {
	f.t.Helper()
	a := &agent{caller: f.as(pki.Identity{Role: pki.Agent, Name: name}), name: name, boot: "1"}
	a.must("POST", "/v1/agent/register", a.registration(), nil)
	return a
}

func (a *agent) registration() api.Registration {
	return api.Registration{
		Node: a.name, Boot: a.boot, Address: "127.0.0.1:1",
		Machine: api.Machine{CPU: 4000, Memory: 1 << 30, Disk: 1 << 30, MaxTasks: 16},
	}
}

// moved registers a node that is another life of itself, or elsewhere, when it was not
// heard of for a while.
func (a *agent) moved(r api.Registration) {
	a.f.t.Helper()
	eventually(a.f.t, func() bool {
		silent := &state.NodeStatus{Node: a.name, State: api.NodeUnreachable}
		_, err := a.f.server.propose(a.f.t.Context(), &state.Command{NodeStatus: silent})
		require.NoError(a.f.t, err)
		got := a.ask("POST", "/v1/agent/register", r)
		require.NoError(a.f.t, got.err)
		require.Contains(a.f.t, []int{http.StatusOK, http.StatusConflict}, got.status, "%s", got.body)
		return got.status == http.StatusOK
	})
	a.boot = r.Boot
}

// order polls until there is an order for the job's first task.
func (a *agent) order(id job.ID) api.Order {
	a.f.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		next := api.PollResponse{} // what an answer leaves out is not that of the one before
		a.must("POST", "/v1/agent/poll", api.PollRequest{Node: a.name, Boot: a.boot, Since: a.seen.Index, After: a.seen.After}, &next)
		a.seen = next
		for _, o := range a.seen.Orders {
			if o.Task.Job == id {
				return o
			}
		}
	}
	a.f.t.Fatalf("there is no order for job %d", id)
	return api.Order{}
}

// report says what happened to a task.
func (a *agent) report(id job.TaskID, s job.State) {
	a.f.t.Helper()
	now := time.Now().UTC()
	r := api.Report{Task: id, State: s, At: now}
	if s.Ended() {
		r.Started, r.Exit, r.Usage = now.Add(-time.Second), &api.Exit{}, api.Usage{CPUSeconds: 1}
	}
	a.must("POST", "/v1/agent/report", api.ReportRequest{Node: a.name, Tasks: []api.Report{r}}, nil)
}

// ran is a job of somebody that has run on the agent's node.
func (a *agent) ran(c *caller) job.ID {
	a.f.t.Helper()
	id := c.submit(job.Spec{Command: []string{"true"}})[0]
	o := a.order(id)
	a.report(o.Task, job.Running)
	a.report(o.Task, job.Completed)
	return id
}

// token makes a token of somebody.
func (f *fleet) token(in api.TokenRequest) api.TokenResponse {
	f.t.Helper()
	var out api.TokenResponse
	f.as(oscar).must("POST", "/v1/tokens", in, &out)
	f.secret(out.Token)
	f.secret(strings.TrimPrefix(out.Token, "berth_"))
	return out
}

// joinToken makes a token to join with.
func (f *fleet) joinToken(role api.Role) api.TokenResponse {
	f.t.Helper()
	var out api.TokenResponse
	f.as(oscar).must("POST", "/v1/join-tokens", api.JoinTokenRequest{Role: role}, &out)
	f.secret(out.Token)
	f.secret(strings.Split(out.Token, ".")[2])
	return out
}

// put puts a token that an operator could not make, such as one that has expired.
func (f *fleet) put(k *state.Token) {
	f.t.Helper()
	r, err := f.server.propose(f.t.Context(), &state.Command{PutToken: k})
	require.NoError(f.t, err)
	require.Nil(f.t, r.Err)
}

func jobPath(id job.ID, rest string) string { return fmt.Sprintf("/v1/jobs/%d%s", id, rest) }
