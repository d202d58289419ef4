package job

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model/modeltest"
)

func TestParseArray(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // what it is written as
		len  int
		err  string
	}{
		{text: "0", want: "0", len: 1},
		{text: "0-9", want: "0-9", len: 10},
		{text: "0-9999:2%50", want: "0-9998:2%50", len: 5000},
		{text: "1,3,5-7", want: "1,3,5-7", len: 5},
		{text: "5-7,3,1", want: "1,3,5-7", len: 5},
		{text: "1,2,3", want: "1-3", len: 3},
		{text: "0-4,5-9", want: "0-9", len: 10},
		{text: "3-3:7", want: "3", len: 1},
		{text: "0-5:10", want: "0", len: 1},
		{text: "0-999999", want: "0-999999", len: MaxArray},
		{text: "9999999", want: "9999999", len: 1},
		{text: "0-9999999:10", want: "0-9999990:10", len: MaxArray},
		{text: "0-1000000", err: "has 1000001 indices, at most 1000000 are allowed"},
		{text: "10000000", err: "not between 0 and 9999999"},
		{text: "0-99,50", err: "the ranges 0-99 and 50 overlap"},
		{text: "0-8:2,1-9:2", err: "the ranges 0-8:2 and 1-9:2 overlap"},
		{text: "7-3", err: "3 is smaller than 7"},
		{text: "0-9:0", err: "0 in it is not between 1 and"},
		{text: "5:2", err: "a step needs a range"},
		{text: "1,,2", err: `"" in it is no number`},
		{text: "", err: "is no range of indices"},
		{text: "-1", err: `"" in it is no number`},
		{text: "a", err: `"a" in it is no number`},
		{text: "+1", err: `"+1" in it is no number`},
		{text: " 1", err: "is no range of indices"},
		{text: "0-9%", err: "says no limit of an array"},
		{text: "0-9%0", err: "0 in it is not between 1 and"},
		{text: "0-9%2%3", err: "says no limit of an array"},
		{text: strings.Repeat("1,", MaxRanges), err: "has 10001 ranges, at most 10000 are allowed"},
	} {
		a, err := ParseArray(c.text)
		checkParsed(t, c.text, a.String(), c.want, err, c.err)
		if c.err == "" {
			assert.Equal(t, c.len, a.Len(), c.text)
		}
	}
}

// The ranges answer as the list of the indices would.
func TestIndexesAgainstList(t *testing.T) {
	seed := modeltest.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		var parts []string
		var list []int32
		at := random.Int32N(5)
		for range 1 + random.IntN(5) {
			last, step := at+random.Int32N(20), 1+random.Int32N(6)
			parts = append(parts, fmt.Sprintf("%d-%d:%d", at, last, step))
			for i := at; i <= last; i += step {
				list = append(list, i)
			}
			at = last + 1 + random.Int32N(4)
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		x, err := ParseIndexes(strings.Join(parts, ","))
		require.NoError(t, err)
		checkIndexes(t, x, list)
	}
}

// checkIndexes compares a set with the list of its indices.
func checkIndexes(t *testing.T, x Indexes, list []int32) {
	t.Helper()
	require.Equal(t, list, slices.Collect(x.All()), x)
	require.Equal(t, len(list), x.Len(), x)
	first, ok := x.First()
	require.True(t, ok)
	require.Equal(t, list[0], first, x)
	last, ok := x.Last()
	require.True(t, ok)
	require.Equal(t, list[len(list)-1], last, x)
	for i := range last + 2 {
		at, found := slices.BinarySearch(list, i)
		require.Equal(t, found, x.Contains(i), "%s contains %d", x, i)
		if found {
			at++
		}
		next, ok := x.Next(i)
		require.Equal(t, at < len(list), ok, "%s after %d", x, i)
		if ok {
			require.Equal(t, list[at], next, "%s after %d", x, i)
		}
	}
}

func TestIndexesAtTheEdges(t *testing.T) {
	var none Indexes
	assert.True(t, none.IsZero())
	assert.Zero(t, none.Len())
	_, ok := none.First()
	assert.False(t, ok)
	_, ok = none.Last()
	assert.False(t, ok)

	x, err := ParseIndexes("3,9999999")
	require.NoError(t, err)
	assert.False(t, x.IsZero())
	assert.False(t, x.Contains(-1))
	next, ok := x.Next(-5)
	assert.True(t, ok)
	assert.Equal(t, int32(3), next)
	_, ok = x.Next(MaxIndex)
	assert.False(t, ok)
	_, ok = x.Next(1<<31 - 1)
	assert.False(t, ok)
	for i := range x.All() {
		assert.Equal(t, int32(3), i)
		break // the walk stops when it is told to
	}
}

func TestArrayInJSON(t *testing.T) {
	var s Spec
	require.NoError(t, json.Unmarshal([]byte(`{"array":"0-99%10"}`), &s))
	assert.Equal(t, int32(10), s.Array.Limit)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"array":"0-99%10"`)
	data, err = json.Marshal(Spec{})
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(data))

	assert.ErrorContains(t, json.Unmarshal([]byte(`{"array":5}`), &s), `may be an index or a count`)
	assert.Error(t, json.Unmarshal([]byte(`{"array":["1"]}`), &s))
	require.NoError(t, json.Unmarshal([]byte(`{"array":null}`), &s))
	assert.Equal(t, 100, s.Array.Len(), "null changes nothing")
	require.NoError(t, json.Unmarshal([]byte(`{"array":""}`), &s))
	assert.True(t, s.Array.IsZero())
}

// A million elements are as cheap to have as one.
func TestArrayMemory(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		a, err := ParseArray("0-999999%50")
		if err != nil || a.Len() != MaxArray || !a.Contains(777_777) {
			t.Error("not the array that was asked for")
		}
	})
	assert.Less(t, allocs, 10.0)
}

func ExampleParseArray() {
	a, err := ParseArray("5-7,1,20-30:5%2")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a, a.Len(), a.Limit, slices.Collect(a.All()))
	// Output: 1,5-7,20-30:5%2 7 2 [1 5 6 7 20 25 30]
}

func FuzzParseArray(f *testing.F) {
	for _, s := range []string{"0-9999:2%50", "1,3,5-7", "0-1000000", "9999999", "1-2-3", "%", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseArray(s)
		if err != nil {
			return
		}
		require.LessOrEqual(t, a.Len(), MaxArray)
		require.Positive(t, a.Len())
		back, err := ParseArray(a.String())
		require.NoError(t, err)
		require.Equal(t, a, back)
		n := 0
		for i := range a.All() {
			if n++; n > 1000 {
				break
			}
			require.True(t, a.Contains(i))
		}
	})
}

func TestStep(t *testing.T) {
	for text, want := range map[string]int32{"5": 1, "0-9": 1, "0-9:3": 3, "0,1,2": 1} {
		x, err := ParseIndexes(text)
		require.NoError(t, err)
		step, ok := x.Step()
		assert.True(t, ok, text)
		assert.Equal(t, want, step, text)
	}
	for _, text := range []string{"0-9,20", "1,3,5"} {
		x, err := ParseIndexes(text)
		require.NoError(t, err)
		_, ok := x.Step()
		assert.False(t, ok, text)
	}
}
