package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// HeldBack has everything that a quota holds back, what waits behind it too, and what can never be
// placed as the queues are. What only finds no room is not among it.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	r := byQueues(t, engine.Backfill{},
		engine.Submit(inQueue("a", limited("runs", 700, 5))),
		engine.Submit(inQueue("a", limited("first", 600, 5))),
		engine.Submit(inQueue("a", limited("behind", 100, 5))),
		engine.Submit(inQueue("a", limited("huge", 1100, 5))),
		engine.Submit(inQueue("typo", limited("lost", 100, 5))),
		engine.Submit(inQueue("b", limited("nowhere", 3000, 5))))
	const first = `queue "a": max: "first" asks for 300m cpu too much now`
	held := map[string]string{}
	for id, h := range engine.WhatIsHeldBack(r) {
		held[id] = h.String()
		require.Equal(t, h, heldAt(t, r, id))
	}
	require.Equal(t, map[string]string{
		"first": first, "behind": first,
		"huge": `queue "a": max: "huge" asks for 100m cpu too much, whatever else runs`,
		"lost": `there is no queue "typo"`,
	}, held)

	require.NoError(t, r.Apply(epoch, engine.PutObject(&model.Queue{Name: "a"}), engine.PutObject(&model.Queue{Name: "typo"})))
	settle(r, epoch)
	require.Empty(t, engine.WhatIsHeldBack(r))
}

// heldAt is what the workload's position says of it.
func heldAt(t *testing.T, r *engine.Raw, id string) *queue.Held {
	t.Helper()
	p, ok := r.Queue(id)
	require.True(t, ok)
	if p.Standing != nil {
		return p.Standing.Held
	}
	return p.Refused
}

// Where the order is not by queues nothing holds anything back.
func TestNothingIsHeldBackWithoutQueues(t *testing.T) {
	t.Parallel()
	r, err := engine.NewRaw(config(&world{}))
	require.NoError(t, err)
	require.NoError(t, r.Apply(epoch, engine.Submit(limited("waits", 100, 5))))
	require.Nil(t, engine.WhatIsHeldBack(r))
}
