package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func checkCounts(t *testing.T, c *counts) {
	t.Helper()
	total, last := 0, int32(-1)
	c.Each(func(slot, count int32) {
		require.Greater(t, slot, last)
		require.Positive(t, count)
		last = slot
		total += int(count)
	})
	require.Equal(t, total, c.total)
	require.LessOrEqual(t, len(c.few), blockSize)
	if c.many == nil {
		return
	}
	require.Empty(t, c.few)
	require.Greater(t, len(c.many.list), 1)
	require.Equal(t, len(c.many.list), len(c.many.first))
	for i, b := range c.many.list {
		require.NotEmpty(t, b.pairs)
		require.LessOrEqual(t, len(b.pairs), blockSize)
		require.GreaterOrEqual(t, b.pairs[0].slot, c.many.first[i])
		if i > 0 {
			require.Less(t, c.many.list[i-1].pairs[len(c.many.list[i-1].pairs)-1].slot, c.many.first[i])
		}
	}
	require.Zero(t, c.many.first[0])
}

// TestCounts compares versions of counts with plain maps while they grow and
// shrink.
func TestCounts(t *testing.T) {
	first := newSeed(t)
	for i, slots := range []int32{1, 100, 400, 3000} {
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			r := rand.New(rand.NewPCG(first, uint64(i)))
			type version struct {
				counts
				tok  *token
				want map[int32]int32
			}
			check := func(v *version) {
				checkCounts(t, &v.counts)
				got := map[int32]int32{}
				v.Each(func(slot, count int32) { got[slot] = count })
				require.True(t, maps.Equal(v.want, got))
				sums := make([]int32, slots)
				v.AddTo(sums)
				for slot, sum := range sums {
					require.Equal(t, v.want[int32(slot)], sum)
				}
			}
			versions := []*version{{tok: new(token), want: map[int32]int32{}}}
			growing := 2
			for step := range 20 * *stepsFlag {
				if step%int(3*slots) == 0 {
					growing = 5 - growing // 2 or 3 of 5
				}
				v := versions[r.IntN(len(versions))]
				slot, by := r.Int32N(slots), int32(1)
				if r.IntN(5) >= growing {
					by = -1
				}
				if v.want[slot]+by < 0 {
					continue
				}
				v.add(v.tok, slot, by)
				if v.want[slot] += by; v.want[slot] == 0 {
					delete(v.want, slot)
				}
				if r.IntN(100) == 0 {
					check(v)
				}
				if r.IntN(200) == 0 {
					v.tok = new(token)
					b := &version{tok: new(token), counts: v.copy(), want: maps.Clone(v.want)}
					v.counts = v.copy()
					if len(versions) < 4 {
						versions = append(versions, b)
					} else {
						versions[r.IntN(4)] = b
					}
				}
			}
			for _, v := range versions {
				check(v)
				for slot, count := range maps.Clone(v.want) {
					v.add(v.tok, slot, -count)
					delete(v.want, slot)
				}
				check(v)
				require.Nil(t, v.many)
			}
		})
	}
}

// TestEmptyBlocksGo: also where what is beside them is full.
func TestEmptyBlocksGo(t *testing.T) {
	for _, gone := range []int{0, 1, 2} {
		var c counts
		tok := new(token)
		for slot := range int32(3 * blockSize) {
			c.add(tok, slot, 1)
		}
		for slot := range int32(blockSize) {
			c.add(tok, int32(gone*blockSize)+slot, -1)
			checkCounts(t, &c)
		}
		require.Len(t, c.many.list, 2)
	}
}

// TestCountsStayFull: where a fleet is filled slot by slot, no room is wasted.
func TestCountsStayFull(t *testing.T) {
	var c counts
	tok := new(token)
	for slot := range int32(10 * blockSize) {
		c.add(tok, slot, 1)
	}
	require.Len(t, c.many.list, 10)
	for _, b := range c.many.list {
		require.Len(t, b.pairs, blockSize)
		require.Equal(t, blockSize, cap(b.pairs))
	}
}
