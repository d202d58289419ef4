package extpoints

import (
	"fmt"
	"slices"
	"sync"
)

// Option is for [Use].
type Option func(*addition)

// addition is an entry on its way into a profile.
type addition struct {
	entry     Entry
	before    string // the plugin that it goes in front of
	inPlaceOf string // the plugin that it replaces
}

// Weight multiplies the plugin's scores; it must serve Score or PlacementScore.
func Weight(weight int32) Option {
	return func(a *addition) { a.entry.Weight = weight }
}

// Only has the plugin asked at these points and at no other that it serves.
func Only(points ...Point) Option {
	return func(a *addition) { a.entry.Points = points }
}

// Before puts the plugin in front of the one with the name, at all points: where the
// first answer counts, as at Bind, that decides who gives it. Without it the plugin
// comes after all that there are.
func Before(name string) Option {
	return func(a *addition) { a.before = name }
}

// InPlaceOf puts the plugin in the place of the one with the name, which goes. It has
// that one's points and weight too, unless other options say something else. It
// may be the same plugin with other arguments.
func InPlaceOf(name string) Option {
	return func(a *addition) { a.inPlaceOf = name }
}

// Use adds a plugin to the profile, behind those that it has: the one that new will
// make of args when an engine is made. The slot has the plugin then, for callers
// that want to talk to it. What is wrong with the options is reported when the
// engine is made, along with everything else that is wrong with the profile.
//
// The plugin's name is what the zero value of its type calls itself; where that
// cannot be told, it is known when it has been made.
func Use[A any, P Plugin](p *Profile, new func(args A, h Handle) (P, error), args A, options ...Option) *Slot[P] {
	slot := &Slot[P]{}
	a := &addition{entry: Entry{Name: nameOf[P](), Args: args, Made: slot.made}}
	for _, option := range options {
		option(a)
	}
	a.entry.New = weighing(FactoryOf(new), a.entry.Weight)
	p.add(a)
	return slot
}

// weighing refuses a weight where the plugin has no scores to multiply. (Of an entry
// that was written by hand the engine takes it, as kube-scheduler does.)
func weighing(new Factory, weight int32) Factory {
	return func(args any, h Handle) (Plugin, error) {
		plugin, err := new(args, h)
		if err == nil && weight != 0 && !Point("Score").Serves(plugin) && !Point("PlacementScore").Serves(plugin) {
			return nil, fmt.Errorf("has weight %d, and serves neither Score nor PlacementScore", weight)
		}
		return plugin, err
	}
}

func (p *Profile) add(a *addition) {
	what := fmt.Sprintf("plugin %q", a.entry.Name)
	place := len(p.Plugins)
	switch {
	case a.before != "" && a.inPlaceOf != "":
		p.problem("use %s: either before %q or in place of %q", what, a.before, a.inPlaceOf)
	case a.inPlaceOf != "":
		p.replace(a)
		return
	case a.before != "":
		if place = p.index(a.before); place < 0 {
			p.problem("use %s before %q: the profile has none of the name", what, a.before)
			place = len(p.Plugins)
		}
	}
	// A new array: copies of the profile have the old one.
	p.Plugins = slices.Insert(slices.Clone(p.Plugins), place, a.entry)
}

func (p *Profile) replace(a *addition) {
	if !p.has(a.inPlaceOf) {
		p.problem("use plugin %q in place of %q: the profile has none of the name", a.entry.Name, a.inPlaceOf)
		return
	}
	p.Plugins = slices.Clone(p.Plugins)
	for i := range p.Plugins {
		old := &p.Plugins[i]
		if old.Name != a.inPlaceOf {
			continue
		}
		if old.New == nil {
			old.Name = a.entry.Name
			continue
		}
		e := a.entry
		if e.Weight == 0 {
			e.Weight = old.Weight
		}
		if len(e.Points) == 0 {
			e.Points, e.Except = old.Points, old.Except
		}
		*old = e
	}
}

// nameOf is what the zero value of the type calls itself, be it a pointer that is
// nil. Empty where it cannot say.
func nameOf[P Plugin]() (name string) {
	defer func() {
		if recover() != nil {
			name = ""
		}
	}()
	var zero P
	return zero.Name()
}

// Slot is where a plugin can be had once its engine has been made. All methods may
// be called from any goroutine.
type Slot[P Plugin] struct {
	mu     sync.Mutex
	plugin P
	count  int
}

// made takes the plugin; see [Entry].Made.
func (s *Slot[P]) made(plugin Plugin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none P
	if s.count++; s.count == 1 {
		none = plugin.(P)
	}
	s.plugin = none // of several it is none
}

// Get returns the plugin of the engine that was made with the profile. There must
// be exactly one: Get panics before the engine has been made, and where several
// plugins were made of the entry, because two engines were made with the profile or
// because a copy of it is a second profile of the engine. The plugins of a replay do
// not count. To use several, add the plugin to each profile
// separately; each gets a slot.
func (s *Slot[P]) Get() P {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.count {
	case 0:
		panic(fmt.Sprintf("extpoints: %T.Get: no engine has been made with the profile yet", s))
	case 1:
		return s.plugin
	}
	panic(fmt.Sprintf("extpoints: %T.Get: %d plugins were made of one Use; which is meant? Call Use for each profile and engine", s, s.count))
}
