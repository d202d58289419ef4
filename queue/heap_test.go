package queue

import (
	stdheap "container/heap"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// reference is the textbook use of container/heap.
type reference struct {
	ids  []string
	prio map[string]int32
}

func (r *reference) Len() int           { return len(r.ids) }
func (r *reference) Less(i, j int) bool { return r.prio[r.ids[i]] > r.prio[r.ids[j]] }
func (r *reference) Swap(i, j int)      { r.ids[i], r.ids[j] = r.ids[j], r.ids[i] }
func (r *reference) Push(x any)         { r.ids = append(r.ids, x.(string)) }
func (r *reference) Pop() any {
	last := r.ids[len(r.ids)-1]
	r.ids = r.ids[:len(r.ids)-1]
	return last
}

// TestHeapOrder holds the heap against container/heap where most items are
// equal, so that it is the sift rules that decide.
func TestHeapOrder(t *testing.T) {
	s := seeds(t, 1)[0]
	r := rand.New(rand.NewPCG(s, 1))
	h := heap{less: func(a, b *Item) bool { return a.Priority > b.Priority }}
	ref := &reference{prio: map[string]int32{}}
	items := map[string]*Item{}
	for step := range 20000 {
		switch op := r.IntN(7); {
		case op < 3 || h.len() == 0:
			id := strconv.Itoa(step)
			it := &Item{Queued: extpoints.Queued{Workload: &model.Workload{ID: id}, Priority: r.Int32N(3)}}
			items[id], ref.prio[id] = it, it.Priority
			h.push(it)
			stdheap.Push(ref, id)
		case op < 4:
			if got, want := h.pop().ID(), stdheap.Pop(ref); got != want {
				t.Fatalf("seed %d, step %d: pop gives %s, want %s", s, step, got, want)
			}
		case op < 5:
			i := r.IntN(len(ref.ids))
			id := ref.ids[i]
			h.remove(items[id])
			stdheap.Remove(ref, i)
		default:
			i := r.IntN(len(ref.ids))
			id := ref.ids[i]
			p := r.Int32N(3)
			items[id].Priority, ref.prio[id] = p, p
			h.fix(items[id])
			stdheap.Fix(ref, i)
		}
		for i, it := range h.items {
			if it.index != i || it.ID() != ref.ids[i] {
				t.Fatalf("seed %d, step %d: %s at %d, with index %d, want %s", s, step, it.ID(), i, it.index, ref.ids[i])
			}
		}
	}
	if h.items = nil; h.first() != nil || h.pop() != nil {
		t.Error("an empty heap has a first item")
	}
}
