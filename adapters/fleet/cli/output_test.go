package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain":          "plain",
		"größte 日本 😀":    "größte 日本 😀",
		"\x1b[2J":        `\x1b[2J`,
		"a\r\nb\tc\x00":  `a\r\nb\tc\x00`,
		"\x7f\u009b2J":   `\x7f\u009b2J`,
		"\u202eevil":     `\u202eevil`,
		"\xff\xfe":       `\xff\xfe`,
		"no\u00a0break":  `no\u00a0break`,
		"\U000e0001 tag": `\U000e0001 tag`,
	} {
		assert.Equal(t, want, visible(text))
	}
	assert.Equal(t, "a\nb\\x1b", visibleLines("a\nb\x1b"))
}

// What a job writes reaches a terminal with its lines and colours, and with
// nothing else that a terminal acts on, however it is cut into pieces.
func TestTame(t *testing.T) {
	const text = "a\x1b[31;1mred\x1b[0m\tb\r\n\x1b]0;title\x07\x1b[2J\x1b[?1049hü\xff\u009b5n"
	const want = "a\x1b[31;1mred\x1b[0m\tb\r\n\\x1b]0;title\\a\\x1b[2J\\x1b[?1049hü\\xff\\u009b5n"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		to := &tame{to: &out}
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			_, err := to.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, to.Close())
		assert.Equal(t, want, out.String(), "pieces of %d", size)
	}
}

func TestTable(t *testing.T) {
	tab := &table{rows: [][]string{{"A", "STATE", "C"}}, paint: true}
	tab.row("größte", "RUNNING", "x")
	tab.row("\x1b", "FAILED", "")
	tab.row("1", "OTHER", "y")
	var out bytes.Buffer
	tab.write(&out)
	assert.Equal(t, "A       STATE    C\ngrößte  \x1b[32mRUNNING\x1b[0m  x\n\\x1b    \x1b[31mFAILED\x1b[0m\n1       OTHER    y\n", out.String())
}

func TestColoursAreForTerminals(t *testing.T) {
	a := &app{getenv: func(string) string { return "" }}
	assert.False(t, a.colours(&bytes.Buffer{}))
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer f.Close()
	assert.False(t, a.colours(f), "a file that is no terminal")
}

func TestFit(t *testing.T) {
	frame := []byte("12345678\n\x1b[31mgrün und rot\x1b[0m\n3\n4\n5\n")
	assert.Equal(t, goHome+"12345"+clearLine+"\r\n\x1b[31mgrün \x1b[0m"+clearLine+"\r\n3"+clearLine+"\r\n"+clearBelow,
		string(fit(frame, 5, 4)))
}

func TestAmounts(t *testing.T) {
	for b, want := range map[job.Bytes]string{0: "0", 1023: "1023", 1024: "1Ki", 1536: "1.5Ki", 100 << 20: "100Mi", 1 << 40: "1Ti", 1<<63 - 1: "8Ei"} {
		assert.Equal(t, want, shortBytes(b))
	}
	for d, want := range map[time.Duration]string{0: "00:00", -1: "00:00", 61 * time.Second: "01:01", time.Hour: "01:00:00", 26*time.Hour + 3*time.Second: "1-02:00:03"} {
		assert.Equal(t, want, clock(d))
	}
	assert.Equal(t, "104166-16:00:00", seconds(1e300), "too large for a duration")
}

func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{command.Mistake(errors.New("x")), 2},
		{&job.ValidationError{Problems: []job.Problem{{}}}, 2},
		{job.ErrTooLarge, 2},
		{&api.Error{Code: api.CodeInvalid}, 2},
		{fmt.Errorf("job 1: %w", &api.Error{Code: api.CodeNotFound}), 3},
		{&api.Error{Code: api.CodeUnauthorized}, 4},
		{&api.Error{Code: api.CodeForbidden}, 4},
		{&api.Error{Code: api.CodeNoLeader}, 5},
		{fmt.Errorf("%w: s1", client.ErrUnreachable), 5},
		{&api.Error{Code: api.CodeConflict}, 1},
		{&exitError{137, errors.New("x")}, 137},
	} {
		assert.Equal(t, c.want, ExitCode(c.err), c.err)
	}
}

func TestParseTarget(t *testing.T) {
	for _, c := range []struct {
		text string
		want target
		err  string
	}{
		{"17", target{17, ""}, ""},
		{"17_3", target{17, "3"}, ""},
		{"17_[1-5,9]", target{17, "1-5,9"}, ""},
		{"17_9,1-5", target{17, "1-5,9"}, ""},
		{"0", target{}, "is no job"},
		{"-1", target{}, "is no job"},
		{"18446744073709551616", target{}, "is no job"},
		{"17_", target{}, "is no range"},
		{"17_[", target{}, "without its"},
		{"17_x", target{}, "is no range"},
	} {
		got, err := parseTarget(c.text)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.text)
			assert.Equal(t, ExitUsage, ExitCode(err))
			continue
		}
		if assert.NoError(t, err, c.text) {
			assert.Equal(t, c.want, got)
		}
	}
}

// Of several elements the worst counts, and of each the last attempt.
func TestJobCode(t *testing.T) {
	attempt := func(element, n int32, state job.State, code int) api.Attempt {
		return api.Attempt{Element: element, Attempt: n, State: state, Exit: &api.Exit{Code: code}}
	}
	for name, c := range map[string]struct {
		state    job.State
		attempts []api.Attempt
		want     int
	}{
		"a retry that worked":  {job.Completed, []api.Attempt{attempt(0, 2, job.Completed, 0), attempt(0, 1, job.Failed, 9)}, 0},
		"the last one failed":  {job.Failed, []api.Attempt{attempt(0, 1, job.Failed, 9), attempt(0, 2, job.Failed, 4)}, 4},
		"the worst of several": {job.Failed, []api.Attempt{attempt(0, 1, job.Failed, 9), attempt(1, 1, job.Failed, 4)}, 9},
		"one reached its time": {job.Failed, []api.Attempt{attempt(0, 1, job.Failed, 9), attempt(1, 1, job.Timeout, -1)}, 124},
		"nothing ever ran":     {job.Deadline, nil, 124},
		"a strange exit code":  {job.Failed, []api.Attempt{attempt(0, 1, job.Failed, 256)}, 255},
		"a failure without":    {job.NodeFail, []api.Attempt{{State: job.NodeFail}}, 1},
	} {
		assert.Equal(t, c.want, jobCode(&api.JobDetail{Job: api.Job{State: c.state}, Attempts: c.attempts}), name)
	}
}

// Where servers and tokens come from, and in which order.
func TestSettings(t *testing.T) {
	e := newEnvironment(t)
	ca := e.vars["BERTH_CACERT"]
	config := e.write(t, "config.yaml", "servers: file:1\ncaCert: "+ca+"\ntoken: file-token\n", 0o600)
	other := e.write(t, "other", " file2-token \n", 0o600)
	open := e.write(t, "open", "x", 0o644)
	openConfig := e.write(t, "open.yaml", "token: x\n", 0o644)
	unknown := e.write(t, "unknown.yaml", "server: x\n", 0o600)
	large := e.write(t, "large", strings.Repeat("x", maxSetting+1), 0o600)
	for name, c := range map[string]struct {
		flags  settings
		env    map[string]string
		server string
		token  string
		err    string
	}{
		"the file":         {env: map[string]string{"BERTH_CONFIG": config}, server: "file:1", token: "file-token"},
		"the variables":    {env: map[string]string{"BERTH_CONFIG": config, "BERTH_ADDR": "env:1,env:2", "BERTH_TOKEN": "env-token"}, server: "env:1 env:2", token: "env-token"},
		"the flags":        {flags: settings{Servers: "flag:1", TokenFile: other}, env: map[string]string{"BERTH_CONFIG": config, "BERTH_ADDR": "env:1", "BERTH_TOKEN": "env-token"}, server: "flag:1", token: "file2-token"},
		"no token":         {flags: settings{Servers: "s", CACert: ca}, server: "s"},
		"no server":        {err: "no server is known"},
		"no authority":     {flags: settings{Servers: "s"}, err: "the fleet's authority is not known"},
		"a readable token": {flags: settings{Servers: "s", CACert: ca, TokenFile: open}, err: "(mode 0644): a file with a token"},
		"a readable file":  {env: map[string]string{"BERTH_CONFIG": openConfig}, err: "a file with a token or a key needs mode 0600"},
		"an unknown field": {env: map[string]string{"BERTH_CONFIG": unknown}, err: `line 1: server: there is no such field`},
		"a named file":     {env: map[string]string{"BERTH_CONFIG": filepath.Join(e.dir, "nosuch")}, err: "no such file"},
		"a large file":     {env: map[string]string{"BERTH_CONFIG": large}, err: "has more than 65536 bytes"},
	} {
		got, err := c.flags.resolve(func(name string) string { return c.env[name] })
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, name)
			assert.Equal(t, ExitUsage, ExitCode(err), name)
			continue
		}
		if assert.NoError(t, err, name) {
			assert.Equal(t, c.server, strings.Join(got.Servers, " "), name)
			assert.Equal(t, c.token, got.Token, name)
		}
	}
}

func TestWrongToken(t *testing.T) {
	e := newEnvironment(t)
	e.vars["BERTH_TOKEN_FILE"] = e.write(t, "wrong", "stolen", 0o600)
	code, out, errOut := e.run("jobs")
	assert.Equal(t, ExitNotAllowed, code)
	assert.Empty(t, out)
	assert.Equal(t, "berth: the token is not known\n", errOut)
}

// A script may come from the standard input, and submit --wait has the job's code.
func TestSubmitFromInput(t *testing.T) {
	e := newEnvironment(t)
	e.in = "#!/bin/sh\n#BERTH -J piped\ntrue\n"
	code, _, errOut := e.run("submit", "--key=k", "-")
	assert.Zero(t, code, errOut)
	require.Len(t, e.asked, 1)
	assert.Contains(t, e.asked[0], `"name":"piped"`)

	e.in = strings.Repeat(" ", job.MaxFileSize+1)
	code, _, errOut = e.run("submit", "-")
	assert.Equal(t, ExitUsage, code)
	assert.Contains(t, errOut, "too large")

	code, _, errOut = e.run("submit", "--wait", "--", "true")
	assert.Equal(t, ExitNotTheJobs, code, "job 22 is not there any more: %s", errOut)
}

// The commands that run servers get those that look after them.
func TestExtraCommands(t *testing.T) {
	ran := ""
	server := &cobra.Command{Use: "server", RunE: func(*cobra.Command, []string) error { ran = "server"; return nil }}
	agent := &cobra.Command{Use: "agent", RunE: func(*cobra.Command, []string) error { ran = "agent"; return nil }}
	for _, args := range []string{"server", "agent"} {
		c := NewCommand("1", server, agent)
		c.SetArgs([]string{args})
		require.Zero(t, Execute(t.Context(), c))
		assert.Equal(t, args, ran)
		server.ResetCommands()
	}
	c := NewCommand("1", server, agent)
	found, _, err := c.Find([]string{"server", "status"})
	require.NoError(t, err)
	assert.Equal(t, "berth server status", found.CommandPath())
	found, _, err = c.Find([]string{"server"})
	require.NoError(t, err)
	assert.Same(t, server, found)
}

// Every command says what it is for, and wants its arguments checked.
func TestCommandsAreDocumented(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		assert.NotEmpty(t, c.Short, c.CommandPath())
		assert.NotNil(t, c.Args, c.CommandPath())
		assert.True(t, c.Runnable(), c.CommandPath())
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(NewCommand("1"))
}

func TestCompletion(t *testing.T) {
	e := newEnvironment(t)
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, _ := e.run("completion", shell)
		assert.Zero(t, code)
		assert.Contains(t, out, "berth", shell)
	}
}

// A wait that is broken off says so.
func TestWaitEnds(t *testing.T) {
	e := newEnvironment(t)
	ctx, cancel := context.WithCancel(t.Context())
	a := &app{getenv: func(name string) string { return e.vars[name] }, now: func() time.Time { return now }, patience: -1,
		pause: func(context.Context, time.Duration) error { cancel(); return ctx.Err() }}
	c := newCommand(a, nil)
	c.SetArgs([]string{"wait", "40"})
	assert.ErrorIs(t, c.ExecuteContext(ctx), context.Canceled)
}

// Nothing that cannot be shown, but for lines, tabs and colours, gets through.
func FuzzTame(f *testing.F) {
	f.Add([]byte("a\x1b[31mb"), 3)
	f.Add([]byte("\x1b[\x1b[m\xe2\x82"), 1)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var whole, pieces bytes.Buffer
		to := &tame{to: &whole}
		_, err := to.Write(data)
		require.NoError(t, err)
		require.NoError(t, to.Close())
		cut = max(0, min(cut, len(data)))
		to = &tame{to: &pieces}
		for _, piece := range [][]byte{data[:cut], data[cut:]} {
			_, err := to.Write(piece)
			require.NoError(t, err)
		}
		require.NoError(t, to.Close())
		require.Equal(t, whole.String(), pieces.String())
		for rest := whole.Bytes(); len(rest) > 0; {
			if rest[0] == 0x1b {
				n, _ := colour(rest)
				require.Positive(t, n)
				rest = rest[n:]
				continue
			}
			r, n := utf8.DecodeRune(rest)
			require.True(t, r == '\n' || r == '\t' || r == '\r' || !hidden(r), "%q", r)
			rest = rest[n:]
		}
	})
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[31mb\xff")
	f.Fuzz(func(t *testing.T, s string) {
		require.False(t, strings.ContainsFunc(visible(s), hidden))
		var out bytes.Buffer
		require.NoError(t, writeJSON(&out, s))
		require.False(t, strings.ContainsFunc(strings.TrimSuffix(out.String(), "\n"), hidden))
		var back string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, string([]rune(s)), back, "what is no UTF-8 is lost in JSON, nothing else is")
	})
}

func FuzzParseTarget(f *testing.F) {
	f.Add("17_[1-5,9]")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseTarget(s)
		if err != nil {
			return
		}
		again, err := parseTarget(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
