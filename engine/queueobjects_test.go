package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// No queue, and no principal, is above itself: a change that would make it so is refused
// with all that came with it. Parents may come later.
func TestCirclesOfQueuesAreRefused(t *testing.T) {
	queue := func(name, parent string) engine.Change {
		return engine.PutObject(&model.Queue{Name: name, Parent: parent})
	}
	account := func(name, parent string) engine.Change {
		return engine.PutObject(&model.Principal{Name: name, Parent: parent})
	}
	r := newRaw(t, &world{})
	require.NoError(t, r.Apply(epoch, queue("c", "b"), queue("b", "a"), account("u", "t"), account("t", "s")))
	index := r.View().Index()

	require.EqualError(t, r.Apply(epoch, queue("x", ""), queue("a", "c"), account("s", "u")),
		`change 1, put Queue "a": queue "a": parent: what is above it leads back to it`+"\n"+
			`change 2, put Principal "s": principal "s": parent: what is above it leads back to it`)
	require.ErrorContains(t, r.Apply(epoch, queue("a", "a")), "must not be the queue itself")
	require.EqualError(t, r.Apply(epoch, queue("a", "c"), queue("x", "c"), queue("b", "a"), queue("a", "a")),
		`change 0, put Queue "a": queue "a": parent: what is above it leads back to it`+"\n"+
			`change 3, put Queue "a": queue "a": parent: must not be the queue itself`, "the search for the top ends, whatever else is wrong")
	require.Equal(t, index, r.View().Index(), "nothing is half applied")
	require.NoError(t, r.Apply(epoch, queue("c", ""), queue("a", "c")), "first away, then above")
	require.ErrorContains(t, r.Branch().Apply(epoch, queue("c", "b")), "leads back", "on a branch too")
}
