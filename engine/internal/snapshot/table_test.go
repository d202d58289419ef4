package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// thing is something to keep in a table.
type thing struct {
	key   string
	sum   uint64
	value int
}

func (x *thing) hash() uint64           { return x.sum }
func (x *thing) same(other *thing) bool { return x.key == other.key }

// TestTable compares versions of a table with plain maps, also with hashes that
// collide in their first levels or altogether.
func TestTable(t *testing.T) {
	first := newSeed(t)
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(first, 1))
			type version struct {
				table[*thing]
				tok  *token
				want map[string]int
			}
			find := func(v *version, key string) (*thing, bool) {
				return v.find(hash(key), func(x *thing) bool { return x.key == key })
			}
			versions := []*version{{want: map[string]int{}, tok: new(token)}}
			for step := range *stepsFlag {
				v := versions[r.IntN(len(versions))]
				if r.IntN(20) == 0 && len(versions) < 10 {
					v.tok = new(token)
					versions = append(versions, &version{v.table, new(token), maps.Clone(v.want)})
				}
				key := fmt.Sprint(r.IntN(100))
				if x, ok := find(v, key); ok && r.IntN(2) == 0 {
					v.drop(v.tok, x)
					delete(v.want, key)
				} else {
					v.put(v.tok, &thing{key, hash(key), step})
					v.want[key] = step
				}
				for k := range 100 {
					want, there := v.want[fmt.Sprint(k)]
					got, ok := find(v, fmt.Sprint(k))
					require.True(t, there == ok && (!ok || want == got.value), k)
				}
			}
			for _, v := range versions {
				got := map[string]int{}
				v.each(func(x *thing) { got[x.key] = x.value })
				require.Equal(t, v.want, got)
				for key := range v.want {
					x, _ := find(v, key)
					v.drop(v.tok, x)
				}
				require.Zero(t, v.table)
			}
		})
	}
}

// TestTableForgetsItsShape: of things that came and went nothing is left.
func TestTableForgetsItsShape(t *testing.T) {
	var m table[*thing]
	tok := new(token)
	things := make([]*thing, 1000)
	for i := range things {
		key := fmt.Sprint(i)
		things[i] = &thing{key: key, sum: hashOf(key)}
		m.put(tok, things[i])
	}
	for _, x := range things[1:] {
		m.drop(tok, x)
	}
	require.Equal(t, table[*thing]{only: things[0]}, m)
}
