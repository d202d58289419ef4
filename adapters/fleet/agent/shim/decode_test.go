package shim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/durable"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func goodTask() Task {
	return Task{
		ID: job.TaskID{Job: 17, Attempt: 1}, Argv: []string{"/bin/true"}, Env: []string{"A=b"}, Dir: "/",
		Account: &Account{Name: "ann", UID: 1000, GID: 100, Groups: []uint32{100, 27}},
		Logs:    tasklog.Limits{FileBytes: 1, Files: 1},
		Memory:  1, TimeLimit: time.Hour, WarnSignal: "USR1", WarnBefore: time.Minute, KillGrace: time.Second,
	}
}

// TestTask: what is written is read; what makes no sense is refused, all of it at once.
func TestTask(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadTask(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	has, err := HasTask(dir)
	require.NoError(t, err)
	require.False(t, has)
	require.NoError(t, WriteTask(dir, goodTask()))
	got, err := ReadTask(dir)
	require.NoError(t, err)
	require.Equal(t, goodTask(), got)
	has, err = HasTask(dir)
	require.NoError(t, err)
	require.True(t, has)
	info, err := os.Stat(filepath.Join(dir, "task.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it has the environment, and secrets in it")

	bad := Task{Dir: "x", Stdout: "x", Stderr: "x", Cgroup: "x", Memory: -1, WarnSignal: "NO", Env: []string{"A=\x00"}}
	data, err := json.Marshal(bad)
	require.NoError(t, err)
	_, err = DecodeTask(data)
	for _, field := range []string{"argv", "env", "dir", "stdout", "stderr", "logs", "cgroup", "negative", "warnSignal"} {
		require.ErrorContains(t, err, field)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct{ name, text, problem string }{
		{"not started", `{}`, ""},
		{"running", `{"state":"RUNNING","pid":7,"started":"2026-01-02T03:04:05Z"}`, ""},
		{"ended", `{"state":"FAILED","ended":"2026-01-02T03:04:05Z","exit":{"code":3}}`, ""},
		{"a state that is none", `{"state":"FINE"}`, "neither RUNNING nor an end"},
		{"pending", `{"state":"PENDING"}`, "neither RUNNING nor an end"},
		{"init", `{"state":"RUNNING","pid":1,"started":"2026-01-02T03:04:05Z"}`, "without a process"},
		{"ended, no time", `{"state":"FAILED"}`, "without a time"},
		{"cut off", `{"state":"FAI`, "status.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeStatus([]byte(c.text))
			if c.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.problem)
		})
	}
}

func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "status.json"), make([]byte, maxStatusBytes+1), 0o600))
	_, err := ReadStatus(dir)
	require.ErrorIs(t, err, durable.ErrTooLarge)
}

func TestRequest(t *testing.T) {
	for text, problem := range map[string]string{
		`{}`: "",
		`{"stop":{"state":"CANCELLED","grace":5}}`:                "",
		`{"stop":{"state":"CANCELLED","grace":5,"signal":"INT"}}`: "",
		`{"stop":{"grace":5}}`:                                    "is not an end",
		`{"stop":{"state":"RUNNING","grace":5}}`:                  "is not an end",
		`{"stop":{"state":"CANCELLED","grace":-1}}`:               "negative",
		`{"stop":{"state":"CANCELLED","signal":"NO"}}`:            "not the name of a signal",
		`[`: "unexpected end",
	} {
		_, err := DecodeRequest([]byte(text))
		if problem == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, problem, text)
		}
	}
}

func TestSignals(t *testing.T) {
	for _, name := range []string{"TERM", "SIGTERM", "term", "USR1", "KILL"} {
		n, err := SignalNumber(name)
		require.NoError(t, err)
		require.NotZero(t, n)
	}
	for _, name := range []string{"", "SIG", "9", "TERM ", "RTMIN"} {
		_, err := SignalNumber(name)
		require.Error(t, err, name)
	}
	require.Equal(t, "KILL", signalName(9))
	require.Equal(t, "40", signalName(40))
}

// TestLookPath: programs come from the folders of the task's PATH, never from where
// the task happens to be.
func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, mode))
	}
	write("a/tool", 0o644)
	write("b/tool", 0o755)
	write("here", 0o755)
	for _, c := range []struct{ name, path, want, problem string }{
		{"tool", dir + "/a:" + dir + "/b", dir + "/b/tool", ""},
		{"tool", dir + "/a", "", "program " + dir + "/a/tool: it is not executable"},
		{"tool", dir, "", "program tool: it is in no folder of PATH=" + dir},
		{"tool", dir + "/here:" + dir + "/b", dir + "/b/tool", ""},
		{"here", ":.:", "", "in no folder of PATH"},
		{"./here", "", dir + "/here", ""},
		{dir + "/b/tool", "", dir + "/b/tool", ""},
		{dir + "/b", "", "", "program " + dir + "/b: it is not a file"},
		{dir + "/none", "", "", "program " + dir + "/none: there is no such file"},
	} {
		got, err := Task{Argv: []string{c.name}, Dir: dir, Env: []string{"PATH=" + c.path}}.lookPath()
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

// TestDialNobody: certainty that there is no shim.
func TestDialNobody(t *testing.T) {
	dir := t.TempDir()
	_, err := Dial(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, ErrGone)
	_, err = Dial(dir)
	require.ErrorIs(t, err, ErrGone)
	socket, err := Listen(dir)
	require.NoError(t, err)
	conn, err := Dial(dir)
	require.NoError(t, err, "from before the shim has come")
	require.NoError(t, conn.Close())
	require.NoError(t, socket.Close())
	_, err = Dial(dir)
	require.ErrorIs(t, err, ErrGone)
}

// roundTrip checks that what was decoded is the same when it is written and read again.
func roundTrip[T any](t *testing.T, data []byte, decode func([]byte) (T, error)) {
	first, err := decode(data)
	if err != nil {
		return
	}
	text, err := json.Marshal(first)
	if err != nil {
		t.Skip(err) // times beyond what JSON has a way to write
	}
	second, err := decode(text)
	if err != nil {
		t.Fatalf("%s was good, and %s is not: %v", data, text, err)
	}
	again, err := json.Marshal(second)
	if err != nil || !reflect.DeepEqual(text, again) {
		t.Fatalf("%s became %s (%v)", text, again, err)
	}
}

func FuzzTask(f *testing.F) {
	data, err := json.Marshal(goodTask())
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"argv":[""],"dir":"../x"}`))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data, DecodeTask) })
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"state":"RUNNING","pid":7,"started":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"state":"FAILED","ended":"2026-01-02T03:04:05Z","exit":{"code":-1,"signal":"KILL"},"usage":{"cpu":1}}`))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data, DecodeStatus) })
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"stop":{"state":"CANCELLED","grace":5,"signal":"INT","reason":"x"}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data, DecodeRequest) })
}
