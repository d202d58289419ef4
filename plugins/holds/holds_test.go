package holds

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// at is so many hours from now; the zero time for noTime.
func at(hours int) time.Time {
	if hours == noTime {
		return time.Time{}
	}
	return extpointstest.Now.Add(time.Duration(hours) * time.Hour)
}

const noTime = -1000

// blue are the workloads of the team blue.
var blue = model.SelectLabels(map[string]string{"team": "blue"})

// TestWhoGetsIn has a row for each position of a run to a hold, with who may go there then:
// one whom it is not for, one whom it is for, and one whom a hold of the flexible kind is for.
func TestWhoGetsIn(t *testing.T) {
	const yes, no = true, false
	for _, c := range []struct {
		name                  string
		from, until, hours    int // of the hold, and the limit
		others, users, flexed bool
	}{
		{"wholly before", 2, 4, 2, yes, yes, yes},
		{"into the beginning", 2, 4, 3, no, no, yes},
		{"over all of it", 2, 4, 5, no, no, yes},
		{"without a limit before it", 2, 4, 0, no, no, yes},
		{"from its beginning to its end", 0, 4, 4, no, yes, yes},
		{"inside", -1, 4, 3, no, yes, yes},
		{"beyond the end", -1, 4, 5, no, no, yes},
		{"without a limit from inside", -1, 4, 0, no, no, yes},
		{"from the end on", -4, 0, 9, yes, yes, yes},
		{"after it, without a limit", -4, -2, 0, yes, yes, yes},
		{"inside what lasts for ever", -1, noTime, 9, no, yes, yes},
		{"for ever inside what lasts for ever", -1, noTime, 0, no, yes, yes},
		{"before what lasts for ever", 3, noTime, 3, yes, yes, yes},
		{"into what lasts for ever", 3, noTime, 4, no, no, yes},
		{"inside what has been since ever", noTime, 4, 4, no, yes, yes},
		{"in what has been since ever and lasts for ever", noTime, noTime, 0, no, yes, yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			for who, want := range map[string]bool{"others": c.others, "users": c.users, "flexed": c.flexed} {
				h := &model.Hold{Name: "h", From: at(c.from), Until: at(c.until), Nodes: []string{"held"}, Users: blue, Flex: who == "flexed"}
				w := &model.Workload{ID: "w", Limit: time.Duration(c.hours) * time.Hour}
				if who != "others" {
					w.Labels = map[string]string{"team": "blue"}
				}
				require.Equal(t, want, ask(t, w, h) == "", who)
			}
		})
	}
}

// ask returns why the workload may not go to the node, and makes sure that it may go to
// another one.
func ask(t *testing.T, w *model.Workload, holds ...*model.Hold) string {
	t.Helper()
	held, free := extpointstest.NodeWith(&model.Node{Name: "held"}), extpointstest.NodeWith(&model.Node{Name: "free"})
	s := extpointstest.NewSituation(w, held, free)
	for _, h := range holds {
		s.View.Put(h)
	}
	p, state := &NodeHolds{}, s.State()
	_, st := p.PreFilter(state, s.Workload)
	if st.Code() == extpoints.Skip {
		return ""
	}
	require.True(t, st.IsSuccess())
	require.True(t, p.Filter(state, s.Workload, free).IsSuccess())
	st = p.Filter(state, s.Workload, held)
	if st.IsSuccess() {
		return ""
	}
	require.Equal(t, extpoints.UnschedulableAndUnresolvable, st.Code(), "nothing that is displaced helps")
	return st.Message()
}

// The reason is the first hold by name, and when it is on.
func TestReasons(t *testing.T) {
	hold := func(name string, from, until int, users *model.Selector) *model.Hold {
		return &model.Hold{Name: name, From: at(from), Until: at(until), Nodes: []string{"held"}, Users: users}
	}
	for _, c := range []struct {
		name  string
		holds []*model.Hold
		want  string
	}{
		{"maintenance", []*model.Hold{hold("m", 1, 2, nil)}, `node(s) are held by "m" from 2026-06-01T13:00:00Z until 2026-06-01T14:00:00Z`},
		{"since ever", []*model.Hold{hold("m", noTime, 2, nil)}, `node(s) are held by "m" until 2026-06-01T14:00:00Z`},
		{"for ever", []*model.Hold{hold("m", 1, noTime, nil)}, `node(s) are held by "m" from 2026-06-01T13:00:00Z for ever`},
		{"its own", []*model.Hold{hold("m", 1, 2, blue)},
			`node(s) are held by "m" from 2026-06-01T13:00:00Z until 2026-06-01T14:00:00Z, and the workload would not run wholly inside`},
		{"each must let it in", []*model.Hold{hold("c", 0, 2, nil), hold("b", 0, 2, nil), hold("a", 0, noTime, blue)},
			`node(s) are held by "b" from 2026-06-01T12:00:00Z until 2026-06-01T14:00:00Z`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, ask(t, &model.Workload{ID: "w", Labels: map[string]string{"team": "blue"}}, c.holds...))
		})
	}
}

// In a plan one that runs already is judged by when it began.
func TestOneThatRunsIsJudgedByWhenItBegan(t *testing.T) {
	w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Limit: 3 * time.Hour}, PlacedAt: at(-2)}
	r := runOf(extpointstest.Now, w)
	require.False(t, r.overlaps(&model.Hold{From: at(1)}), "it ends when the hold begins")
	require.True(t, r.overlaps(&model.Hold{From: at(0)}))
}

// A hold of amounts leaves the rest to others, at each moment at which both are there.
func TestAmountsAreKept(t *testing.T) {
	keep := func(name string, from, until int, cpu int64, users *model.Selector) *model.Hold {
		return &model.Hold{Name: name, From: at(from), Until: at(until), Nodes: []string{"held"}, Amounts: model.Resources{CPU: cpu}, Users: users}
	}
	job := func(cpu int64, began, hours int, team string) *extpoints.WorkloadInfo {
		w := &model.Workload{Requests: model.Resources{CPU: cpu}, Limit: time.Duration(hours) * time.Hour, Labels: map[string]string{"team": team}}
		info := &extpoints.WorkloadInfo{Workload: w}
		if began != 0 {
			info.PlacedAt = at(began)
		}
		return info
	}
	const lack = `node(s) lack cpu beside what is held by "h"`
	const now, soon = lack + " from 2026-06-01T11:00:00Z until 2026-06-01T16:00:00Z", lack + " from 2026-06-01T14:00:00Z until 2026-06-01T16:00:00Z"
	for _, c := range []struct {
		name  string
		holds []*model.Hold
		there []*extpoints.WorkloadInfo
		cpu   int64
		hours int
		want  string
		code  extpoints.Code
	}{
		{name: "the rest", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, cpu: 400, hours: 3},
		{name: "more than the rest", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, cpu: 401, hours: 3, want: now, code: extpoints.UnschedulableAndUnresolvable},
		{name: "for nobody", holds: []*model.Hold{keep("h", -1, 4, 600, nil)}, cpu: 401, hours: 3, want: now, code: extpoints.UnschedulableAndUnresolvable},
		{name: "another has some of the rest", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(100, -1, 9, "red")},
			cpu: 301, hours: 3, want: now, code: extpoints.Unschedulable},
		{name: "one for whom it is has what is kept", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(500, -1, 2, "blue")}, cpu: 400, hours: 3},
		{name: "one for whom it is has more", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(700, -1, 2, "blue")}, cpu: 300, hours: 3},
		{name: "one for whom it is, but who ends after it", holds: []*model.Hold{keep("h", -1, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(100, -1, 9, "blue")},
			cpu: 301, hours: 3, want: now, code: extpoints.Unschedulable},
		{name: "it ends before", holds: []*model.Hold{keep("h", 2, 4, 600, blue)}, cpu: 1000, hours: 2},
		{name: "into the beginning", holds: []*model.Hold{keep("h", 2, 4, 600, blue)}, cpu: 401, hours: 3, want: soon, code: extpoints.UnschedulableAndUnresolvable},
		{name: "another has ended by then", holds: []*model.Hold{keep("h", 2, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(100, -1, 3, "red")}, cpu: 400, hours: 3},
		{name: "another has not", holds: []*model.Hold{keep("h", 2, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(100, -1, 4, "red")},
			cpu: 400, hours: 3, want: soon, code: extpoints.Unschedulable},
		{name: "another runs over its limit", holds: []*model.Hold{keep("h", 2, 4, 600, blue)}, there: []*extpoints.WorkloadInfo{job(100, -2, 1, "red")},
			cpu: 400, hours: 3, want: soon, code: extpoints.Unschedulable},
		{name: "two of them", holds: []*model.Hold{keep("g", -1, 4, 300, nil), keep("h", 2, 4, 600, nil)}, cpu: 101, hours: 3,
			want: `node(s) lack cpu beside what is held by "g" from 2026-06-01T11:00:00Z until 2026-06-01T16:00:00Z`, code: extpoints.UnschedulableAndUnresolvable},
		{name: "two, one of which has ended", holds: []*model.Hold{keep("g", -1, 1, 300, nil), keep("h", 2, 4, 600, nil)}, cpu: 400, hours: 3},
		{name: "it asks for none of it", holds: []*model.Hold{keep("h", -1, 4, 2000, blue)}, hours: 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := extpointstest.NodeWith(&model.Node{Name: "held", Allocatable: model.Resources{CPU: 1000}})
			for i, w := range c.there {
				w.ID = strconv.Itoa(i)
				held.AddWorkload(w)
			}
			s := extpointstest.NewSituation(job(c.cpu, 0, c.hours, "red").Workload, held)
			for _, h := range c.holds {
				s.View.Put(h)
			}
			p, state := &NodeHolds{}, s.State()
			_, st := p.PreFilter(state, s.Workload)
			if st.Code() != extpoints.Skip {
				st = p.Filter(state, s.Workload, held)
			} else {
				st = nil
			}
			require.Equal(t, c.want, st.Message())
			require.Equal(t, c.code, st.Code())
		})
	}
}
