package state_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// lively is a state with something of everything.
func lively(t testing.TB) *state.State {
	s := state.New(nil)
	index := uint64(0)
	do := func(c *state.Command) {
		c.At, c.By = time.Unix(1_000_000+int64(index), 0).UTC(), "oscar"
		text, err := c.Encode()
		require.NoError(t, err)
		index++
		r := s.Apply(index, 1, [][]byte{text})[0].(state.Result)
		require.Nil(t, r.Err, "%s", text)
	}
	for _, n := range []string{"n0", "n1"} {
		do(&state.Command{Register: &api.Registration{Node: n, Boot: "1", Machine: api.Machine{
			CPU: 8000, Memory: 1000, GPUs: make([]api.GPU, 2), MaxTasks: 8, Other: map[string]int64{"tape": 2},
		}}})
	}
	array, err := job.ParseArray("0-9,1500-1520:5")
	require.NoError(t, err)
	specs := []job.Spec{
		{Command: []string{"a"}, Tasks: 2}, {Command: []string{"b"}, Array: array, Retry: job.Retry{Limit: 1}},
		{Command: []string{"c"}, After: []job.Dependency{{Kind: job.AfterOK, Job: "+0"}}},
		{Command: []string{"d"}, Resources: job.Resources{GPUs: &job.GPUs{}, Other: map[string]int64{"tape": 1}}},
	}
	for i := range specs {
		specs[i] = specs[i].WithDefaults()
	}
	do(&state.Command{Submit: &state.Submit{Specs: specs, Owner: "alice", Key: "k"}})
	place := func(id, node string, gpus ...state.GPUShare) {
		do(&state.Command{Place: &state.Place{Task: task(t, id), Node: node, GPUs: gpus}})
	}
	report := func(id, node string, s job.State) {
		do(&state.Command{Report: &state.Report{Node: node, Tasks: []api.Report{{Task: task(t, id), State: s, At: time.Unix(1_000_100, 0)}}}})
	}
	place("1_0.1.0", "n0")
	place("1_0.1.1", "n1")
	report("1_0.1.0", "n0", job.Running)
	for _, i := range []int{1, 2, 3, 1500} {
		place(fmt.Sprintf("2_%d.1.0", i), "n0")
	}
	report("2_1.1.0", "n0", job.Completed)
	report("2_2.1.0", "n0", job.Failed)
	place("4_0.1.0", "n1", state.GPUShare{GPU: 1, Share: 1000})
	x, err := job.ParseIndexes("5-6")
	require.NoError(t, err)
	do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: 2, Elements: &x}, Admin: true}})
	do(&state.Command{PutQueue: &api.Queue{Name: "night", MaxQueued: 3, Users: []string{"alice"}}})
	do(&state.Command{AddReservation: &api.Reservation{Name: "course", Nodes: []string{"n1"}, From: time.Unix(1_100_000, 0).UTC(), To: time.Unix(1_200_000, 0).UTC(), Users: []string{"alice"}}})
	do(&state.Command{PutQueue: &api.Queue{Name: "physics", Weight: 3, Guaranteed: cores(4)}})
	do(&state.Command{PutQueue: &api.Queue{Name: "lasers", Parent: "physics", Max: cores(8), Policy: api.PolicyFIFO}})
	do(&state.Command{PutAccount: &api.Account{Name: "uni"}})
	do(&state.Command{PutAccount: &api.Account{Name: "lab", Parent: "uni", Queue: "lasers"}})
	do(&state.Command{PutUser: &api.User{Name: "alice", Account: "lab", Weight: 2}})
	do(&state.Command{PutLimit: &api.Limit{Name: "l", Account: "uni", Use: cores(16)}})
	do(&state.Command{Revoke: &api.Revocation{ID: "user/eve", Created: time.Unix(1_000_000, 0).UTC(), Expires: time.Unix(2_000_000, 0).UTC()}})
	do(&state.Command{PutToken: &state.Token{TokenInfo: api.TokenInfo{ID: "abc", Role: api.RoleUser, Name: "alice"}, Hash: []byte{1}}})
	return s
}

// cores are so many cores.
func cores(n int) *api.Amounts {
	cpu := job.MilliCPU(n * 1000)
	return &api.Amounts{CPU: &cpu}
}

func task(t testing.TB, id string) job.TaskID {
	k, err := job.ParseTaskID(id)
	require.NoError(t, err)
	return k
}

// whole is picture for fuzzing too.
func whole(t testing.TB, s *state.State) []byte {
	var b bytes.Buffer
	_, err := s.Snapshot().WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

// FuzzCommands: whatever comes in a command, the rows agree with each other after it,
// and two servers have the same.
func FuzzCommands(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"term":7}`, `{"restored":true}`,
		`{"at":"2020-01-01T00:00:00Z","submit":{"specs":[{"command":["x"],"tasks":1}],"owner":"a"}}`,
		`{"submit":{"specs":[{"command":["x"],"tasks":1,"queue":"default","retry":{"backoff":"1s","maxBackoff":"2s"}}],"owner":"a","key":"k"}}`,
		`{"cancel":{"job":1,"state":"CANCELLED"}}`, `{"cancel":{"job":2,"elements":"0-7","state":"FLYING"}}`,
		`{"hold":{"job":2,"elements":"0-9"}}`, `{"hold":{"job":2,"release":true}}`, `{"requeue":{"job":2}}`,
		`{"place":{"task":"2_4.1.0","node":"n0"}}`, `{"place":{"task":"2_7.1.0","node":"n0","gpus":[{"gpu":0,"share":9223372036854775807},{"gpu":0,"share":1}]}}`,
		`{"place":{"task":"2_4.2147483647.0","node":"n0"}}`, `{"place":{"task":"1_0.1.2147483647","node":"n0"}}`,
		`{"stopTask":{"task":"1_0.1.0","state":"PREEMPTED"}}`, `{"stopTask":{"task":"1_0.1.0","state":"x"}}`, `{"unplace":{"task":"1_0.1.0"}}`,
		`{"report":{"node":"n0","tasks":[{"task":"1_0.1.0","state":"FAILED"},{"task":"1_0.1.1","state":"FAILED"}]}}`,
		`{"report":{"node":"n0","tasks":[{"task":"2_3.1.0","state":"FLYING","usage":{"cpuSeconds":1e300}}]}}`,
		`{"report":{"node":"n0","tasks":[{"task":"2_3.1.0","state":"REQUEUED","at":"9999-12-31T23:59:59Z","started":"0001-01-01T00:00:01Z"}]}}`,
		`{"register":{"node":"n0","boot":"2","machine":{"cpu":"1","maxTasks":-1}}}`, `{"register":{}}`,
		`{"nodeStatus":{"node":"n0","state":"LOST"}}`, `{"node":{"node":"n1","drain":{},"labels":{"a":""}}}`, `{"removeNode":"n0"}`,
		`{"putQueue":{"name":"physics","parent":"lasers"}}`, `{"putQueue":{"name":"x","weight":-1,"policy":"y","guaranteed":{"cpu":"5"},"max":{"cpu":"4","gpus":-1}}}`,
		`{"removeQueue":"physics"}`, `{"putAccount":{"name":"uni","parent":"lab"}}`, `{"putAccount":{"name":"a","queue":"none"}}`, `{"removeAccount":"uni"}`, `{"removeAccount":"lab"}`,
		`{"putUser":{"name":"bob","account":"none","weight":-5}}`, `{"removeUser":"alice"}`, `{"putLimit":{"name":"m","each":"task","running":1}}`,
		`{"putLimit":{"name":"m","queue":"lasers","each":"user","running":3,"use":{"other":{"a b":-1}}}}`, `{"removeLimit":"l"}`,
		`{"addReservation":{"name":"r","constraints":[{"label":"gpu"}],"from":"1970-01-02T00:00:00Z","to":"1970-01-03T00:00:00Z","repeat":"daily","zone":"Europe/Zurich"}}`,
		`{"addReservation":{"name":"","from":"0001-01-01T00:00:00Z","to":"9999-01-01T00:00:00Z","repeat":"x"}}`, `{"removeReservation":"course"}`,
		`{"putQueue":{"name":"default","stopped":true}}`, `{"removeQueue":"night"}`, `{"putToken":{"id":""}}`, `{"revoke":{"id":"user/eve","expires":"2030-01-01T00:00:00Z"}}`, `{"revoke":{}}`, `{"removeToken":"abc"}`,
		`{"purge":{"before":"2030-01-01T00:00:00Z","records":-1}}`, `{"purge":{"before":"2030-01-01T00:00:00Z","records":0}}`,
		`null`, `[]`, `{"submit":null}`, `{"submit":{"specs":[null],"owner":""}}`,
	} {
		f.Add([]byte(text), []byte(`{"requeue":{"job":2}}`))
	}
	start := whole(f, lively(f))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, b := state.New(nil), state.New(nil)
		require.NoError(t, a.Restore(bytes.NewReader(start)))
		require.NoError(t, b.Restore(bytes.NewReader(start)))
		require.Equal(t, a.Apply(100, 1, [][]byte{first, second}), b.Apply(100, 1, [][]byte{first, second}))
		require.Equal(t, string(whole(t, a)), string(whole(t, b)))
		checkRows(t, a.View())
		// What came of it can be read again, and is the same.
		c := state.New(nil)
		require.NoError(t, c.Restore(bytes.NewReader(whole(t, a))))
		require.Equal(t, string(whole(t, a)), string(whole(t, c)))
	})
}

// FuzzRestore: what is no picture is refused and changes nothing; with what is taken, a
// server can work, and a fleet go on from it as from a backup.
func FuzzRestore(f *testing.F) {
	start := whole(f, lively(f))
	f.Add(start)
	f.Add(start[:len(start)/2])
	lines := bytes.SplitAfter(start, []byte("\n"))
	for i := range lines {
		without := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...))
		f.Add(without)
		f.Add(bytes.Replace(without, fmt.Appendf(nil, `"rows":%d`, len(lines)-3), fmt.Appendf(nil, `"rows":%d`, len(lines)-4), 1))
	}
	for _, row := range []string{`{"t":"jobs","r":null}`, `{"t":"jobs","r":{"id":1,"counts":[1]}}`, `{"t":"nodes","r":null}`, `{"t":"chunks","r":{"codes":"AAA="}}`} {
		f.Add([]byte(`{"berthState":1}` + "\n" + row + "\n" + `{"t":"end","r":{"rows":1}}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := state.New(nil)
		if s.Restore(bytes.NewReader(text)) != nil {
			require.Zero(t, s.View().Index())
			return
		}
		v := s.View()
		var commands [][]byte
		add := func(c *state.Command) {
			text, err := c.Encode()
			require.NoError(t, err)
			commands = append(commands, text)
		}
		for k := range v.Tasks() {
			add(&state.Command{Report: &state.Report{Node: k.Node, Tasks: []api.Report{{Task: k.ID, State: job.Failed}}}})
		}
		for j := range v.Jobs() {
			_ = v.Waits(j, time.Now())
			_ = v.ElementWaits(j, 0, time.Now())
			_, _ = v.NextWaiting(j, -1)
			add(&state.Command{Requeue: &state.Select{Job: j.ID}})
			add(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: j.ID}, State: job.Cancelled}})
		}
		for n := range v.Nodes() {
			add(&state.Command{NodeStatus: &state.NodeStatus{Node: n.Node, State: api.NodeLost}})
		}
		add(&state.Command{Purge: &state.Purge{Before: time.Now(), Records: 1}})
		add(&state.Command{Restored: true})
		s.Apply(v.Index()+1, 1, commands)
		require.NotEmpty(t, whole(t, s))
		var next bytes.Buffer
		require.NoError(t, state.Continue(bytes.NewReader(text), v, v.Now().Add(time.Hour), &next))
		require.NoError(t, state.New(nil).Restore(&next))
	})
}

// FuzzEventIDs: the order of IDs is an order, whatever is taken for one.
func FuzzEventIDs(f *testing.F) {
	f.Add("1.0", "1.1", "2.0")
	f.Add("1.9223372036854775807", "1.-1", "x")
	f.Add("", ".", "18446744073709551615.0")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		require.Zero(t, state.CompareEvents(a, a))
		require.Equal(t, state.CompareEvents(a, b), -state.CompareEvents(b, a))
		if state.CompareEvents(a, b) <= 0 && state.CompareEvents(b, c) <= 0 {
			require.LessOrEqual(t, state.CompareEvents(a, c), 0)
		}
		s := lively(t)
		events, _, _ := s.Events().After(a)
		for _, e := range events {
			require.Positive(t, state.CompareEvents(e.ID, a))
		}
		all, _, _ := s.Events().After("")
		require.LessOrEqual(t, len(events), len(all))
	})
}

// A leader's clock that was wrong once does not keep anybody from being tried again.
func TestClockThatWasWrong(t *testing.T) {
	s := lively(t)
	wrong := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	text, err := (&state.Command{At: wrong, Report: &state.Report{Node: "n0", Tasks: []api.Report{{Task: task(t, "2_3.1.0"), State: job.Failed}}}}).Encode()
	require.NoError(t, err)
	s.Apply(50, 1, [][]byte{text})
	v := s.View()
	w := v.ElementWaits(v.Job(2), 3, wrong)
	require.Equal(t, job.ReasonBackoff, w.Reason, "it is a pause")
	now := time.Now()
	w = v.ElementWaits(v.Job(2), 3, now)
	require.True(t, w.None(), "that nobody waits for")
}

// What agents say they used never makes less of what was used before.
func TestUsageStopsAtTheLargest(t *testing.T) {
	s := lively(t)
	index := uint64(60)
	for _, id := range []string{"1_0.1.0", "2_3.1.0", "2_1500.1.0"} {
		index++
		text, err := (&state.Command{At: time.Unix(2_000_000, 0), Report: &state.Report{Node: "n0", Tasks: []api.Report{{
			Task: task(t, id), State: job.Completed, Started: time.Unix(0, 0), At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
			Usage: api.Usage{CPUSeconds: 1e300, ReadBytes: 1<<63 - 1},
		}}}}).Encode()
		require.NoError(t, err)
		s.Apply(index, 1, [][]byte{text})
	}
	for owner, sum := range s.View().Totals() {
		require.Positive(t, sum.CPUMicros, owner)
		require.Positive(t, sum.AllocMicros, owner)
		require.Positive(t, sum.WallMicros, owner)
		require.GreaterOrEqual(t, sum.ReadBytes, job.Bytes(0), owner)
	}
}
