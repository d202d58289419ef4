// Package parallel spreads loops over workers so that nobody can tell: the
// results are the same for any number of workers.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/berth-project/berth/engine/internal/callers"
)

// For calls f for every index in [0, n), in blocks of neighbouring indexes, on
// at most workers goroutines (the caller's included), and returns when all
// calls have returned. f must write only to places that belong to its index.
// With one worker, or a loop not worth splitting, everything runs in order on
// the caller's goroutine. A worker that panics, or whose goroutine is ended, has not done
// its part: For panics with a [*Failure] then, once the others have ended.
func For(workers, n int, f func(i int)) {
	blocks := min(workers, n/minBlock)
	if blocks <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var failure atomic.Pointer[Failure]
	func() {
		var wg sync.WaitGroup
		defer wg.Wait() // also where the caller's own part panics
		for b := 1; b < blocks; b++ {
			wg.Go(func() { try(f, n*b/blocks, n*(b+1)/blocks, &failure) })
		}
		run(f, 0, n/blocks)
	}()
	if first := failure.Load(); first != nil {
		panic(first)
	}
}

// minBlock is the smallest number of calls worth a goroutine: starting one
// costs about as much as filtering a few nodes.
const minBlock = 16

// try is run on a goroutine of its own, where a panic would end the program.
func try(f func(int), from, to int, failure *atomic.Pointer[Failure]) {
	whole := false
	defer func() {
		if !whole {
			failure.CompareAndSwap(nil, &Failure{Err: callers.Why(recover()), Stack: debug.Stack()})
		}
	}()
	run(f, from, to)
	whole = true
}

func run(f func(int), from, to int) {
	for i := from; i < to; i++ {
		f(i)
	}
}

// Failure is why a worker has not done its part.
type Failure struct {
	Err   error
	Stack []byte // the worker's
}

// Error says it in one line.
func (f *Failure) Error() string { return fmt.Sprintf("a worker failed: %v", f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Together calls f for every element at the same time, the first on the
// caller's goroutine, and returns when all calls have ended. It is for
// calls that wait for something; they must not panic. One that ends its goroutine has done
// what it did before.
func Together[T any](list []T, f func(T)) {
	if len(list) == 0 {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, v := range list[1:] {
		wg.Go(func() { f(v) })
	}
	f(list[0])
}
