package replica

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// list is a machine that remembers its commands in order. A command's result is
// its place, from 0.
type list struct {
	mu       sync.Mutex
	commands []string
	restored int // how often Restore was called
}

func (l *list) Apply(_, _ uint64, commands [][]byte) []any {
	l.mu.Lock()
	defer l.mu.Unlock()
	results := make([]any, 0, len(commands))
	for _, c := range commands {
		results = append(results, len(l.commands))
		l.commands = append(l.commands, string(c))
	}
	return results
}

func (l *list) Snapshot() (Picture, error) { return listPicture(l.all()), nil }

func (l *list) Restore(r io.Reader) error {
	var commands []string
	if err := json.NewDecoder(r).Decode(&commands); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.commands = commands
	l.restored++
	return nil
}

func (l *list) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.commands)
}

func (l *list) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.commands)
}

type listPicture []string

func (p listPicture) WriteTo(w io.Writer) (int64, error) { return 0, json.NewEncoder(w).Encode(p) }
func (p listPicture) Release()                           {}

// network connects the servers of a test by their names, and can be cut between
// any two.
type network struct {
	mu    sync.Mutex
	where map[string]string // name -> address that it listens at
	cuts  map[[2]string]bool
	conns map[[2]string][]net.Conn
}

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

func (n *network) dial(from string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, to string) (net.Conn, error) {
		n.mu.Lock()
		address, cut := n.where[to], n.cuts[pair(from, to)]
		n.mu.Unlock()
		if cut || address == "" {
			return nil, fmt.Errorf("no way from %s to %s", from, to)
		}
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.cuts[pair(from, to)] { // meanwhile
			c.Close()
			return nil, fmt.Errorf("no way from %s to %s", from, to)
		}
		n.conns[pair(from, to)] = append(n.conns[pair(from, to)], c)
		return c, nil
	}
}

// isolate cuts one server off from all others, or lets it back.
func (n *network) isolate(name string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for other := range n.where {
		p := pair(name, other)
		n.cuts[p] = cut
		for _, c := range n.conns[p] {
			c.Close()
		}
		delete(n.conns, p)
	}
}

// node is a server of a test.
type node struct {
	*Replica
	name    string
	machine *list
	mux     *muxer.Mux
}

// cluster is a fleet's servers in one process.
type cluster struct {
	t      testing.TB
	ca     *pki.Authority
	dir    string
	net    *network
	slow   float64
	change func(name string, c *Config)

	mu    sync.Mutex
	nodes map[string]*node
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	ca, err := pki.NewAuthority(pki.AuthorityOptions{})
	require.NoError(t, err)
	c := &cluster{t: t, ca: ca, dir: t.TempDir(), slow: 0.3, nodes: map[string]*node{},
		net:    &network{where: map[string]string{}, cuts: map[[2]string]bool{}, conns: map[[2]string][]net.Conn{}},
		change: func(string, *Config) {},
	}
	require.NoError(t, ca.Save(c.dir, false))
	t.Cleanup(func() {
		for name := range c.all() {
			c.stop(name)
		}
	})
	return c
}

// steady makes elections so slow that a busy machine causes none, for tests that
// expect one leader to stay.
func (c *cluster) steady() *cluster {
	c.slow = 2
	return c
}

// three starts s1, s2 and s3, all with a vote.
func (c *cluster) three() *cluster {
	c.t.Helper()
	c.start("s1", true)
	for _, name := range []string{"s2", "s3"} {
		c.start(name, false)
		c.add(name)
	}
	c.wait("three voters", func() bool {
		ms, err := c.leader().Members()
		return err == nil && len(ms) == 3 && !slices.ContainsFunc(ms, func(m Member) bool { return !m.Voter })
	})
	// Until all know of the third vote, two might not be able to elect one of them.
	c.agree()
	return c
}

func (c *cluster) keeper(name string) *pki.Keeper {
	files := pki.Files{CA: filepath.Join(c.dir, pki.CAFile), Credential: filepath.Join(c.dir, name+".pem")}
	credential, err := c.ca.Issue(pki.Grant{Identity: pki.Identity{Role: pki.Server, Name: name}})
	require.NoError(c.t, err)
	require.NoError(c.t, credential.Save(files.Credential, true))
	k, err := pki.NewKeeper(files, hclog.NewNullLogger())
	require.NoError(c.t, err)
	return k
}

// start starts a server on what is in its folder.
func (c *cluster) start(name string, bootstrap bool) *node {
	c.t.Helper()
	n := &node{name: name, machine: &list{}}
	conf := Config{
		ID: name, Address: name, Dir: filepath.Join(c.dir, name), Machine: n.machine, Keeper: c.keeper(name),
		Bootstrap: bootstrap, Slowness: c.slow, dial: c.net.dial(name),
	}
	c.change(name, &conf)
	var err error
	n.Replica, err = Open(conf)
	require.NoError(c.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(c.t, err)
	n.mux = muxer.New(l, muxer.Config{TLS: conf.Keeper.ServerTLS(ALPN), Handlers: map[string]func(*tls.Conn){ALPN: n.Handoff}})
	c.net.mu.Lock()
	c.net.where[name] = l.Addr().String()
	c.net.mu.Unlock()
	c.mu.Lock()
	c.nodes[name] = n
	c.mu.Unlock()
	return n
}

func (c *cluster) all() map[string]*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]*node{}
	for name, n := range c.nodes {
		all[name] = n
	}
	return all
}

func (c *cluster) forget(name string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[name]
	delete(c.nodes, name)
	c.net.mu.Lock()
	delete(c.net.where, name)
	c.net.mu.Unlock()
	return n
}

// stop closes a server in good order.
func (c *cluster) stop(name string) {
	n := c.forget(name)
	require.NoError(c.t, n.mux.Close())
	require.NoError(c.t, n.Close())
}

// kill ends a server at once: nothing that is on its way is waited for.
func (c *cluster) kill(name string) {
	n := c.forget(name)
	n.Replica.stop(errors.New("killed"))
	require.NoError(c.t, n.mux.Close())
	require.NoError(c.t, n.Close())
}

// leader is a server that leads and is ready.
func (c *cluster) leader() *node {
	c.t.Helper()
	var found *node
	c.wait("a leader", func() bool {
		var best uint64
		for _, n := range c.all() {
			if term, ok := n.Leads(); ok && term > best {
				found, best = n, term
			}
		}
		return best > 0
	})
	return found
}

func (c *cluster) wait(what string, ok func() bool) {
	c.t.Helper()
	require.Eventually(c.t, ok, patience, 5*time.Millisecond, what)
}

// propose tries until a leader takes the command and says that it is committed.
// It is for commands that may be there twice.
func (c *cluster) propose(command string) {
	c.t.Helper()
	c.wait("a leader that takes "+command, func() bool {
		_, err := c.leader().Propose(c.t.Context(), 1, []byte(command))
		return err == nil
	})
}

func (c *cluster) add(name string) {
	c.t.Helper()
	c.wait(name+" is added", func() bool {
		return c.leader().AddVoter(c.t.Context(), name, name) == nil
	})
}

// agree waits until all servers have the same commands, and returns them. The last
// is "agree", more than once where leadership was lost.
func (c *cluster) agree() []string {
	c.t.Helper()
	var first []string
	c.propose("agree")
	c.wait("all servers have the same", func() bool {
		first = c.leader().machine.all()
		for _, n := range c.all() {
			if !slices.Equal(first, n.machine.all()) {
				return false
			}
		}
		return true
	})
	return first
}

// others are the commands that agree did not propose.
func others(commands []string) []string {
	return slices.DeleteFunc(slices.Clone(commands), func(command string) bool { return command == "agree" })
}

// history is what clients were told.
type history struct {
	mu       sync.Mutex
	places   map[string]int // of acknowledged commands
	asked    int
	unknown  int // ErrLost
	declined int // certainly not committed
}

// clients propose commands of their own, each command once, until the context
// ends.
func (c *cluster) clients(ctx context.Context, number int) (*history, *sync.WaitGroup) {
	h, work := &history{places: map[string]int{}}, &sync.WaitGroup{}
	for client := range number {
		work.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				command := fmt.Sprintf("%d.%06d", client, i)
				h.note(command, c.proposeOnce(ctx, command))
			}
		})
	}
	return h, work
}

type outcome struct {
	place any
	err   error
}

// proposeOnce gives the command to a server that seems to lead; where none does
// it waits a little.
func (c *cluster) proposeOnce(ctx context.Context, command string) outcome {
	for _, n := range c.all() {
		if _, ok := n.Leads(); ok {
			place, err := n.Propose(context.WithoutCancel(ctx), 1, []byte(command))
			return outcome{place, err}
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Millisecond):
	}
	return outcome{err: ErrNotLeader}
}

func (h *history) note(command string, o outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	switch {
	case o.err == nil:
		h.places[command] = o.place.(int)
	case errors.Is(o.err, ErrLost):
		h.unknown++
	default:
		h.declined++
		h.places[command] = -1 // must not be there
	}
}

func (h *history) acknowledged() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.places {
		if p >= 0 {
			n++
		}
	}
	return n
}

// check compares what clients were told with what the servers agree on.
func (h *history) check(t testing.TB, agreed []string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	at := map[string]int{}
	for i, command := range agreed {
		if command == "agree" {
			continue
		}
		_, twice := at[command]
		require.False(t, twice, "%s was proposed once and is there twice", command)
		at[command] = i
	}
	for command, place := range h.places {
		got, there := at[command]
		if place < 0 {
			require.False(t, there, "%s was declined and is there", command)
			continue
		}
		require.True(t, there, "%s was acknowledged and is lost", command)
		require.Equal(t, place, got, "the place of %s", command)
	}
	t.Logf("asked %d, acknowledged %d, unknown %d, declined %d", h.asked, len(h.places)-h.declined, h.unknown, h.declined)
}
