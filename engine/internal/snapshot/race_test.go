package snapshot

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConcurrentBranches has several goroutines take branches of frozen Views,
// patch them, branch them again and read the frozen ones, while the View that
// they all come from goes on. It is for the race detector.
func TestConcurrentBranches(t *testing.T) {
	first := newSeed(t)
	r := &random{Rand: rand.New(rand.NewPCG(first, 99)), names: 200}
	live := handle{New(), newFlat()}
	for range 600 {
		r.patch(live)
	}
	var wg sync.WaitGroup
	for round := range 4 {
		base := live.branch()
		want := dump(base.view)
		var twins sync.Mutex // flat copies cannot be made side by side
		for worker := range 4 {
			wg.Go(func() {
				r := &random{Rand: rand.New(rand.NewPCG(first, uint64(100*round+worker))), names: 200}
				mine := handle{view: base.view.Branch()}
				twins.Lock()
				mine.flat = base.flat.branch()
				twins.Unlock()
				for range 12 {
					for range 5 {
						r.patch(mine)
					}
					nested := mine.branch()
					r.patch(nested)
					r.compare(t, nested)
					r.compare(t, mine)
					nodes := base.view.Nodes()
					_, _ = nodes.WithAffinity(), nodes.WithRequiredAntiAffinity()
				}
				if dump(base.view) != want {
					t.Error("the frozen view changed")
				}
			})
		}
		for range 50 {
			r.patch(live)
			live.view.Settle()
			live.flat.settle()
			kept := live.view.Branch()
			_ = kept.Nodes().WithAffinity()
		}
	}
	wg.Wait()
	r.compare(t, live)
	require.NotZero(t, live.view.Nodes().Len())
}
