package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What is measured works, at sizes that say nothing about speed.
func TestAllPartsWork(t *testing.T) {
	o := options{
		dir: t.TempDir(), servers: 1, agents: 5, clients: 4, jobs: 200, elements: 100_000,
		queued: 2000, heartbeats: 20, seconds: 5, ordered: 400, places: 8, waiting: 200, mixed: 40, unit: 100 * time.Millisecond,
	}
	require.NoError(t, run(t.Context(), &o))

	three := o
	three.dir, three.servers, three.only = t.TempDir(), 3, "throughput"
	require.NoError(t, run(t.Context(), &three))
}
