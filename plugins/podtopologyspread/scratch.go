package podtopologyspread

import "sync"

// scratch is memory for counts by slot, for what needs them only until it returns: there may be
// 100,000 nodes, and to make and to collect that anew costs more than to count. nil makes it anew.
type scratch struct{ free, used [][]int32 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// counts returns so many zeros.
func (s *scratch) counts(n int) []int32 {
	if s == nil {
		return make([]int32, n)
	}
	var counts []int32
	if last := len(s.free) - 1; last >= 0 && cap(s.free[last]) >= n {
		counts, s.free = s.free[last][:n], s.free[:last]
		clear(counts)
	} else {
		counts = make([]int32, n)
	}
	s.used = append(s.used, counts)
	return counts
}

// release gives back all that was handed out, which nobody may use any more.
func (s *scratch) release() {
	s.free, s.used = append(s.free, s.used...), s.used[:0]
	scratches.Put(s)
}
