package cpuset

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLists(t *testing.T) {
	for text, want := range map[string][]int{
		"": nil, "0": {0}, "0-2,5": {0, 1, 2, 5}, "0-1,3-4,6": {0, 1, 3, 4, 6},
	} {
		got, err := ParseList(text + "\n")
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, text, FormatList(want))
	}
	require.Equal(t, "0-2,7", FormatList([]int{7, 1, 0, 2, 1}), "in order, each once")
	for _, text := range []string{"x", "3-1", "-1", "0-99999999", "1,,2", "1-2-3"} {
		_, err := ParseList(text)
		require.Error(t, err, text)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add("0-15,32-47\n")
	f.Add("3,1,1-2")
	f.Fuzz(func(t *testing.T, text string) {
		cpus, err := ParseList(text)
		if err != nil {
			return
		}
		if len(cpus) > maxCPU {
			t.Fatalf("%q: %d processors", text, len(cpus))
		}
		again, err := ParseList(FormatList(cpus))
		if err != nil || !slices.Equal(again, slices.Compact(slices.Sorted(slices.Values(cpus)))) {
			t.Fatalf("%q became %v (%v)", text, again, err)
		}
	})
}
