package extpoints

import (
	"fmt"
	"maps"
	"slices"
)

// Plugin is what every plugin is. It implements one or more of the point
// interfaces of this package; which ones is found out once, when the engine is
// made.
//
// One plugin value serves one profile of one engine. The points of the
// scheduling cycle are called on the engine's scheduling goroutine, but Filter
// and Score are called from several goroutines at once for different nodes,
// and a branch may run the same plugin at the same time on another state. So a
// plugin keeps what belongs to a cycle in its [CycleState] and changes nothing
// of its own there. It must not start goroutines, read a clock, or draw random
// numbers in a scheduling cycle: [CycleState] has the time and a seed.
type Plugin interface {
	// Name is the plugin's name in registries, profiles and reasons.
	Name() string
}

// Factory makes a plugin. Args is what the profile gives for the plugin's name,
// nil where it gives nothing; a factory must refuse what it does not know, with
// an error that names every wrong field. It is called once per profile, when an
// engine is made, and must not start anything.
type Factory func(args any, h Handle) (Plugin, error)

// Registry says which plugins there are, by name.
type Registry map[string]Factory

// Register adds a factory. A name that is taken is an error.
func (r Registry) Register(name string, f Factory) error {
	if _, ok := r[name]; ok {
		return fmt.Errorf("register plugin %q: the name is taken", name)
	}
	r[name] = f
	return nil
}

// Merge adds every factory of other; if any name is taken nothing is added.
func (r Registry) Merge(other Registry) error {
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if _, ok := r[name]; ok {
			return fmt.Errorf("merge registries: plugin %q is in both", name)
		}
	}
	maps.Copy(r, other)
	return nil
}

// NoArgs refuses arguments, for factories of plugins that take none.
func NoArgs(name string, args any) error {
	if args != nil {
		return fmt.Errorf("plugin %s takes no arguments, got %T", name, args)
	}
	return nil
}

// ArgsAs gives a factory its arguments: a T or a *T as they are, defaults where
// there are none, and an error for any other type.
func ArgsAs[T any](name string, args any, defaults T) (T, error) {
	switch a := args.(type) {
	case nil:
		return defaults, nil
	case T:
		return a, nil
	case *T:
		if a == nil {
			return defaults, nil
		}
		return *a, nil
	}
	return defaults, fmt.Errorf("plugin %s: arguments of type %T, want %T", name, args, defaults)
}
