package extpoints

import "fmt"

// NoArgs are the arguments of a plugin that takes none.
type NoArgs struct{}

// Factory makes a plugin. It is called once for each profile that has the plugin,
// when an engine is made, and must not start anything. Authors of plugins write a
// function with arguments of a type of their own; [Use] and [FactoryOf] make this
// of it.
type Factory func(args any, h Handle) (Plugin, error)

// FactoryOf makes a [Factory] of a function with typed arguments. It takes an A or
// a *A as it is and the zero A for nil, and refuses everything else. The function
// must refuse values that it cannot work with, in an error that names every wrong
// field.
func FactoryOf[A any, P Plugin](new func(args A, h Handle) (P, error)) Factory {
	return func(args any, h Handle) (Plugin, error) {
		var typed A
		switch a := args.(type) {
		case nil:
		case A:
			typed = a
		case *A:
			if a != nil {
				typed = *a
			}
		default:
			return nil, fmt.Errorf("arguments of type %T, want %T", args, typed)
		}
		plugin, err := new(typed, h)
		if err != nil {
			return nil, err // not a P that is nil
		}
		return plugin, nil
	}
}
