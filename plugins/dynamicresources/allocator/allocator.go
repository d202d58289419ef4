package allocator

import (
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// MaxResults is how many devices one claim can be given
// (k8s.io/api/resource/v1 AllocationResultsMaxSize, 0.37.1).
const MaxResults = 32

// DefaultMaxSteps is the default of [Options].MaxSteps. It is more than a
// search ever needs that is not lost in combinations, and about a second.
const DefaultMaxSteps = 10_000_000

// Allocator prepares searches. Its methods may be called from any goroutine.
type Allocator interface {
	// Prepare gets ready to search for devices for claims without an
	// allocation, in the given order, on any node. What is wrong with a claim
	// is reported by the search. The claims and what devices returns are only
	// read.
	Prepare(devices extpoints.Devices, claims []*model.DeviceClaim) Search
}

// Forgetter is an [Allocator] that remembers something of nodes, and is told from time to
// time which there are.
type Forgetter interface {
	Allocator
	// Forget may drop what is remembered of nodes that are not among these. It is called
	// before each Prepare, from any goroutine, and must be cheap where there is little to
	// forget.
	Forget(nodes extpoints.Nodes)
}

// Search looks for devices on one node after the other. Its methods may be
// called from several goroutines at once, and each gives the same answer to the
// same question.
//
// Errors: a [NodeError] is about the node alone; [ErrTooManySteps] means that
// the search was given up; any other means that something is wrong with a claim
// or a class, on whatever node.
type Search interface {
	// Fits reports whether all claims can be given devices on the node.
	Fits(node *model.Node) (bool, error)
	// Allocate returns what each claim gets on the node, nil where one cannot
	// be served. The IDs of shares are derived from the seed. Allocation.At is
	// left empty.
	Allocate(node *model.Node, seed uint64) ([]*model.Allocation, error)
}

// ErrTooManySteps ends a search that takes longer than Options.MaxSteps.
var ErrTooManySteps = errors.New("too many steps")

// NodeError is the reason why a search on one node failed, where there is more
// to say than that there are not enough devices.
type NodeError struct {
	Reason string // for people; the plugin rejects the node with it
}

// Error returns the reason.
func (e *NodeError) Error() string { return e.Reason }

// Evaluator understands the expressions of [model.DeviceSelector]. It is called
// from several goroutines at once, must not block, and must give the same
// answer for the same expression and device whenever it is asked: answers are
// remembered.
type Evaluator interface {
	// Evaluate reports whether the expression is true for the device of the
	// driver. An error fails the workload's cycle; one that is about the
	// expression as such, and not about the device, is an [ExpressionError].
	Evaluate(expression, driver string, device *model.SliceDevice) (bool, error)
}

// ExpressionError says that an expression is wrong, for whatever device.
type ExpressionError struct {
	Err error // what is wrong with it; must not be nil
}

// Error returns the text of Err.
func (e *ExpressionError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ExpressionError) Unwrap() error { return e.Err }

// Options of [New].
type Options struct {
	// Evaluator is for expressions; nil makes every expression an error.
	Evaluator Evaluator
	// MaxSteps is after how many steps a search on one node is given up; a step
	// is one candidate looked at. It takes the place of a time limit, so that
	// the same search has the same end whenever it is made. Default (0):
	// DefaultMaxSteps.
	MaxSteps int64
	// Compat says what is taken away: see [extpoints.Compat], which lists what
	// kube-scheduler does otherwise. Default: extpoints.Improved.
	Compat extpoints.Compat
}
