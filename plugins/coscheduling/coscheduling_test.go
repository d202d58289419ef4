package coscheduling

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{
		Name: Name, Factory: extpoints.FactoryOf(New),
		Handle: func() extpoints.Handle {
			h := extpointstest.NewHandle()
			h.Cluster, h.Wait = newWorld(2, "a", "b@", "c!").view, &extpointstest.Waiting{}
			return h
		},
		Random: func(r *rand.Rand) *extpointstest.Situation {
			s := extpointstest.RandomSituation(r)
			s.Workload.Group = []string{"", "g", "none"}[r.IntN(3)]
			s.View.GroupList = append(s.View.GroupList, &model.Group{ID: "g", Policy: model.Gang, MinCount: 1 + r.Int32N(3)})
			s.View.PendingMembers = append(s.View.PendingMembers, &model.Workload{ID: "other", Group: "g"})
			return s
		},
		OneSided: map[string]string{"Hints": "no member comes or goes here; TestHints"},
	})
}

func TestArgs(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		args any
		want string
	}{
		{nil, ""},
		{Args{}, ""},
		{&Args{PermitTimeout: s}, ""},
		{Args{PermitTimeout: s, Backoff: s}, ""},
		{Args{PermitTimeout: extpoints.MaxPermitTimeout - 1, Backoff: time.Minute}, ""},
		{Args{PermitTimeout: extpoints.MaxPermitTimeout}, `permitTimeout: 15m0s is not between 0 and 15m0s`},
		{Args{PermitTimeout: -s, Backoff: -s}, "permitTimeout: -1s is not between 0 and 15m0s; backoff: -1s is not between 0 and permitTimeout, -1s"},
		{Args{RejectPercentage: 101}, "rejectPercentage: 101 is not between 0 and 100"},
		{Args{PermitTimeout: s, Backoff: 2 * s}, "backoff: 2s is not between 0 and permitTimeout, 1s"},
	} {
		_, err := extpoints.FactoryOf(New)(c.args, extpointstest.NewHandle())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.args, err, c.want)
		}
	}
	for given, want := range map[Args]Args{
		{}:                                 {60 * s, 10 * s, 0},
		{PermitTimeout: 5 * s}:             {5 * s, 5 * s, 0},
		{Backoff: 20 * s}:                  {60 * s, 20 * s, 0},
		{PermitTimeout: 2 * s, Backoff: s}: {2 * s, s, 0},
	} {
		if got := given.WithDefaults(); got != want {
			t.Errorf("%+v becomes %+v, want %+v", given, got, want)
		}
	}
}

// world is a cluster with the gang g. Members are an ID for a waiting one, ID@
// for one on a node, and ID! for one that waits there on Permit.
type world struct {
	view    *extpointstest.View
	waiting *extpointstest.Waiting
	now     time.Time
}

func newWorld(minCount int32, members ...string) *world {
	w := &world{waiting: &extpointstest.Waiting{}, now: extpointstest.Now}
	w.view = extpointstest.NewView(extpointstest.NodeWith(&model.Node{Name: "n"}))
	w.view.GroupList = []*model.Group{{ID: "g", Policy: model.Gang, MinCount: minCount}}
	for _, m := range members {
		id := strings.TrimRight(m, "@!")
		info := member(id)
		switch {
		case id == m:
			w.view.PendingMembers = append(w.view.PendingMembers, info.Workload)
			continue
		case strings.HasSuffix(m, "!"):
			w.waiting.Workloads = append(w.waiting.Workloads, extpointstest.WaitingOn{Info: info, On: "n", Plugins: []string{Name}})
		}
		w.view.NodeInfos[0].AddWorkload(info)
	}
	return w
}

func member(id string) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Group: "g"}}
}

func (w *world) plugin(t *testing.T) *Coscheduling {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Cluster, h.Wait = w.view, w.waiting
	p, err := New(Args{PermitTimeout: 20 * time.Second, Backoff: 5 * time.Second}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (w *world) state() *extpoints.CycleState { return w.cycle(false).State() }

func (w *world) cycle(trial bool) *extpoints.Cycle {
	return extpoints.NewCycle(extpoints.CycleOptions{View: w.view, Now: w.now, Seed: 1, Trial: trial})
}

// becomes changes the world of a plugin that is made already.
func (w *world) becomes(minCount int32, members ...string) {
	next := newWorld(minCount, members...)
	*w.view = *next.view
	w.waiting.Workloads = next.waiting.Workloads
}

const (
	success   = "Success"
	standBack = `group "g" could not be placed and stands back for a while`
	held      = "UnschedulableAndUnresolvable: " + standBack
)

func TestPreFilter(t *testing.T) {
	for _, c := range []struct {
		name     string
		minCount int32
		members  []string
		of       string // the workload's group
		want     string
	}{
		{"no group", 2, nil, "", success},
		{"a group that is not there", 2, nil, "none", `UnschedulableAndUnresolvable: waiting for group "none" to appear`},
		{"too few", 3, []string{"a", "b"}, "g", `UnschedulableAndUnresolvable: group "g" has 2 members of the 3 that it needs`},
		{"enough", 3, []string{"a", "b", "c"}, "g", success},
		{"those on nodes count", 3, []string{"a", "b@", "c!"}, "g", success},
		{"others' members do not", 3, []string{"a", "b", "d"}, "basic", success},
		{"a group of groups is no gang", 3, []string{"a"}, "composite", success},
	} {
		w := newWorld(c.minCount, c.members...)
		w.view.GroupList = append(w.view.GroupList, &model.Group{ID: "basic"}, &model.Group{ID: "composite", Composite: true, Policy: model.Gang, MinCount: 9})
		_, got := w.plugin(t).PreFilter(w.state(), &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "a", Group: c.of}})
		if got.String() != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestPermit(t *testing.T) {
	const wait = `Wait: waiting until group "g" has 3 members with a node`
	for _, c := range []struct {
		name      string
		minCount  int32
		members   []string // w among them, on its node
		want      string
		allowed   string
		activated string
	}{
		{"the first", 3, []string{"w@", "a", "b"}, wait, "", "a b"},
		{"the second", 3, []string{"w@", "a!", "b"}, wait, "", "b"},
		{"the third", 3, []string{"w@", "a!", "b!", "c"}, success, "a b", "c"},
		{"the third, where two run", 3, []string{"w@", "a@", "b@"}, success, "", ""},
		{"the third, where one runs", 3, []string{"w@", "a@", "b!"}, success, "b", ""},
		{"and the gang has more", 3, []string{"w@", "a@", "b@", "c"}, success, "", "c"},
		{"a late one", 3, []string{"w@", "a@", "b@", "c@", "d"}, success, "", ""},
		{"those that wait on after MinCount was lowered", 2, []string{"w@", "a!", "b!", "c"}, success, "a b", "c"},
	} {
		w := newWorld(c.minCount, c.members...)
		s := w.cycle(false)
		got, timeout := w.plugin(t).Permit(s.State(), member("w"), &model.Binding{Workload: "w", Node: "n"})
		if want := map[bool]time.Duration{true: 20 * time.Second}[got.Code() == extpoints.Wait]; got.String() != c.want || timeout != want {
			t.Errorf("%s: %v, %v, want %s", c.name, got, timeout, c.want)
		}
		var allowed []string
		for id := range strings.FieldsSeq(c.allowed) {
			allowed = append(allowed, "allow "+id+" by Coscheduling")
		}
		if !slices.Equal(w.waiting.Said(), allowed) || strings.Join(s.Requests().Activations, " ") != c.activated {
			t.Errorf("%s: %q, activates %q", c.name, w.waiting.Said(), s.Requests().Activations)
		}
	}
	for _, group := range []string{"", "none", "basic"} {
		w := newWorld(3, "a", "b", "c")
		w.view.GroupList = append(w.view.GroupList, &model.Group{ID: "basic"})
		info := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Group: group}}
		if got, _ := w.plugin(t).Permit(w.state(), info, &model.Binding{}); got != nil {
			t.Errorf("%q: %v", group, got)
		}
	}
}

// What the group says of how long to wait counts more than the arguments. It stands back no longer
// than that either.
func TestTimeoutOfTheGroup(t *testing.T) {
	for _, c := range []struct{ says, waits, back time.Duration }{
		{0, 20 * time.Second, 5 * time.Second},
		{3 * time.Second, 3 * time.Second, 3 * time.Second},
		{time.Minute, time.Minute, 5 * time.Second},
		{time.Hour, extpoints.MaxPermitTimeout, 5 * time.Second},
	} {
		w := newWorld(3, "w@", "a", "b")
		w.view.GroupList[0].PermitTimeout = c.says
		p := w.plugin(t)
		if _, waits := p.Permit(w.state(), member("w"), &model.Binding{Workload: "w", Node: "n"}); waits != c.waits {
			t.Errorf("%v: waits %v", c.says, waits)
		}
		p.PostFilter(w.state(), member("a"), nil)
		for after, want := range map[time.Duration]string{c.back - 1: held, c.back: success} {
			w.now = extpointstest.Now.Add(after)
			if _, st := p.PreFilter(w.state(), member("b")); st.String() != want {
				t.Errorf("%v: after %v %v", c.says, after, st)
			}
		}
	}
}

// What happens to those that wait when x has no node.
func TestLost(t *testing.T) {
	reject := func(ids string) (list []string) {
		for id := range strings.FieldsSeq(ids) {
			list = append(list, "reject "+id+` by Coscheduling: group "g" cannot have 3 members with a node: there is none for workload x`)
		}
		return list
	}
	for _, c := range []struct {
		name     string
		minCount int32
		members  []string
		want     []string
	}{
		{"nobody waits", 3, []string{"x", "a", "b"}, nil},
		{"all that wait are turned down", 3, []string{"x", "a!", "b!"}, reject("a b")},
		{"those that run are not", 3, []string{"x", "a!", "b@"}, reject("a")},
		{"there is a spare one", 3, []string{"x", "a!", "b!", "c"}, nil},
		{"the gang is complete without it", 2, []string{"x", "a!", "b!"}, []string{"allow a by Coscheduling", "allow b by Coscheduling"}},
		{"x itself had a node", 3, []string{"x@", "a!", "b!"}, reject("a b")},
		{"x is no member any more", 3, []string{"a!", "b!"}, reject("a b")},
		{"and was one too many", 3, []string{"a!", "b!", "c"}, nil},
	} {
		w := newWorld(c.minCount, c.members...)
		if _, status := w.plugin(t).PostFilter(w.state(), member("x"), nil); status.String() != "Unschedulable" {
			t.Errorf("%s: %v", c.name, status)
		}
		if got := w.waiting.Said(); !slices.Equal(got, c.want) {
			t.Errorf("PostFilter, %s: %q, want %q", c.name, got, c.want)
		}
		w = newWorld(c.minCount, c.members...)
		w.plugin(t).Unreserve(w.state(), member("x"), &model.Binding{})
		if got := w.waiting.Said(); !slices.Equal(got, c.want) {
			t.Errorf("Unreserve, %s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A cycle that only tries something out does not touch anybody.
func TestTrialsTouchNothing(t *testing.T) {
	w := newWorld(3, "x", "a!", "b!")
	p := w.plugin(t)
	s := w.cycle(true).State()
	p.PostFilter(s, member("x"), nil)
	p.Unreserve(s, member("x"), &model.Binding{})
	if got := w.waiting.Said(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	w.becomes(3, "a", "b", "x")
	if _, status := p.PreFilter(w.state(), member("a")); status != nil {
		t.Errorf("after a trial that failed: %v", status)
	}
	// Nor is it held back by what failed outside.
	p.PostFilter(w.state(), member("x"), nil)
	if _, status := p.PreFilter(s, member("a")); status != nil {
		t.Errorf("in a trial: %v", status)
	}
	p.Reserve(s, member("x"), &model.Binding{})
	if _, status := p.PreFilter(w.state(), member("a")); status.String() != held {
		t.Errorf("after a Reserve in a trial: %v", status)
	}
}

// Which members are tried in the time after a try that failed.
func TestStandingBack(t *testing.T) {
	w := newWorld(3, "x", "a", "b")
	p := w.plugin(t)
	says := func(what, id, want string) {
		t.Helper()
		if _, got := p.PreFilter(w.state(), member(id)); got.String() != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
	says("before", "a", success)
	p.PostFilter(w.state(), member("x"), nil)
	says("a healthy one", "a", held)
	says("the one that failed", "x", "Error: "+standBack)
	w.now = w.now.Add(5*time.Second - 1)
	says("just before the end", "a", held)
	w.becomes(3, "a", "b", "x", "c")
	says("with a spare one", "a", success)
	w.becomes(3, "a", "b", "c")
	says("when the one that failed is gone", "a", success)
	w.becomes(3, "a", "b@", "c@", "x")
	says("one that makes the gang complete", "a", success)
	w.becomes(3, "a", "b", "x")
	says("as it was", "a", held)
	w.now = w.now.Add(1)
	says("at the end", "a", success)
	says("at the end, the one that failed", "x", success)

	p.PostFilter(w.state(), member("x"), nil)
	says("after another try", "a", held)
	p.Reserve(w.state(), member("x"), &model.Binding{})
	says("when the one that failed has found a node", "a", success)
}

// A member that PreFilter rejected has not failed: it says nothing of nodes.
func TestTurnedDownIsNotLost(t *testing.T) {
	w := newWorld(4, "a!", "b", "x")
	p := w.plugin(t)
	s := w.state()
	if _, status := p.PreFilter(s, member("x")); !status.IsRejected() {
		t.Fatal(status)
	}
	p.PostFilter(s, member("x"), nil)
	if got := w.waiting.Said(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Members that were rejected because of another have not failed either, and
// are asked for again when it has a node; those that failed are not.
func TestDismissedAreAskedForAgain(t *testing.T) {
	w := newWorld(3, "x", "a!", "b!")
	p := w.plugin(t)
	p.PostFilter(w.state(), member("x"), nil)
	p.Unreserve(w.state(), member("a"), &model.Binding{})
	p.Unreserve(w.state(), member("b"), &model.Binding{})
	if got := w.waiting.Said(); len(got) != 2 {
		t.Errorf("they turn each other down: %q", got)
	}
	w.becomes(3, "x@", "a", "b")
	s := w.cycle(false)
	p.Reserve(s.State(), member("x"), &model.Binding{})
	p.Permit(s.State(), member("x"), &model.Binding{})
	if got := s.Requests().Activations; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("asks for %q", got)
	}
	// Now a fails, while b gets a node: a need not be asked for in vain.
	w.becomes(3, "x!", "a", "b")
	p.PostFilter(w.state(), member("a"), nil)
	w.becomes(3, "x", "a", "b@")
	s = w.cycle(false)
	p.Permit(s.State(), member("b"), &model.Binding{})
	if got := s.Requests().Activations; !slices.Equal(got, []string{"x"}) {
		t.Errorf("asks for %q", got)
	}
	// Later it is.
	w.now = w.now.Add(5 * time.Second)
	s = w.cycle(false)
	p.Permit(s.State(), member("b"), &model.Binding{})
	if got := s.Requests().Activations; !slices.Equal(got, []string{"a", "x"}) {
		t.Errorf("asks for %q", got)
	}
}

// A gang that is complete starts anew when it loses members later.
func TestCompleteGangForgets(t *testing.T) {
	w := newWorld(2, "x", "a", "c")
	p := w.plugin(t)
	p.PostFilter(w.state(), member("x"), nil)
	p.PostFilter(w.state(), member("c"), nil)
	w.becomes(2, "x", "a@", "b@", "c")
	p.Permit(w.state(), member("b"), &model.Binding{})
	w.becomes(2, "x", "a", "c")
	if _, status := p.PreFilter(w.state(), member("a")); status != nil {
		t.Errorf("%v", status)
	}
}

// The books do not grow with groups that are gone.
func TestBooksAreSwept(t *testing.T) {
	w := newWorld(2, "x")
	p := w.plugin(t)
	for i := range 10 * minSweep {
		w.view.GroupList[0].ID = fmt.Sprint("g", i)
		info := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "x", Group: w.view.GroupList[0].ID}}
		w.view.PendingMembers = []*model.Workload{info.Workload}
		p.PostFilter(w.state(), info, nil)
		p.Less(&extpoints.Queued{Workload: info.Workload}, &extpoints.Queued{Workload: &model.Workload{ID: "y"}})
	}
	if n := len(p.tries.byGang); n > minSweep {
		t.Errorf("there are books of %d gangs", n)
	}
	if n := len(p.since.byGroup); n > minSweep {
		t.Errorf("there are the times of %d groups", n)
	}
}

// Branches ask while the engine goes on.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(3, "x", "a", "b")
	p := w.plugin(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			s := w.cycle(i%2 == 0).State()
			p.PreFilter(s, member("a"))
			p.PostFilter(s, member("x"), nil)
			p.Reserve(s, member("x"), &model.Binding{})
			p.Unreserve(s, member("x"), &model.Binding{})
		})
	}
	wait.Wait()
}
