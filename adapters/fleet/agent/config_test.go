package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// TestConfigProblems: all of them are named at once.
func TestConfigProblems(t *testing.T) {
	_, err := New(Config{
		Node: "../n1", DataDir: "data", Accounts: "all", Cgroup: "x",
		Prolog: Hook{Command: []string{"prolog"}}, Keep: Keep{For: -1}, Logs: LogLimits{FileBytes: 1},
		MaxKillGrace: -1, MaxStarts: -1, MaxProcesses: -1, HealthEvery: -1, MachineEvery: -1,
	})
	for _, field := range []string{"Node", "Address", "DataDir", "Server", "Accounts", "Cgroup", "Prolog", "Keep",
		"Logs", "MaxKillGrace", "MaxStarts", "MaxProcesses", "HealthEvery", "MachineEvery"} {
		require.ErrorContains(t, err, field+": ")
	}
	_, err = New(testConfig(t, t.TempDir(), newServer()))
	require.NoError(t, err)
}

// TestBackoff grows, to a limit, and is never the same for all.
func TestBackoff(t *testing.T) {
	for failures, most := range map[int]time.Duration{
		1: firstBackoff, 2: 2 * firstBackoff, 5: 16 * firstBackoff, 9: maxBackoff, 1000: maxBackoff,
	} {
		for range 100 {
			d := backoff(failures)
			require.GreaterOrEqual(t, d, most/2, failures)
			require.Less(t, d, most, failures)
		}
	}
}

// TestTermIsDurable: a damaged file is an error, not the term 0.
func TestTermIsDurable(t *testing.T) {
	f, err := openFolders(t.Context(), filepath.Join(t.TempDir(), "data"))
	require.NoError(t, err)
	defer f.close()
	term, err := f.readTerm()
	require.NoError(t, err)
	require.Zero(t, term)
	require.NoError(t, f.writeTerm(1<<63))
	term, err = f.readTerm()
	require.NoError(t, err)
	require.Equal(t, uint64(1<<63), term)
	require.NoError(t, os.WriteFile(filepath.Join(f.root, "term"), []byte("x"), 0o600))
	_, err = f.readTerm()
	require.ErrorContains(t, err, "damaged")
}

// TestDamagedReport: a task whose report cannot be read is not started again.
func TestDamagedReport(t *testing.T) {
	n := newNode(t, nil)
	require.Equal(t, job.Completed, n.run(script(1, "true")).State)
	n.stop()
	folder := filepath.Join(n.dir, "tasks", taskID(1).String())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "report.json"), []byte(`{"state":`), 0o600))
	ran := filepath.Join(sharedFolder(t), "ran")
	n.server.order(script(1, "touch "+ran))
	n.start(nil)
	require.Equal(t, job.Completed, n.run(script(2, "true")).State)
	eventually(t, "the report to be written anew", func() bool {
		stage, report, _, err := n.agent.folders.look(taskID(1))
		return err == nil && stage == stageReported && report.State == job.Completed
	})
	require.NoFileExists(t, ran)
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"task":"1_0.1.0","state":"FAILED","at":"2026-01-02T03:04:05Z","exit":{"code":3}}`))
	f.Add([]byte(`{"state":"RUNNING"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeReport(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Skip(err)
		}
		again, err := decodeReport(text)
		if err != nil || again.Task != r.Task || again.State != r.State {
			t.Fatalf("%s became %s (%v)", data, text, err)
		}
	})
}

func FuzzPasswd(f *testing.F) {
	f.Add("ann", "ann:x:1000:100:Ann:/home/ann:/bin/sh\n", "100 27")
	f.Fuzz(func(t *testing.T, name, line, groups string) {
		p, err := parsePasswd(name, line, groups)
		if err == nil && (p.Name != name || !filepath.IsAbs(p.Home)) {
			t.Fatalf("%q: %+v", line, p)
		}
	})
}
