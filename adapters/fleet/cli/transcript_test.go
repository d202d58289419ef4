package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/pki"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// The transcripts in testdata are what commands print. A line that begins with "$"
// is a command; what follows is
//
//	> a request that is no GET, with its body
//	! a line of the error output
//	  a line of the output, as it is
//	[exit N], where N is not 0
//
// go test -update writes them anew. Look at the difference: it is what users see.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	env := newEnvironment(t)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			var got strings.Builder
			for line := range strings.Lines(string(want)) {
				switch {
				case strings.HasPrefix(line, "#"):
					got.WriteString(line)
				case strings.HasPrefix(line, "$ berth "):
					got.WriteString(line)
					got.WriteString(env.transcript(t, strings.TrimSpace(strings.TrimPrefix(line, "$ berth "))))
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
				return
			}
			assert.Equal(t, string(want), got.String())
		})
	}
}

// environment is where the commands of the tests run: with a server that answers
// as answers says.
type environment struct {
	addr string
	dir  string // has ca.pem, and files that commands name
	vars map[string]string
	in   string

	mu    sync.Mutex
	asked []string
	looks map[string]int // how often each path was asked for
}

// now is when the commands run.
var now = time.Date(2026, 1, 30, 15, 4, 5, 0, time.UTC)

// newEnvironment starts a server with a certificate of its own authority.
func newEnvironment(t *testing.T) *environment {
	e := &environment{dir: t.TempDir(), looks: map[string]int{}}
	authority, err := pki.NewAuthority(pki.AuthorityOptions{})
	require.NoError(t, err)
	require.NoError(t, authority.Save(e.dir, false))
	own, err := authority.Issue(pki.Grant{Identity: pki.Identity{Role: pki.Server, Name: "s1"}})
	require.NoError(t, err)
	require.NoError(t, own.Save(filepath.Join(e.dir, "s1.pem"), false))
	keeper, err := pki.NewKeeper(pki.Files{CA: filepath.Join(e.dir, pki.CAFile), Credential: filepath.Join(e.dir, "s1.pem")}, hclog.NewNullLogger())
	require.NoError(t, err)

	server := httptest.NewUnstartedServer(http.HandlerFunc(e.serve))
	server.Listener = tls.NewListener(server.Listener, keeper.ServerTLS("h2", "http/1.1"))
	server.Start()
	t.Cleanup(server.Close)
	e.addr = strings.TrimPrefix(server.URL, "http://")
	e.write(t, "token", "secret\n", 0o600)
	e.vars = map[string]string{
		"BERTH_ADDR": e.addr, "BERTH_CACERT": filepath.Join(e.dir, pki.CAFile), "BERTH_TOKEN_FILE": filepath.Join(e.dir, "token"),
		"HOME": e.dir,
	}
	for name, text := range files {
		e.write(t, name, text, 0o600)
	}
	return e
}

// write makes a file in the folder.
func (e *environment) write(t *testing.T, name, text string, mode os.FileMode) string {
	path := filepath.Join(e.dir, name)
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

// serve notes the request and answers it.
func (e *environment) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // what is there is noted
	path := r.Method + " " + r.URL.RequestURI()
	e.mu.Lock()
	if r.Method != http.MethodGet {
		e.asked = append(e.asked, strings.TrimSpace(path+" "+string(body)))
	}
	look := e.looks[path]
	e.looks[path]++
	e.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"code":"unauthorized","message":"the token is not known"}`)
		return
	}
	reply(w, path, look)
}

// run runs a command and returns its exit code.
func (e *environment) run(args ...string) (code int, out, errOut string) {
	a := &app{
		version: "1.2.3", getenv: func(name string) string { return e.vars[name] }, environ: []string{"HOME=/home/eve"},
		now:      func() time.Time { return now },
		dir:      "/home/eve/work",
		hostname: "login",
		pause:    func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		patience: -1,
	}
	c := newCommand(a, nil)
	var stdout, stderr bytes.Buffer
	c.SetOut(&stdout)
	c.SetErr(&stderr)
	c.SetIn(strings.NewReader(e.in))
	c.SetArgs(args)
	code = Execute(context.Background(), c)
	return code, stdout.String(), stderr.String()
}

// transcript runs a command, and says what came of it. DIR in it stands for the
// folder of files.
func (e *environment) transcript(t *testing.T, line string) string {
	e.asked, e.looks = nil, map[string]int{}
	code, out, errOut := e.run(words(t, strings.ReplaceAll(line, "DIR", e.dir))...)
	var b strings.Builder
	for _, asked := range e.asked {
		fmt.Fprintln(&b, "> "+asked)
	}
	for line := range strings.Lines(errOut) {
		fmt.Fprintln(&b, "! "+strings.TrimRight(line, "\n"))
	}
	b.WriteString(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		b.WriteString("\n")
	}
	if code != 0 {
		fmt.Fprintf(&b, "[exit %d]\n", code)
	}
	b.WriteString("\n")
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), e.dir, "DIR"), e.addr, "SERVER")
}

// words splits a command line, with single quotes.
func words(t *testing.T, line string) []string {
	var out []string
	parts := strings.Split(line, "'")
	require.Equal(t, 1, len(parts)%2, "a quote has no end: %s", line)
	for i, part := range parts {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}
