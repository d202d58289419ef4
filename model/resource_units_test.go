package model

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAmountsBeyondInt64AreTheNearest(t *testing.T) {
	require.Equal(t, int64(math.MaxInt64), Cores(1e30))
	require.Equal(t, int64(math.MinInt64), Cores(-1e30))
	require.Equal(t, int64(math.MaxInt64), Cores(math.Inf(1)))
	require.Zero(t, Cores(math.NaN()))
	require.Equal(t, int64(math.MaxInt64), GiB(1<<40))
	require.Equal(t, int64(math.MinInt64), MiB(math.MinInt64))
	require.Equal(t, int64(-3<<30), GiB(-3))
	require.Equal(t, int64(math.MaxInt64>>30<<30), GiB(math.MaxInt64>>30))
}
