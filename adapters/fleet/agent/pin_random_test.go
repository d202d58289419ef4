package agent

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cgroup"
	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/model/modeltest"
)

// TestPinsAtRandom: whatever starts and ends, whenever agents are killed and processors
// come and go: no processor has two owners, none is lost, and those that share have some.
func TestPinsAtRandom(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 12 {
		var all []cpuset.Processor
		cores, threads := 1+r.IntN(8), 1+r.IntN(2)
		for id := range (1 + r.IntN(3)) * cores * threads {
			socket := id / (cores * threads)
			all = append(all, cpuset.Processor{ID: id, Socket: socket, Core: id / threads, Node: socket})
		}
		b := newBoardOf(t, all)
		on := numbers(all)
		var running []int
		for n := range 60 {
			switch r.IntN(8) {
			case 0: // the agent is killed, and the next one starts
				b.start()
			case 1: // it is killed when it has removed a group
				if len(running) > 0 {
					b.remove(running[0])
					running = running[1:]
				}
				b.start()
			case 2: // some processors go off line, and others come back
				on = slices.DeleteFunc(numbers(all), func(id int) bool { return id > 0 && r.IntN(8) == 0 })
				b.allow(on...)
				b.pins.settle()
			case 3, 4:
				if len(running) > 0 {
					i := r.IntN(len(running))
					b.end(running[i])
					running = slices.Delete(running, i, i+1)
				}
			default:
				b.startOne(n, job.MilliCPU(r.IntN(10)*500), on)
				running = append(running, n)
			}
			b.check(on)
		}
		for _, n := range running {
			b.end(n)
		}
		require.Equal(t, cpuset.FormatList(on), b.shared())
	}
}

// startOne starts a task, which gets what it asks for exactly where there is room.
func (b *board) startOne(n int, cpu job.MilliCPU, on []int) {
	b.t.Helper()
	owned := b.owned()
	free := slices.DeleteFunc(slices.Clone(on), func(id int) bool { return slices.Contains(owned, id) })
	got := b.run(n, cpu)
	want := int(cpu) / 1000
	if cpu == 0 || cpu%1000 != 0 || len(free) <= want {
		require.Equal(b.t, "shared", got)
		return
	}
	cpus, err := cpuset.ParseList(got)
	require.NoError(b.t, err)
	require.Len(b.t, cpus, want)
	for _, id := range cpus {
		require.Contains(b.t, free, id)
	}
}

// TestPinsConcurrently: tasks start and end side by side.
func TestPinsConcurrently(t *testing.T) {
	b := newBoard(t, 16)
	const starters, rounds = 8, 20
	done := make(chan error, starters)
	for s := range starters {
		go func() {
			for round := range rounds {
				name := fmt.Sprintf("%d_0.1.0", s*rounds+round+1)
				g, err := b.pins.create(name, cgroup.Limits{MilliCPU: 2000})
				if err == nil {
					err = os.RemoveAll(g.Path())
				}
				b.pins.settle()
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range starters {
		require.NoError(t, <-done)
	}
	b.check(numbers(b.all))
	// And with all that fits at once.
	for s := range starters {
		go func() {
			_, err := b.pins.create(fmt.Sprintf("%d_0.1.0", 1000+s), cgroup.Limits{MilliCPU: 2000})
			done <- err
		}()
	}
	for range starters {
		require.NoError(t, <-done)
	}
	b.check(numbers(b.all))
	require.Equal(t, 14, len(b.owned()), "seven of eight: two are left to share")
}
