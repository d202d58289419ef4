package helper

import (
	"errors"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Errors of hint functions that got a change without the object that the event
// is about. A hint that returns an error counts as HintQueue.
var (
	ErrNoNode     = errors.New("a change of a node without the node")
	ErrNoWorkload = errors.New("a change of a workload without the workload")
	ErrNoGroup    = errors.New("a change of a group without the group")
)

// QueueIf is what a hint function returns that has come to a judgement: HintQueue
// where the change helps, else HintSkip.
func QueueIf(helps bool) (extpoints.Hint, error) {
	if helps {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// ChangedNode returns the node before (nil for a new one) and after the change.
func ChangedNode(c *extpoints.Change) (before, after *model.Node, err error) {
	if c.NewNode == nil {
		return nil, nil, ErrNoNode
	}
	return c.OldNode, c.NewNode, nil
}

// UpdatedWorkload returns the workload before and after the change.
func UpdatedWorkload(c *extpoints.Change) (before, after *extpoints.WorkloadInfo, err error) {
	if c.OldWorkload == nil || c.NewWorkload == nil {
		return nil, nil, ErrNoWorkload
	}
	return c.OldWorkload, c.NewWorkload, nil
}

// DeletedWorkload returns the workload that is gone.
func DeletedWorkload(c *extpoints.Change) (*extpoints.WorkloadInfo, error) {
	if c.OldWorkload == nil {
		return nil, ErrNoWorkload
	}
	return c.OldWorkload, nil
}
