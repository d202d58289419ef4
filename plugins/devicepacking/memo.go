package devicepacking

import (
	"sync"
	"sync/atomic"
)

// memo remembers potentials by state. Nodes in equal states have equal potentials, and
// a placement changes one node, so nearly all that is asked for is known.
//
// What it returns is what would be computed anew, whatever it has forgotten, so neither
// the order of workers nor that of branches makes a difference, and it is kept apart from
// the rest of the plugin by an atomic pointer. Locks are held for no longer than a
// map takes.
type memo struct {
	shards atomic.Pointer[[memoShards]memoShard]
}

func (m *memo) init() { m.shards.Store(&[memoShards]memoShard{}) }

const (
	memoShards = 16
	// memoHalf is how many states a shard has in each of its two halves; about
	// 100 bytes each. A run of the published traces sees up to 150,000 states.
	memoHalf = 1 << 13
)

// memoShard has two halves. What is found in the old one moves to the new one; when
// that is full it becomes the old one, so what nobody asked for is forgotten.
type memoShard struct {
	mu       sync.RWMutex
	new, old map[string]int64
}

func (m *memo) shardOf(key []byte) *memoShard {
	h := uint32(2166136261) // FNV-1a
	for _, c := range key {
		h = (h ^ uint32(c)) * 16777619
	}
	return &m.shards.Load()[(h^h>>16)%memoShards]
}

func (m *memo) get(key []byte) (int64, bool) {
	s := m.shardOf(key)
	s.mu.RLock()
	v, ok := s.new[string(key)]
	var aged bool
	if !ok {
		v, aged = s.old[string(key)]
	}
	s.mu.RUnlock()
	if aged {
		s.put(key, v)
	}
	return v, ok || aged
}

func (m *memo) put(key []byte, v int64) { m.shardOf(key).put(key, v) }

func (s *memoShard) put(key []byte, v int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.new == nil || len(s.new) >= memoHalf {
		s.new, s.old = make(map[string]int64), s.new
	}
	s.new[string(key)] = v
}
