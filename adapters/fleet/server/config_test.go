package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigNamesAllProblems(t *testing.T) {
	_, err := New(t.Context(), Config{Dir: "here", Listen: "127.0.0.1:0", Packing: "Tetris", Reservations: 10_001, Forecasts: -1})
	require.ErrorContains(t, err, "ID: it is empty")
	require.ErrorContains(t, err, `Dir: "here" is not an absolute path`)
	require.ErrorContains(t, err, `Packing: "Tetris" is none of the ways to pack GPUs, which are BestFit and Rollout`)
	require.ErrorContains(t, err, "Forecasts: -1 is not between 0 and 1000")
	require.ErrorContains(t, err, "Reservations: 10001 is not between 1 and 10000")
}
