package snapshot

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sets that owners of different tokens change, each from where another was, hold
// what plain sorted lists hold, and those that they came from stay as they were.
func TestMembersAreWhatListsAre(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	type version struct {
		set  members[int]
		want []int
	}
	versions := []version{{}}
	for range 3000 {
		v := versions[r.IntN(len(versions))]
		tok := new(token)
		set, want := v.set, slices.Clone(v.want)
		for range 1 + r.IntN(60) {
			item := r.IntN(400)
			i, found := slices.BinarySearch(want, item)
			if r.IntN(3) > 0 {
				set = set.set(tok, item, cmp.Compare[int])
				if !found {
					want = slices.Insert(want, i, item)
				}
			} else {
				set = set.unset(tok, item, cmp.Compare[int])
				if found {
					want = slices.Delete(want, i, i+1)
				}
			}
		}
		versions = append(versions, version{set, want})
		if len(versions) > 30 {
			versions = slices.Delete(versions, 0, 1)
		}
		for _, v := range versions {
			require.Equal(t, len(v.want), v.set.count)
			require.True(t, slices.Equal(v.want, v.set.all()), "%v is not %v", v.set.all(), v.want)
			for _, c := range v.set.chunks {
				require.NotEmpty(t, c.items)
				require.LessOrEqual(t, len(c.items), memberChunkSize)
			}
		}
	}
}
