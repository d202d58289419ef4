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

// On is the registration for events of the kind and actions, with their hint; nil: every one of
// them may help.
func On(kind model.ObjectKind, actions extpoints.Action, hint extpoints.HintFunc) extpoints.EventHint {
	return extpoints.EventHint{Event: extpoints.ClusterEvent{Resource: kind, Action: actions}, Hint: hint}
}

// QueueIf is what a hint function returns that has come to a judgement: HintQueue
// where the change helps, else HintSkip.
func QueueIf(helps bool) (extpoints.Hint, error) {
	if helps {
		return extpoints.HintQueue, nil
	}
	return extpoints.HintSkip, nil
}

// ChangedNode returns the node before (nil for a new one) and after the change.
func ChangedNode(c *extpoints.Event) (before, after *model.Node, err error) {
	if c.NewNode == nil {
		return nil, nil, ErrNoNode
	}
	return c.OldNode, c.NewNode, nil
}

// UpdatedWorkload returns the workload before and after the change.
func UpdatedWorkload(c *extpoints.Event) (before, after *extpoints.WorkloadInfo, err error) {
	if c.OldWorkload == nil || c.NewWorkload == nil {
		return nil, nil, ErrNoWorkload
	}
	return c.OldWorkload, c.NewWorkload, nil
}

// DeletedWorkload returns the workload that is gone.
func DeletedWorkload(c *extpoints.Event) (*extpoints.WorkloadInfo, error) {
	if c.OldWorkload == nil {
		return nil, ErrNoWorkload
	}
	return c.OldWorkload, nil
}
