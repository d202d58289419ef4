package queue_test

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// A workload does not fit and waits. A new node wakes it, and when its backoff
// is over it is tried again.
func Example() {
	nodeAdded := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add}
	// The example is about the timer; see Timing for what Pop does else.
	timing := queue.Timing{NoPopFromBackoff: true}
	q, err := queue.New(timing, extpoints.Improved, queue.Hooks{
		Less: func(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) },
		Hints: map[string][]queue.PluginHints{
			"": {{Plugin: "NodeResourcesFit", Events: []extpoints.EventHint{{Event: nodeAdded}}}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

	q.Add(now, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "web"}})
	it, _ := q.Pop(now)
	q.AddUnschedulable(now, it, []string{"NodeResourcesFit"}, nil)
	fmt.Println(show(q))

	q.Move(now, &extpoints.Event{ClusterEvent: nodeAdded, NewNode: &model.Node{Name: "n1"}}, nil)
	fmt.Println(show(q))

	now, _ = q.NextDue(now)
	q.Tick(now)
	fmt.Println(show(q))

	it, _ = q.Pop(now)
	fmt.Println(show(q))
	q.Done(it.ID()) // this time it fits

	// Output:
	// Unschedulable after 1 attempts, because of [NodeResourcesFit]
	// Backoff after 1 attempts, because of [NodeResourcesFit]
	// Active after 1 attempts, because of [NodeResourcesFit]
	// InFlight after 2 attempts, because of [NodeResourcesFit]
}

// forest has groups without parents by ID.
type forest map[string]*model.Group

func (f forest) Get(id string) *model.Group     { return f[id] }
func (f forest) Root(id string) *model.Group    { return f[id] }
func (f forest) Children(string) []*model.Group { return nil }

// The members of a group are one item. One of two finds no room; the group is
// tried again with it and with another that has come meanwhile.
func Example_group() {
	groups := forest{"gang": {ID: "gang"}}
	q, err := queue.New(queue.Timing{}, extpoints.Improved, queue.Hooks{
		Less:     func(a, b *extpoints.Queued) bool { return a.Timestamp.Before(b.Timestamp) },
		AsGroups: map[string]bool{"": true},
		Groups:   func() queue.GroupTrees { return groups },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	add := func(id string) {
		q.Add(now, &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Group: "gang"}})
	}
	members := func(it *queue.Item) {
		fmt.Print(it.Group.ID, ":")
		for _, m := range it.Members {
			fmt.Print(" ", m.ID())
		}
		fmt.Println()
	}

	add("one")
	add("two")
	it, _ := q.Pop(now)
	members(it)
	add("three")
	placed, rejected := it.Members[0], it.Members[1]
	q.AddUnschedulable(now, rejected, []string{"NodeResourcesFit"}, nil)
	q.AddAttempted(now, it, queue.GroupPlaced)
	q.Done(placed.ID())

	it, _ = q.Pop(now)
	members(it)

	// Output:
	// gang: one two
	// gang: two three
}

func show(q *queue.Queue) string {
	p, _ := q.Position("web")
	return fmt.Sprintf("%s after %d attempts, because of %v", p.Place, p.Attempts, p.UnschedulablePlugins)
}
