package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

func cpu(n int64) map[string]int64 { return map[string]int64{model.CPU: n} }

// Each case is a node of 10, on which v1, v2, ... of queue b run, of 2 each, the newest last,
// and w of queue a wants 2.
func TestReclaimRules(t *testing.T) {
	t.Parallel()
	old := func(w *extpoints.WorkloadInfo, age time.Duration) *extpoints.WorkloadInfo {
		w.PlacedAt = runStart.Add(-age)
		return w
	}
	for _, test := range []struct {
		name   string
		a, b   model.Queue
		more   []model.Object
		lower  bool // w is of lower priority than the others, not of the same
		queue  string
		others func(r *oneRoom)
		view   func(r *oneRoom) // changes what runs, after all is charged
		want   string           // "-": there is no room to be made
	}{
		{name: "shares", a: model.Queue{Reclaim: model.ReclaimAny}, want: "v5"},
		{name: "whatever the priorities", a: model.Queue{Reclaim: model.ReclaimAny}, lower: true, want: "v5"},
		{name: "never, if nothing is said", want: "-"},
		{name: "lower priority only", a: model.Queue{Reclaim: model.ReclaimLower}, want: "-"},
		{name: "a weight", a: model.Queue{Reclaim: model.ReclaimAny, Weight: 1}, b: model.Queue{Weight: 4}, want: "v5"},
		{name: "too little weight", a: model.Queue{Reclaim: model.ReclaimAny, Weight: 1}, b: model.Queue{Weight: 6}, want: "-"},
		{name: "no weight beside one", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{Weight: 1}, want: "-"},
		{name: "its guarantee, without a weight", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(2)}, b: model.Queue{Weight: 1}, want: "v5"},
		{name: "more than its guarantee", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(1)}, b: model.Queue{Weight: 1}, want: "-"},
		{name: "the other's guarantee", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(2)}, b: model.Queue{Guaranteed: cpu(10)}, want: "-"},
		{name: "one more than the other's guarantee", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(2)}, b: model.Queue{Guaranteed: cpu(8)}, want: "v5"},
		{name: "a guarantee of something else", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{Guaranteed: map[string]int64{"gpu": 8}}, want: "v5"},
		{name: "higher queue priority", a: model.Queue{Reclaim: model.ReclaimAny, Priority: 1}, b: model.Queue{Weight: 6}, want: "v5"},
		{name: "lower queue priority", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{Priority: 1}, want: "-"},
		{name: "lower queue priority, within its guarantee", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(2)}, b: model.Queue{Priority: 1}, want: "v5"},
		{name: "protected, all of its fair share", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{Protected: model.PerMillion}, want: "v5"},
		{name: "protected from guarantees, too", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(10), Weight: 1}, b: model.Queue{Protected: model.PerMillion, Weight: 1}, others: func(r *oneRoom) {
			r.run(at("a1", "a", 6, 1))
		}, want: "-"},
		{name: "not before it has run long enough", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{MinRuntime: time.Hour}, want: "-"},
		{name: "after it has run long enough", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{MinRuntime: time.Minute}, want: "v1"},
		{name: "first come", a: model.Queue{Reclaim: model.ReclaimAny, Parent: "p"}, b: model.Queue{Parent: "p"}, more: []model.Object{&model.Queue{Name: "p", Policy: model.OrderFIFO}}, want: "-"},
		{name: "first come, and its guarantee", a: model.Queue{Reclaim: model.ReclaimAny, Parent: "p", Guaranteed: cpu(2)}, b: model.Queue{Parent: "p"}, more: []model.Object{&model.Queue{Name: "p", Policy: model.OrderFIFO}}, want: "v5"},
		{name: "by priority, and they are equal", a: model.Queue{Reclaim: model.ReclaimAny, Parent: "p"}, b: model.Queue{Parent: "p"}, more: []model.Object{&model.Queue{Name: "p", Policy: model.OrderPriority}}, want: "-"},
		{name: "the time that a queue above gives", a: model.Queue{Reclaim: model.ReclaimAny}, b: model.Queue{Parent: "p"}, more: []model.Object{&model.Queue{Name: "p", MinRuntime: time.Hour}}, want: "-"},
		{name: "the time that a queue above both gives does not count", a: model.Queue{Reclaim: model.ReclaimAny, Parent: "p"}, b: model.Queue{Parent: "p"}, more: []model.Object{&model.Queue{Name: "p", MinRuntime: time.Hour}}, want: "v5"},
		{name: "a guarantee of a queue below counts for the one above", a: model.Queue{Reclaim: model.ReclaimAny, Guaranteed: cpu(2)}, b: model.Queue{Parent: "p", Guaranteed: cpu(10)}, more: []model.Object{&model.Queue{Name: "p"}}, want: "-"},
		{name: "not in its own queue", a: model.Queue{Reclaim: model.ReclaimAny}, queue: "b", want: "-"},
		{name: "one that leaves is not there", a: model.Queue{Reclaim: model.ReclaimAny}, view: func(r *oneRoom) {
			r.running[0].Terminating = true
		}, want: "v1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.a.Name, test.b.Name = "a", "b"
			r := newOneRoom(t, 10, append(test.more, &test.a, &test.b)...)
			if test.others != nil {
				test.others(r)
			}
			priority := int32(1)
			for i := 1; r.free() >= 2; i++ {
				age := time.Minute - time.Duration(i)*time.Second
				if i == 1 {
					age = 2 * time.Minute
				}
				r.run(old(at("v"+string(rune('0'+i)), "b", 2, priority), age))
			}
			if test.view != nil {
				test.view(r)
			}
			w := at("w", "a", 2, priority)
			if test.queue != "" {
				w.Queue = test.queue
			}
			if test.lower {
				w.Priority = -1
			}
			got, lasts := r.makeRoom(runStart, w)
			want := strings.Fields(test.want)
			if test.want == "-" {
				want = nil
			}
			require.Equal(t, want, got)
			require.True(t, lasts)
		})
	}
}

// In its own queue a workload displaces those of lower priority, whatever is said of other
// queues.
func TestReclaimInItsOwnQueueIsByPriority(t *testing.T) {
	t.Parallel()
	r := newOneRoom(t, 4, &model.Queue{Name: "a", MinRuntime: time.Hour, Guaranteed: cpu(4)}, &model.Queue{Name: "b"})
	r.run(at("a1", "a", 2, 0))
	r.run(at("b1", "b", 2, 0))
	got, _ := r.makeRoom(runStart, at("w", "a", 2, 1))
	require.Equal(t, []string{"a1"}, got)
	none, _ := r.makeRoom(runStart, at("w", "", 2, 1))
	require.Nil(t, none, "a workload without a queue has no say in others")
}

// What is nominated counts as if it ran: the second workload of a queue may not take what
// the first is about to have taken.
func TestReclaimCountsWhatIsNominated(t *testing.T) {
	t.Parallel()
	r := newOneRoom(t, 4, &model.Queue{Name: "a", Reclaim: model.ReclaimAny}, &model.Queue{Name: "b"})
	for _, id := range []string{"b1", "b2", "b3", "b4"} {
		r.run(at(id, "b", 1, 0))
	}
	view := r.view()
	second := []*extpoints.WorkloadInfo{at("a2", "a", 1, 0)}
	var list []extpoints.Leaver
	for _, v := range r.running {
		list = append(list, extpoints.Leaver{Workloads: []*extpoints.WorkloadInfo{v}, Since: v.PlacedAt})
	}
	require.Len(t, r.q.Reclaim(view, runStart, nil, 0, second).Choose(list), 3, "two by what is left then, and one more by what was there before")
	view.Nominating = map[string][]*extpoints.WorkloadInfo{"n": {at("a1", "a", 1, 0), second[0]}}
	leaving := func(id string) bool { return id == "b1" }
	require.Equal(t, []int{0, 1}, r.q.Reclaim(view, runStart, leaving, 0, second).Choose(list), "b1 goes anyway; one more, and they have two each")
}

// An exchange that could be reversed at once is none: b would lose all, and its small one
// could come back and take all again, by what b had less then.
func TestReclaimLasts(t *testing.T) {
	t.Parallel()
	for _, back := range []model.ReclaimPolicy{model.ReclaimAny, model.ReclaimNever} {
		r := newOneRoom(t, 10, &model.Queue{Name: "a", Weight: 2, Reclaim: model.ReclaimAny}, &model.Queue{Name: "b", Weight: 1, Reclaim: back})
		r.run(at("small", "b", 1, -1))
		r.run(at("large", "b", 9, 0))
		got, lasts := r.makeRoom(runStart, at("w", "a", 10, 0))
		require.Equal(t, []string{"large", "small"}, got)
		require.Equal(t, back == model.ReclaimNever, lasts)
	}
}
