package extpoints

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/berth-project/berth/model"
)

// counts has a Clone method, shared has not.
type counts struct{ n int }

func (c *counts) Clone() *counts { return &counts{c.n} }

type shared struct{ n int }

func newCycle() *Cycle { return NewCycle(CycleOptions{Now: time.Unix(7, 0), Seed: 42}) }

func newState() *CycleState { return newCycle().State() }

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
	older := newCycle()
	old := older.State()
	extra.Set(old, 1)
	old.Evict("v", "")
	old.AwaitEvictions()
	s.CopyTo(old)
	if _, ok := extra.Get(old); ok || !reflect.DeepEqual(older.Requests(), Requests{}) {
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

// What plugins ask for is in the cycle's requests, and not in those of clones.
func TestRequests(t *testing.T) {
	c := newCycle()
	s := c.State()
	if got := c.Requests(); !reflect.DeepEqual(got, Requests{}) {
		t.Errorf("nobody asked, and there is %+v", got)
	}
	withdrawn := Reservation{Claim: "c", By: model.Consumer{Group: "g"}}
	s.Activate("a")
	s.Activate("b", "c")
	s.Evict("v", "to make room")
	s.AwaitEvictions()
	s.Unnominate("n")
	s.Deallocate("c", "d")
	s.Withdraw(withdrawn)
	clone := s.Clone()
	clone.Evict("x", "on a clone")
	want := Requests{
		Evictions: []Eviction{{"v", "to make room"}}, AwaitEvictions: true, Unnominations: []string{"n"},
		Deallocations: []string{"c", "d"}, Withdrawals: []Reservation{withdrawn}, Activations: []string{"a", "b", "c"},
	}
	if got := c.Requests(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if clone.Seed() != 42 || !clone.Now().Equal(time.Unix(7, 0)) {
		t.Error("a clone is of another cycle")
	}
}

func TestCycleOptions(t *testing.T) {
	s := newState()
	if s.View() != nil || !s.Now().Equal(time.Unix(7, 0)) || s.Seed() != 42 || s.Context() != context.Background() {
		t.Error("a state does not give back what it was made of")
	}
	if later := NewCycle(CycleOptions{Now: time.Unix(9, 0), Present: time.Unix(7, 0)}).State(); !s.Present().Equal(time.Unix(7, 0)) || !later.Present().Equal(time.Unix(7, 0)) {
		t.Errorf("the present is %v and %v", s.Present(), later.Present())
	}
	number, cloned := NewStateKey[int]("number"), NewStateKey[*counts]("cloned")
	number.Set(s, 1)
	cloned.Set(s, &counts{1})
	s.Evict("v", "")
	g := &GroupInfo{}
	c := NewCycle(CycleOptions{Context: t.Context(), Seed: 1, Trial: true, MakingRoom: true, Group: g, Shared: s, Values: s})
	member := c.State()
	if member.Context() != t.Context() || member.Seed() != 1 || !member.Trial() || !member.MakingRoom() || member.Group() != g || member.Shared() != s {
		t.Errorf("%+v", member)
	}
	if v, ok := number.Get(member); !ok || v != 1 {
		t.Error("a value is lost")
	}
	ours, _ := cloned.Get(s)
	if theirs, _ := cloned.Get(member); theirs == ours || theirs.n != ours.n {
		t.Error("a value with a Clone method is shared, or another")
	}
	if len(c.Requests().Evictions) > 0 {
		t.Error("requests of the cycle that values are from are this one's")
	}
	c.EndTrial()
	if v, _ := number.Get(member); member.Trial() || member.Group() != nil || member.Shared() != nil || !member.MakingRoom() || v != 1 {
		t.Errorf("after the trial: %+v", member)
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
