package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// hashes are the real one and some that collide in their first levels or altogether.
var hashes = map[string]func(key string) uint64{
	"hash":         hashOf,
	"three values": func(key string) uint64 { return hashOf(key) % 3 },
	"one value":    func(string) uint64 { return 7 },
	"high bits":    func(key string) uint64 { return hashOf(key) << 58 },
}

// TestTrie compares versions of a trie with plain maps, also with hashes that
// collide in their first levels or altogether.
func TestTrie(t *testing.T) {
	first := newSeed(t)
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(first, 1))
			type version struct {
				m    trie
				tok  *token
				want map[string]int
			}
			versions := []version{{want: map[string]int{}, tok: new(token)}}
			for step := range *stepsFlag {
				i := r.IntN(len(versions))
				if r.IntN(20) == 0 && len(versions) < 10 {
					versions[i].tok = new(token)
					versions = append(versions, version{versions[i].m, new(token), maps.Clone(versions[i].want)})
				}
				v, key := &versions[i], fmt.Sprint(r.IntN(100))
				if r.IntN(2) == 0 {
					v.m.insert(v.tok, trieItem{hash: hash(key), key: key, value: step})
					v.want[key] = step
				} else {
					v.m.remove(v.tok, hash(key), key)
					delete(v.want, key)
				}
				for k := range 100 {
					key := fmt.Sprint(k)
					want, there := v.want[key]
					got, ok := v.m.lookup(hash(key), key).(int)
					require.True(t, there == ok && want == got, key)
				}
			}
			for _, v := range versions {
				for k := range 100 {
					got, _ := v.m.lookup(hash(fmt.Sprint(k)), fmt.Sprint(k)).(int)
					require.Equal(t, v.want[fmt.Sprint(k)], got)
				}
			}
		})
	}
}

func TestPmapEmptiesItself(t *testing.T) {
	var m pmap[int]
	tok := new(token)
	for i := range 1000 {
		m.set(tok, fmt.Sprint(i), i)
	}
	for i := range 1000 {
		m.unset(tok, fmt.Sprint(i))
	}
	require.Nil(t, m.trie.root)
}
