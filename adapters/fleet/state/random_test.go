package state_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// history applies random commands to two states, of which one is replaced by its
// picture now and then, and both by an older picture, as a backup, once in a while. It
// checks after each that the rows agree with each other, and that no ID is used twice.
type history struct {
	t      *testing.T
	rng    *rand.Rand
	a, b   *state.State
	index  uint64
	now    time.Time
	placed map[job.TaskID]bool
	jobs   map[job.ID]bool
	backup string // a picture
}

func TestRandomHistories(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 15
	}
	for run := range runs {
		seed := uint64(run)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			h := &history{
				t: t, rng: rand.New(rand.NewPCG(seed, 0)), a: state.New(nil), b: state.New(nil),
				now: time.Unix(1_000_000, 0).UTC(), placed: map[job.TaskID]bool{}, jobs: map[job.ID]bool{},
			}
			for range 300 {
				h.step()
			}
			h.drain()
		})
	}
}

// apply applies a command to both states, and returns its result.
func (h *history) apply(c *state.Command) state.Result {
	h.index++
	h.now = h.now.Add(time.Duration(h.rng.IntN(3)) * time.Second)
	c.At, c.By = h.now, "somebody"
	text, err := c.Encode()
	require.NoError(h.t, err)
	ra := h.a.Apply(h.index, 1, [][]byte{text})
	rb := h.b.Apply(h.index, 1, [][]byte{text})
	require.Equal(h.t, ra, rb, "%s", text)
	r := ra[0].(state.Result)
	if c.Place != nil && r.Elements > 0 {
		require.False(h.t, h.placed[c.Place.Task], "task %s is placed twice", c.Place.Task)
		h.placed[c.Place.Task] = true
	}
	for _, id := range r.Jobs {
		require.False(h.t, h.jobs[id], "there was a job %d", id)
		h.jobs[id] = true
	}
	checkRows(h.t, h.a.View())
	checkRoom(h.t, h.a.View())
	if h.rng.IntN(40) == 0 {
		h.restart()
	}
	return r
}

// restart replaces the second state by its picture.
func (h *history) restart() {
	h.b = restored(h.t, h.b)
	require.Equal(h.t, picture(h.t, h.a), picture(h.t, h.b), "the states differ")
}

// keepOrRestore makes a backup, or restores the last one.
func (h *history) keepOrRestore() {
	if h.chance(60) || h.backup == "" {
		h.apply(&state.Command{Purge: &state.Purge{Records: 20}}) // a backup has a time
		h.backup = picture(h.t, h.a)
		return
	}
	h.now = h.now.Add(time.Second) // no fleet is restored twice in a second
	var next bytes.Buffer
	present := h.a.View()
	if h.chance(50) {
		present = state.New(nil).View() // of a fleet that was lost
	}
	require.NoError(h.t, state.Continue(strings.NewReader(h.backup), present, h.now, &next))
	for _, s := range []*state.State{h.a, h.b} {
		require.NoError(h.t, s.Restore(bytes.NewReader(next.Bytes())))
	}
	checkRows(h.t, h.a.View())
	for k := range h.a.View().Tasks() {
		require.True(h.t, k.Ready && k.Restored, "task %s", k.ID)
	}
	h.apply(&state.Command{Restored: true})
}

func picture(t *testing.T, s *state.State) string {
	var b bytes.Buffer
	_, err := s.Snapshot().WriteTo(&b)
	require.NoError(t, err)
	return b.String()
}

func restored(t *testing.T, s *state.State) *state.State {
	next := state.New(nil)
	require.NoError(t, next.Restore(bytes.NewReader([]byte(picture(t, s)))))
	return next
}

// step makes one random command.
func (h *history) step() {
	if h.rng.IntN(40) == 0 {
		h.keepOrRestore()
	}
	switch h.rng.IntN(14) {
	case 0:
		h.apply(&state.Command{Register: h.registration()})
	case 1, 2:
		h.apply(&state.Command{Submit: &state.Submit{Specs: []job.Spec{h.spec()}, Owner: h.pick("ann", "bob")}})
	case 3, 4, 5, 6:
		h.placeSome()
	case 7, 8, 9:
		h.reportSome()
	case 10:
		h.act()
	case 11:
		if k := h.someTask(); k != nil {
			s := h.pickState(job.Preempted, job.NodeFail)
			h.apply(&state.Command{StopTask: &state.StopTask{Task: k.ID, State: s}})
		}
	case 12:
		if k := h.someTask(); k != nil && !k.Ready {
			h.apply(&state.Command{Unplace: &state.Unplace{Task: k.ID}})
		}
	case 13:
		h.nodeCommand()
	}
}

func (h *history) pick(of ...string) string            { return of[h.rng.IntN(len(of))] }
func (h *history) pickState(of ...job.State) job.State { return of[h.rng.IntN(len(of))] }
func (h *history) node() string                        { return fmt.Sprintf("n%d", h.rng.IntN(4)) }
func (h *history) chance(percent int) bool             { return h.rng.IntN(100) < percent }
func some[T any](h *history, all []T) (one T, ok bool) {
	if len(all) == 0 {
		return one, false
	}
	return all[h.rng.IntN(len(all))], true
}

func (h *history) registration() *api.Registration {
	return &api.Registration{
		Node: h.node(), Boot: h.pick("1", "1", "1", "2"),
		Machine: api.Machine{CPU: 4000, Memory: 1000, GPUs: make([]api.GPU, 2), MaxTasks: 5, Other: map[string]int64{"tape": 1}},
	}
}

func (h *history) spec() job.Spec {
	s := job.Spec{Command: []string{"true"}, Name: h.pick("x", "y"), Hold: h.chance(10), NoRequeue: h.chance(20)}
	s.Resources.CPU = job.MilliCPU(500 * (1 + h.rng.IntN(4)))
	if h.chance(30) {
		s.Resources.GPUs = &job.GPUs{Count: 1, Share: 500}
	}
	if h.chance(30) {
		s.Tasks = int32(2 + h.rng.IntN(3))
	}
	if h.chance(30) {
		s.Array, _ = job.ParseArray(h.pick("0-9", "1-3000:700", "5", "1020-1030"))
	}
	if h.chance(50) {
		s.Retry = job.Retry{Limit: 2}
	}
	return s.WithDefaults()
}

// placeSome gives nodes to the tasks of some element that waits.
func (h *history) placeSome() {
	v := h.a.View()
	j, ok := some(h, slices.Collect(v.Jobs()))
	if !ok {
		return
	}
	element := int32(0)
	if e, ok := some(h, slices.Collect(v.Elements(j.ID))); ok && h.chance(60) {
		element = e.Index
	} else if i, ok := v.NextWaiting(j, -1); ok {
		element = i
	} else {
		return
	}
	attempt := v.NextAttempt(j.ID, element)
	for rank := range j.Spec.Tasks {
		if h.chance(20) {
			continue
		}
		p := &state.Place{Task: job.TaskID{Job: j.ID, Element: element, Attempt: attempt, Rank: rank}, Node: h.node()}
		if j.Spec.Resources.GPUs != nil {
			p.GPUs = []state.GPUShare{{GPU: h.rng.IntN(3), Share: 500}}
		}
		h.apply(&state.Command{Place: p})
	}
}

func (h *history) someTask() *state.Task {
	k, _ := some(h, slices.Collect(h.a.View().Tasks()))
	return k
}

func (h *history) reportSome() {
	k := h.someTask()
	if k == nil {
		return
	}
	r := api.Report{Task: k.ID, State: job.Running, At: h.now}
	if h.chance(60) {
		r.State = h.pickState(job.Completed, job.Completed, job.Failed, job.Timeout, job.OutOfMemory, job.BootFail)
		if k.Stop != nil {
			r.State = k.Stop.State
		}
		r.Started = h.now.Add(-time.Minute)
		r.Usage = api.Usage{CPUSeconds: 1.5, PeakMemory: 7}
		if r.State == job.Failed && h.chance(50) { // for a mistake
			r.Started, r.Exit, r.Usage = time.Time{}, &api.Exit{Code: 127}, api.Usage{}
		}
	}
	node := k.Node
	if h.chance(5) {
		node = h.node()
	}
	h.apply(&state.Command{Report: &state.Report{Node: node, Tasks: []api.Report{r, r}, SecondOpinion: h.chance(80)}})
}

func (h *history) act() {
	j, ok := some(h, slices.Collect(h.a.View().Jobs()))
	if !ok {
		return
	}
	s := state.Select{Job: j.ID}
	if h.chance(50) {
		x, err := job.ParseIndexes(h.pick("0", "0-5", "1000-2000", "1025"))
		require.NoError(h.t, err)
		s.Elements = &x
	}
	switch h.rng.IntN(4) {
	case 0:
		h.apply(&state.Command{Cancel: &state.Cancel{Select: s, State: h.pickState(job.Cancelled, job.Deadline)}})
	case 1:
		h.apply(&state.Command{Hold: &state.Hold{Select: s, Admin: h.chance(50)}})
	case 2:
		h.apply(&state.Command{Hold: &state.Hold{Select: s, Release: true, Admin: h.chance(50)}})
	case 3:
		h.apply(&state.Command{Requeue: &s})
	}
}

func (h *history) nodeCommand() {
	n := h.node()
	switch h.rng.IntN(8) {
	case 0:
		s := []api.NodeState{api.NodeReady, api.NodeUnreachable, api.NodeLost}[h.rng.IntN(3)]
		h.apply(&state.Command{NodeStatus: &state.NodeStatus{Node: n, State: s, Probe: h.chance(20)}})
	case 1:
		h.apply(&state.Command{Node: &state.NodeChange{Node: n, Drain: &api.Drain{Reason: "test"}}})
	case 2:
		h.apply(&state.Command{Node: &state.NodeChange{Node: n, Resume: true}})
	case 3:
		h.apply(&state.Command{RemoveNode: n})
	case 4:
		h.apply(&state.Command{Purge: &state.Purge{Before: h.now.Add(-time.Minute), Records: 20}})
	case 5:
		r := &api.Reservation{Name: h.pick("r", "s"), Nodes: []string{n}, From: h.now, To: h.now.Add(time.Duration(h.rng.IntN(100)) * time.Second)}
		if h.chance(50) {
			r.Repeat = api.RepeatDaily
		}
		h.apply(&state.Command{AddReservation: r})
	case 6:
		h.apply(&state.Command{RemoveReservation: h.pick("r", "s")})
	case 7:
		h.treeCommand()
	}
}

// treeCommand changes queues, accounts, users and limits, some of them wrongly.
func (h *history) treeCommand() {
	name, other := h.pick("a", "b", "c"), h.pick("", "a", "b", "c")
	h.apply([]*state.Command{
		{PutQueue: &api.Queue{Name: name, Parent: other, Weight: int32(h.rng.IntN(3))}}, {RemoveQueue: name},
		{PutAccount: &api.Account{Name: name, Parent: other, Queue: h.pick("", "a")}}, {RemoveAccount: name},
		{PutUser: &api.User{Name: h.pick("ann", "bob"), Account: other}}, {RemoveUser: h.pick("ann", "bob")},
		{PutLimit: &api.Limit{Name: name, Queue: other, Use: cores(h.rng.IntN(3))}}, {RemoveLimit: name},
	}[h.rng.IntN(8)])
}

// drain releases everything, runs it, and sees all jobs end.
func (h *history) drain() {
	for n := range 4 {
		r := h.registration()
		r.Node = fmt.Sprintf("n%d", n)
		h.apply(&state.Command{Register: r})
		h.apply(&state.Command{Node: &state.NodeChange{Node: r.Node, Resume: true}})
	}
	for j := range h.a.View().Jobs() {
		h.apply(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: j.ID}, State: job.Cancelled}})
	}
	for _, k := range slices.Collect(h.a.View().Tasks()) {
		h.apply(&state.Command{Report: &state.Report{Node: k.Node, Tasks: []api.Report{{Task: k.ID, State: job.Cancelled, At: h.now}}}})
	}
	v := h.a.View()
	require.Empty(h.t, slices.Collect(v.Tasks()))
	for j := range v.Jobs() {
		require.True(h.t, j.Done(), "job %d: %v", j.ID, j.Counts.ByState())
		require.Empty(h.t, slices.Collect(v.Elements(j.ID)))
		require.False(h.t, j.Ended.IsZero())
	}
}
