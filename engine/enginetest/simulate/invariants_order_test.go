package simulate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// Of two workloads in queues below one that goes by priority, a comes before b where whatever goes first
// in the queue of a does.
func TestTurnsByPriority(t *testing.T) {
	const early, late = 10, 20
	type waiting struct {
		priority int32
		came     int // seconds; 0: not known, as of groups
	}
	for name, c := range map[string]struct {
		a, beside, b waiting // beside waits in the queue of a
		queue        int32   // the priority of that queue
		same, before bool    // all wait in one queue, of different principals
	}{
		"higher, and so is all in its queue":         {a: waiting{2, late}, beside: waiting{3, late}, b: waiting{1, early}, before: true},
		"higher, beside a lower one":                 {a: waiting{2, late}, beside: waiting{0, late}, b: waiting{1, early}},
		"higher, of another principal":               {a: waiting{2, late}, beside: waiting{0, late}, b: waiting{1, early}, same: true, before: true},
		"lower":                                      {a: waiting{1, early}, beside: waiting{3, early}, b: waiting{2, late}},
		"equal, and all came before":                 {a: waiting{1, early}, beside: waiting{1, early}, b: waiting{1, late}, before: true},
		"equal, beside one that came later":          {a: waiting{1, early}, beside: waiting{1, late + 1}, b: waiting{1, late}},
		"equal, and when it came is not known":       {a: waiting{1, 0}, beside: waiting{1, early}, b: waiting{1, late}},
		"lower, in a queue of a higher priority":     {a: waiting{0, late}, beside: waiting{0, late}, b: waiting{1, early}, queue: 1, before: true},
		"higher, in a queue of a lower priority":     {a: waiting{2, early}, beside: waiting{2, early}, b: waiting{1, late}, queue: -1},
		"equal, in a queue of a higher priority yet": {a: waiting{1, late}, beside: waiting{1, late}, b: waiting{1, early}, queue: 1, before: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &observed{
				rows: map[string]model.WorkloadRecord{}, positions: map[string]queue.Position{},
				queues: map[string]*model.Queue{
					"lab": {Name: "lab", Policy: model.OrderPriority},
					"a":   {Name: "a", Parent: "lab", Priority: c.queue, Policy: model.OrderPriority},
					"b":   {Name: "b", Parent: "lab"},
				},
			}
			for id, w := range map[string]waiting{"a": c.a, "beside": c.beside, "b": c.b} {
				m := &model.Workload{ID: id, Queue: "a", Principal: "of " + id, Priority: w.priority}
				pos := queue.Position{Place: queue.Active}
				if w.came > 0 {
					pos.AddedAt = time.Unix(int64(w.came), 0)
				} else {
					m.Group = "gang"
				}
				if id == "b" && !c.same {
					m.Queue = "b"
				}
				o.ids, o.rows[id], o.positions[id] = append(o.ids, id), model.WorkloadRecord{Workload: m, Phase: model.Pending}, pos
			}
			by, before := o.turnBefore("a", "b", true)
			require.Equal(t, model.OrderPriority, by)
			require.Equal(t, c.before, before)
		})
	}
}
