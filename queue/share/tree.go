package share

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// What is wrong with what a function of this package was given. The errors that it
// returns name the place and wrap one of these; where several things are wrong, they
// are joined.
var (
	ErrParent    = errors.New("no such parent")
	ErrCycle     = errors.New("a node is below itself")
	ErrNegative  = errors.New("a negative amount")
	ErrWeight    = errors.New("a weight that is not allowed")
	ErrLength    = errors.New("a vector with another number of resources")
	ErrOverflow  = errors.New("too large to be counted")
	ErrHalfLife  = errors.New("a half-life that is not allowed")
	ErrTick      = errors.New("time goes back")
	ErrPrincipal = errors.New("no such principal")
	ErrNode      = errors.New("no such node")
	ErrUser      = errors.New("a user has nobody below it")
)

// Root is the parent of a node that has none.
const Root = -1

// topDown returns the nodes so that each comes after its parent, and else in the
// order given, or all that is wrong with the tree.
func topDown(names []string, parents []int) ([]int, error) {
	var wrong []error
	depth := make([]int, len(parents)) // 0: not known yet
	for i, p := range parents {
		if p != Root && (p < 0 || p >= len(parents)) {
			wrong = append(wrong, fmt.Errorf("share: parent %d of %q is none of the %d nodes: %w", p, names[i], len(parents), ErrParent))
		}
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	for i := range parents {
		var path []int
		n := i
		for n != Root && depth[n] == 0 && len(path) <= len(parents) {
			path = append(path, n)
			n = parents[n]
		}
		if len(path) > len(parents) {
			wrong = append(wrong, fmt.Errorf("share: the parents of %q lead in a circle: %w", names[i], ErrCycle))
			continue
		}
		above := 0
		if n != Root {
			above = depth[n]
		}
		for k := len(path) - 1; k >= 0; k-- {
			above++
			depth[path[k]] = above
		}
	}
	if wrong != nil {
		return nil, errors.Join(wrong...)
	}
	order := make([]int, len(parents))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(depth[a], depth[b]) })
	return order, nil
}
