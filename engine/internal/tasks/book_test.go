package tasks

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

// Of the tasks that are called off those are kept in mind that nobody has taken, whoever asks for them.
func TestWhatIsCalledOffIsForgottenOnceItIsTaken(t *testing.T) {
	cause := errors.New("called off")
	evict := func(b *Book, n int) *Task {
		id := fmt.Sprintf("w%d", n)
		b.Evict(&Eviction{Workload: &model.Workload{ID: id}})
		return b.evictions[id]
	}
	b := NewBook(nil)
	waits := evict(b, 0)
	b.Stop(waits, cause)
	for n := range 1000 {
		taken := evict(b, n+1)
		b.Take(func(o *Task) bool { return o == taken })
		b.Stop(taken, cause)
		b.Stop(waits, cause)
		b.Forget(taken)
	}
	require.LessOrEqual(t, len(b.off), 10)
	require.Same(t, waits, b.NextCalledOff())
	require.Nil(t, b.NextCalledOff())
}
