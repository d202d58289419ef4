package extpoints

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

// counts has a Clone method, shared has not.
type counts struct{ n int }

func (c *counts) Clone() *counts { return &counts{c.n} }

type shared struct{ n int }

func newState() *CycleState {
	return NewCycleState(context.Background(), nil, time.Unix(7, 0), 42)
}

func TestStateKey(t *testing.T) {
	a, b := NewStateKey[*counts]("same name"), NewStateKey[*counts]("same name")
	number := NewStateKey[int]("number")
	s := newState()
	if v, ok := a.Get(s); v != nil || ok {
		t.Errorf("before Set: %v, %v", v, ok)
	}
	if v, ok := number.Get(s); v != 0 || ok {
		t.Errorf("before Set: %v, %v", v, ok)
	}
	a.Set(s, &counts{1})
	number.Set(s, 0)
	if v, ok := a.Get(s); !ok || v.n != 1 {
		t.Errorf("after Set: %v, %v", v, ok)
	}
	if _, ok := b.Get(s); ok {
		t.Error("two keys of the same name are the same key")
	}
	if v, ok := number.Get(s); !ok || v != 0 {
		t.Error("a zero value that is set is not there")
	}
	a.Set(s, &counts{2})
	a.Set(s, nil)
	if v, ok := a.Get(s); !ok || v != nil {
		t.Errorf("after Set of nil: %v, %v", v, ok)
	}
	if a.String() != "same name" {
		t.Error(a.String())
	}
}

func TestCycleStateClone(t *testing.T) {
	cloned, kept := NewStateKey[*counts]("cloned"), NewStateKey[*shared]("kept")
	s := newState()
	cloned.Set(s, &counts{1})
	kept.Set(s, &shared{1})
	c := s.Clone()

	theirs, _ := cloned.Get(c)
	theirs.n = 2
	if ours, _ := cloned.Get(s); ours.n != 1 {
		t.Error("a value with a Clone method is shared")
	}
	if ours, _ := kept.Get(s); ours == nil {
		t.Error("a value is lost")
	} else if theirs, _ := kept.Get(c); theirs != ours {
		t.Error("a value without a Clone method is not shared")
	}
	// What is set in one is not in the other, also where there was room left.
	extra := NewStateKey[int]("extra")
	extra.Set(c, 1)
	if _, ok := extra.Get(s); ok {
		t.Error("a value set in the clone is in the original")
	}
	kept.Set(c, nil)
	if v, _ := kept.Get(s); v == nil {
		t.Error("a value replaced in the clone is replaced in the original")
	}
	// A clone in the memory of an older one has nothing of it.
	old := newState()
	extra.Set(old, 1)
	old.Evict("v", "")
	old.AwaitEvictions()
	s.CopyTo(old)
	if _, ok := extra.Get(old); ok || len(old.Evictions()) > 0 || old.AwaitsEvictions() {
		t.Error("what was in the memory is in the clone")
	}
	if ours, _ := cloned.Get(s); ours != nil {
		if theirs, _ := cloned.Get(old); theirs == nil || theirs == ours || theirs.n != ours.n {
			t.Errorf("a copy has %v in place of %v", theirs, ours)
		}
	}
	// A clone of a clone still clones.
	again, _ := cloned.Get(c.Clone())
	again.n = 3
	if v, _ := cloned.Get(c); v.n != 2 {
		t.Error("a clone's clone shares what has a Clone method")
	}
}

func TestCycleState(t *testing.T) {
	s := newState()
	if s.View() != nil || !s.Now().Equal(time.Unix(7, 0)) || s.Seed() != 42 || s.Context() != context.Background() {
		t.Error("a state does not give back what it was made of")
	}
	s.Activate("a")
	s.Activate("b", "c")
	s.Evict("v", "to make room")
	if got := s.Activated(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Error(got)
	}
	if got := s.Evictions(); !slices.Equal(got, []Eviction{{"v", "to make room"}}) || s.AwaitsEvictions() {
		t.Error(got)
	}
	s.Unnominate("n")
	s.AwaitEvictions()
	s.Deallocate("c", "d")
	if got := s.Deallocations(); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("deallocations %v", got)
	}
	s.Withdraw(Reservation{Claim: "c", By: model.Consumer{Group: "g"}})
	if got := s.Withdrawals(); !slices.Equal(got, []Reservation{{"c", model.Consumer{Group: "g"}}}) {
		t.Errorf("withdrawals %v", got)
	}
	if got := s.Unnominations(); !slices.Equal(got, []string{"n"}) || !s.AwaitsEvictions() {
		t.Error(got)
	}
	c := s.Clone()
	c.Withdraw(Reservation{Claim: "c", By: model.Consumer{Group: "g"}})
	s.CopyTo(c) // in the memory of an earlier clone
	if len(c.Activated()) != 0 || len(c.Evictions()) != 0 || len(c.Unnominations()) != 0 || len(c.Deallocations()) != 0 || len(c.Withdrawals()) != 0 || c.AwaitsEvictions() || c.Seed() != 42 {
		t.Error("a clone asks for what only its original asked for")
	}
}

func TestGetDoesNotAllocate(t *testing.T) {
	pointer, list := NewStateKey[*counts]("pointer"), NewStateKey[[]int64]("list")
	s := newState()
	pointer.Set(s, &counts{})
	list.Set(s, make([]int64, 3))
	if n := testing.AllocsPerRun(100, func() { pointer.Get(s); list.Get(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
