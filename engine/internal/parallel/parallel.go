// Package parallel spreads loops over workers so that nobody can tell: the
// results are the same for any number of workers.
package parallel

import "sync"

// For calls f for every index in [0, n), in blocks of neighbouring indexes, on
// at most workers goroutines (the caller's included), and returns when all
// calls have returned. f must write only to places that belong to its index.
// With one worker, or a loop not worth splitting, everything runs in order on
// the caller's goroutine.
func For(workers, n int, f func(i int)) {
	blocks := min(workers, n/minBlock)
	if blocks <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var wg sync.WaitGroup
	for b := 1; b < blocks; b++ {
		wg.Go(func() { run(f, n*b/blocks, n*(b+1)/blocks) })
	}
	run(f, 0, n/blocks)
	wg.Wait()
}

// minBlock is the smallest number of calls worth a goroutine: starting one
// costs about as much as filtering a few nodes.
const minBlock = 16

func run(f func(int), from, to int) {
	for i := from; i < to; i++ {
		f(i)
	}
}

// Together calls f for every element at the same time, the first on the
// caller's goroutine, and returns when all calls have returned. It is for
// calls that wait for something; they must not panic.
func Together[T any](list []T, f func(T)) {
	if len(list) == 0 {
		return
	}
	var wg sync.WaitGroup
	for _, v := range list[1:] {
		wg.Go(func() { f(v) })
	}
	f(list[0])
	wg.Wait()
}
