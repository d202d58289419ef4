package readme

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/e2e/cluster"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestMain(m *testing.M) {
	code := m.Run()
	cluster.Finish()
	os.Exit(code)
}

// replacement says what is run instead of a command.
type replacement struct {
	instead string // for the shell
	because string
}

const (
	machine = "it is for the machine: its files go to a folder of the test, accounts and units stay as they are"
	numbers = "the text leaves out which job or file is meant"
	long    = "CI runs it by itself"
)

// replacements are for commands that cannot run as they are written. The environment of
// the shell has
//
//	ROOT   stands for the machine's /
//	REPO   the root of the repository
//	ADDR, DATA  the address and the data folder of the first server
//	JOB    a job that has run
var replacements = map[string]replacement{
	"go run ./adapters/fleet/cmd/berth dev -- echo hello":               {`cd "$REPO" && go run ./adapters/fleet/cmd/berth dev -- echo hello | grep -x hello`, "it says from where"},
	"go build -o bin/berth ./adapters/fleet/cmd/berth && bin/berth dev": {`cd "$REPO" && go build -o "$ROOT/bin/berth" ./adapters/fleet/cmd/berth && cd "$ROOT" && exec bin/berth dev`, "the repository stays as it is"},
	"export BERTH_CONFIG=...":                                           {`export BERTH_CONFIG=$(sed -n 's/^ *export BERTH_CONFIG=\([^ ]*\).*/\1/p' dev.out)`, "dev has printed it"},
	"bin/berth logs 1_3":                                                {"bin/berth wait 1 && bin/berth logs 1_3 | grep -x 3", "it has to have run"},

	"install berth /usr/local/bin/ && useradd --system berth": {`cd "$ROOT" && mkdir -p usr/local/bin etc/systemd/system && install bin/berth usr/local/bin/ && type useradd systemctl || true`, machine},
	"cp deploy/systemd/*.service /etc/systemd/system/":        {`cd "$REPO/adapters/fleet" && cp deploy/systemd/*.service "$ROOT/etc/systemd/system/"`, machine},
	"mkdir /etc/berth && cp deploy/three-servers/server1.yaml /etc/berth/server.yaml": {
		`mkdir "$ROOT/etc/berth" && cd "$REPO/adapters/fleet" && cp deploy/three-servers/server1.yaml "$ROOT/etc/berth/server.yaml"`, machine},
	"systemctl enable --now berth-server": {`test -f "$ROOT/etc/systemd/system/berth-server.service"`, machine},
	"export BERTH_ADDR=s1.example.net:7070 BERTH_CACERT=/var/lib/berth/server/ca.pem BERTH_CLIENT_CERT=/var/lib/berth/server/admin.pem": {
		"export BERTH_ADDR=$ADDR BERTH_CACERT=$DATA/ca.pem BERTH_CLIENT_CERT=$DATA/admin.pem", "names and folders of servers"},

	"install -m 644 /var/lib/berth/server/ca.pem /etc/berth/ca.pem": {`install -m 644 $DATA/ca.pem "$ROOT/etc/berth/ca.pem"`, machine},
	"export BERTH_ADDR=s1.example.net:7070,s2.example.net:7070 BERTH_CACERT=/etc/berth/ca.pem BERTH_TOKEN_FILE=~/alice.token": {
		`(unset BERTH_CLIENT_CERT BERTH_CONFIG && export BERTH_ADDR=$ADDR BERTH_CACERT="$ROOT/etc/berth/ca.pem" BERTH_TOKEN_FILE=$ROOT/alice.token && berth jobs)`,
		"names and folders, and the commands that follow are an operator's"},
	"berth ca issue operator NAME --dir /var/lib/berth/server --out NAME.pem": {"berth ca issue operator otto --dir $DATA --out otto.pem", "a name and a folder"},

	"berth submit job.yaml": {"for i in 2 3 4 5 6 7 8 9 10 11 12; do berth submit --hold -- true; done && berth submit job.yaml", "it waits for job 12"},

	"berth token remove":      {"berth token remove $(berth token list -o name | tail -n 1)", numbers},
	"berth explain":           {"berth explain $JOB", numbers},
	"berth job":               {"berth job $JOB", numbers},
	"berth logs":              {"berth logs $JOB", numbers},
	"berth wait":              {"berth wait $JOB", numbers},
	"cd e2e && go run ./load": {`cd "$REPO/adapters/fleet/e2e" && go vet ./load`, long},
	"go test ./...":           {`cd "$REPO/adapters/fleet" && go list ./... > /dev/null`, long},
}

// known are the programs whose commands run as they are written. Others need a
// replacement.
var known = []string{"berth", "bin/berth"}

func TestCommandsOfTheREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	commands, yaml := parse(string(text))
	require.Greater(t, len(commands), 30, "the README's commands are not found")
	require.Len(t, yaml, 1, "job.yaml")
	s := newShell(t, yaml[0])
	left := maps.Clone(replacements)
	for _, c := range commands {
		delete(left, c.text)
		t.Run(fmt.Sprintf("line %d: %s", c.line, c.text), func(t *testing.T) { s.run(t, c) })
	}
	require.Empty(t, slices.Collect(maps.Keys(left)), "replacements for what is not in the README")
}

// shell runs commands one after the other, in a folder of its own. What they export
// stays.
type shell struct {
	dir  string
	env  string // file
	vars []string
	dev  *exec.Cmd // nil: it does not run
}

// newShell starts a fleet, and makes what the README takes for granted.
func newShell(t *testing.T, jobFile string) *shell {
	c := cluster.Start(t, cluster.Options{Agents: cluster.Nodes("n1", "n2")})
	ran := c.Submit("--cpu", "0.1", "--", "true")
	c.Ended(ran, job.Completed)
	dir := t.TempDir()
	repo, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	s := &shell{dir: dir, env: filepath.Join(dir, "env")}
	for name, text := range map[string]string{
		"env": "", "job.yaml": jobFile, "script.sh": "#!/bin/sh\n#BERTH --time 1m\n#SBATCH --mem=1G\ntrue\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	first := c.Process("s1")
	s.vars = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") }),
		"ROOT="+dir, "REPO="+repo, "ADDR="+first.Address, "DATA="+first.Data, "JOB="+ran.String(),
		"XDG_CONFIG_HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	t.Cleanup(s.end)
	return s
}

// run runs one command, which has to succeed.
func (s *shell) run(t *testing.T, c command) {
	script := c.text
	if r, ok := replacements[c.text]; ok {
		script = r.instead
	} else {
		first, _, _ := strings.Cut(c.text, " ")
		require.Contains(t, known, first, "the test does not know how to run this; see replacements")
	}
	if strings.HasSuffix(script, " dev") {
		s.stay(t, script)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), cluster.Patience)
	defer cancel()
	out, err := s.command(ctx, fmt.Sprintf("set -eu\n. %s\n%s\nexport -p > %s\n", s.env, script, s.env)).CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
}

func (s *shell) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = s.dir, s.vars
	return cmd
}

// stay starts a command that stays, and waits until it says how it is reached.
func (s *shell) stay(t *testing.T, script string) {
	path := filepath.Join(s.dir, "dev.out")
	out, err := os.Create(path)
	require.NoError(t, err)
	defer out.Close()
	s.dev = s.command(context.Background(), script)
	s.dev.Stdout, s.dev.Stderr = out, out
	require.NoError(t, s.dev.Start())
	for end := time.Now().Add(cluster.Patience); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.Contains(string(text), "BERTH_CONFIG=") {
			return
		}
		require.True(t, time.Now().Before(end), "it does not say how it is reached: %s", text)
	}
}

// end ends what stays.
func (s *shell) end() {
	if s.dev != nil {
		_ = s.dev.Process.Signal(os.Interrupt) // it may have ended
		_ = s.dev.Wait()
	}
}
