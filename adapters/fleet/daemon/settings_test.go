package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/server"
)

func settingsFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "settings.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A file of settings is read strictly, and whole.
func TestSettingsFiles(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown setting": "nobodyKnows: 1", "a setting twice": "name: a\nname: b", "of another kind": "maxTasks: many",
		"a list": "[]", "no YAML": "\t:", "a bad amount": "reserved: {memory: lots}",
		// Cut at the limit it would be right, and say something else.
		"too large": "maxTasks: 1\n#" + strings.Repeat("x", maxSettings) + "\naccounts: own\n",
	} {
		var s AgentSettings
		err := readSettings(settingsFile(t, text), &s)
		require.Error(t, err, name)
		require.Contains(t, err.Error(), "settings.yaml", name)
	}
	err := readSettings(settingsFile(t, "name: n1\nnobodyKnows: 1\nmaxTasks: many\nrate: x\n"), &AgentSettings{})
	require.ErrorContains(t, err, "line 2: nobodyKnows: there is no such field; line 3: maxTasks: \"many\" is no whole number")
	var server ServerSettings
	require.NoError(t, readSettings(settingsFile(t, "rate: 2.5\nservers: [a:1]\nlost: 5m\n"), &server))
	require.Equal(t, 2.5, server.Rate)
	require.Equal(t, []string{"a:1"}, server.Servers)
	var s AgentSettings
	require.NoError(t, readSettings(settingsFile(t, "labels: {a: b}\nreserved: {memory: 1Gi}\naccounts: own\n"), &s))
	require.Equal(t, "b", s.Labels["a"])
	require.EqualValues(t, 1<<30, s.Reserved.Memory)
	require.Error(t, readSettings(filepath.Join(t.TempDir(), "none"), &s))
}

// Cores are pinned unless the settings say no.
func TestPinCores(t *testing.T) {
	for text, off := range map[string]bool{"name: n1": false, "pinCores: true": false, "pinCores: false": true} {
		var s AgentSettings
		require.NoError(t, readSettings(settingsFile(t, text), &s), text)
		require.Equal(t, off, s.config("test", nil, hclog.NewNullLogger()).NoPinning, text)
	}
}

// The help has the defaults that fill fills in.
func TestDefaultsAreInTheHelp(t *testing.T) {
	for _, c := range []struct {
		command    *cobra.Command
		data, port string
	}{{ServerCommand("x"), serverData, serverPort}, {AgentCommand("x"), agentData, agentPort}} {
		require.Contains(t, c.command.Flag("data").Usage, "(default "+c.data+")")
		require.Contains(t, c.command.Flag("listen").Usage, "(default :"+c.port+")")
		require.Contains(t, c.command.Long, "join-token "+c.command.Name()+")")
	}
}

// A join token that others can read is refused, and is not looked at where none is needed.
func TestJoinTokenIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "join-token")
	require.NoError(t, os.WriteFile(path, []byte("secret\n"), 0o600))
	c := Common{Servers: []string{"s1:7070"}, TokenFile: path}
	join, err := c.join(false)
	require.NoError(t, err)
	require.Equal(t, "secret", join.Token)
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o610, 0o660} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := c.join(false)
		require.ErrorContains(t, err, fmt.Sprintf("--join-token-file, or tokenFile in the settings: others than its owner can read %s (mode %04o): a file with a token", path, mode))
		require.NotContains(t, err.Error(), "secret\n")
	}
	for _, gone := range []bool{false, true} {
		if gone {
			require.NoError(t, os.Remove(path))
		}
		join, err = c.join(true)
		require.NoError(t, err)
		require.Empty(t, join.Token)
	}
	_, err = c.join(false)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// FuzzSettings: whatever is in a file, it is read or refused.
func FuzzSettings(f *testing.F) {
	for _, text := range []string{
		"", "name: n1\nservers: [a:1, b:2]\n", "reserved: {cpu: 500m, memory: 1Gi}", "labels: {a: b}\nhealth: {command: [x], limit: 1m}",
		"a: &a [*a]", "a: &a [x,x]\nb: [*a,*a]", "%YAML 1.1\n---\n...", "{", "lost: 5m\nrate: .inf", "\xff",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := settingsFile(t, text)
		for _, into := range []any{&AgentSettings{}, &ServerSettings{}} {
			if err := readSettings(path, into); err != nil {
				require.Contains(t, err.Error(), path)
			}
		}
	})
}

// configOf is the server's configuration by a file of settings.
func configOf(t *testing.T, text string) *server.Config {
	t.Helper()
	s := ServerSettings{Common: Common{Data: t.TempDir()}}
	require.NoError(t, readSettings(settingsFile(t, text), &s))
	cfg, err := s.config("test")
	require.NoError(t, err)
	return cfg
}

// How GPUs are packed gets from the file to the server.
func TestPackingIsASetting(t *testing.T) {
	for text, want := range map[string]string{"packing: Rollout": "Rollout", "rate: 1": ""} {
		require.Equal(t, want, configOf(t, text).Packing)
	}
}

// How many have reservations gets from the file to the server.
func TestReservationsAreASetting(t *testing.T) {
	for text, want := range map[string]int{"reservations: 500": 500, "rate: 1": 0} {
		require.Equal(t, want, configOf(t, text).Reservations)
	}
}

// Of how many it is forecast when they start gets from the file to the server.
func TestForecastsAreASetting(t *testing.T) {
	for text, want := range map[string]int{"forecasts: 100": 100, "rate: 1": 0} {
		require.Equal(t, want, configOf(t, text).Forecasts)
	}
}

// How measured load counts gets from the file to the server; what it cannot be is said.
func TestLoadIsASetting(t *testing.T) {
	for text, want := range map[string]scheduler.Load{
		"rate: 1":                   {},
		"load: {policy: LoadAware}": {Policy: "LoadAware"},
		"load: {policy: LoadAware, thresholds: {cpu: 90, memory: 0}, maxAge: 10m, weight: 3}": {
			Policy: "LoadAware", Thresholds: map[string]int64{"cpu": 90, "memory": 0}, MaxAge: job.Duration(10 * time.Minute), Weight: 3},
		"load: {policy: TargetLoadPacking, target: 60}": {Policy: "TargetLoadPacking", Target: 60},
	} {
		require.Equal(t, want, configOf(t, text).Load)
	}
	for text, want := range map[string]string{
		"load: {polcy: LoadAware}": "polcy", "load: {policy: LoadAware, maxAge: soon}": "maxAge", "load: LoadAware": "load",
		"load: {policy: LoadAware, thresholds: {cpu: .nan}}": "thresholds",
	} {
		require.ErrorContains(t, readSettings(settingsFile(t, text), &ServerSettings{}), want, text)
	}
}
