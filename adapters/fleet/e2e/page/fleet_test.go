package page

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/agent"
	"github.com/berth-project/berth/adapters/fleet/agent/shim"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/server"
)

// TestMain makes the test program the shim that the agent starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "shim" {
		os.Exit(shim.Main(os.Args[2]))
	}
	os.Exit(m.Run())
}

// patience is how long tests wait for what must come. It is generous: it only passes
// where something is broken.
const patience = 60 * time.Second

// fleet is a server, and an agent of each node, in this process.
type fleet struct {
	dir       string
	address   string
	authority *pki.Authority
	admin     *client.Client
}

// startFleet starts a fleet of one server and of nodes, which end with the test.
func startFleet(t *testing.T, nodes ...string) *fleet {
	t.Helper()
	f := &fleet{dir: t.TempDir(), address: freeAddress(t)}
	s, err := server.New(t.Context(), server.Config{
		ID: "s1", Dir: filepath.Join(f.dir, "s1"), Listen: f.address, Bootstrap: true, Version: "test", Forecasts: 10,
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	all := &errgroup.Group{}
	t.Cleanup(func() {
		stop()
		require.NoError(t, all.Wait())
	})
	all.Go(func() error { return s.Run(ctx) })
	f.authority, err = pki.LoadAuthority(filepath.Join(f.dir, "s1"))
	require.NoError(t, err)
	f.admin = f.client(t, pki.Identity{Role: pki.Operator, Name: "root"})
	for _, name := range nodes {
		f.startAgent(ctx, t, all, name)
		f.eventually(t, "node "+name+" is ready", func() bool {
			n, err := f.admin.Node(t.Context(), name)
			return err == nil && n.State == api.NodeReady
		})
	}
	return f
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// keeper holds a new certificate of the fleet.
func (f *fleet) keeper(t *testing.T, who pki.Identity) *pki.Keeper {
	t.Helper()
	g := pki.Grant{Identity: who}
	if who.Role == pki.Agent {
		g.Hosts = []string{"127.0.0.1"}
	}
	c, err := f.authority.Issue(g)
	require.NoError(t, err)
	path := filepath.Join(f.dir, string(who.Role)+"-"+who.Name+".pem")
	require.NoError(t, c.Save(path, false))
	k, err := pki.NewKeeper(pki.Files{CA: filepath.Join(f.dir, "s1", pki.CAFile), Credential: path}, hclog.NewNullLogger())
	require.NoError(t, err)
	return k
}

// client speaks to the server as somebody.
func (f *fleet) client(t *testing.T, who pki.Identity) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{
		Servers: []string{f.address}, TLS: f.keeper(t, who).ClientTLS(pki.Identity{Role: pki.Server}, "h2", "http/1.1"),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// keptOutput is how much of each stream of a task the agents keep at most.
const keptOutput = 2 << 20

// startAgent starts the agent of a node, and serves its logs.
func (f *fleet) startAgent(ctx context.Context, t *testing.T, all *errgroup.Group, name string) {
	t.Helper()
	keeper := f.keeper(t, pki.Identity{Role: pki.Agent, Name: name})
	servers, err := client.New(client.Config{
		Servers: []string{f.address}, TLS: keeper.ClientTLS(pki.Identity{Role: pki.Server}, "h2", "http/1.1"),
	})
	require.NoError(t, err)
	t.Cleanup(servers.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	a, err := agent.New(agent.Config{
		Node: name, Address: l.Addr().String(), Version: "test", DataDir: filepath.Join(f.dir, name),
		Server: servers, Accounts: agent.AccountsOwn, Cgroup: agent.NoCgroup,
		Logs: agent.LogLimits{FileBytes: keptOutput / 2, Files: 2},
	})
	require.NoError(t, err)
	h := &http.Server{Handler: a.Handler(), TLSConfig: keeper.ServerTLS("h2", "http/1.1"), ReadHeaderTimeout: patience}
	all.Go(func() error {
		if err := h.ServeTLS(l, "", ""); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	all.Go(func() error {
		defer h.Close()
		return a.Run(ctx)
	})
}

// token is a bearer token for the user.
func (f *fleet) token(t *testing.T, user string) string {
	t.Helper()
	k, err := f.admin.CreateToken(t.Context(), api.TokenRequest{Role: api.RoleUser, Name: user})
	require.NoError(t, err)
	return k.Token
}

// submit submits a job and ends with what is left of it when the test does.
func (f *fleet) submit(t *testing.T, as *client.Client, spec job.Spec) job.ID {
	t.Helper()
	out, err := as.Submit(t.Context(), api.SubmitRequest{Jobs: []job.Spec{spec}})
	require.NoError(t, err)
	id := out.Jobs[0]
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		defer stop()
		_, _ = f.admin.Cancel(ctx, id, api.Selection{Signal: "KILL"}) // it may have ended
		for {
			j, err := f.admin.Job(ctx, id)
			if err != nil || j.State.Ended() {
				return
			}
			wait(ctx)
		}
	})
	return id
}

// waitFor waits until the job has one of the states.
func (f *fleet) waitFor(t *testing.T, id job.ID, states ...job.State) {
	t.Helper()
	f.eventually(t, "job "+id.String()+" is as it should be", func() bool {
		j, err := f.admin.Job(t.Context(), id)
		return err == nil && slices.Contains(states, j.State)
	})
}

// eventually waits until something is so.
func (f *fleet) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for !is() {
		require.NoError(t, ctx.Err(), what)
		wait(ctx)
	}
}

// wait is the pause between two looks.
func wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// idText is the job's number as the page's addresses have it.
func idText(id job.ID) string { return strconv.FormatUint(uint64(id), 10) }

// serverKey is the public key that the server shows, as certificates have it.
func (f *fleet) serverKey(t *testing.T) []byte {
	t.Helper()
	connection, err := tls.Dial("tcp", f.address, f.keeper(t, pki.Identity{Role: pki.User, Name: "looker"}).ClientTLS(pki.Identity{Role: pki.Server}))
	require.NoError(t, err)
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo
}
