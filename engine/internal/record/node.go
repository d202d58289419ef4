package record

import (
	"errors"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

func (d Drain) id() (string, bool) { return d.Node, d.Node != "" }

// loseNode removes the node and takes from it all that is recorded there.
func (in *Intake) loseNode(name string) error {
	if err := in.DeleteNode(name); err != nil {
		return err
	}
	var problems []error
	for row := range in.WorkloadsOn(name) {
		if row.Phase == model.Terminating {
			problems = append(problems, in.Finish(row.Info.ID))
		} else {
			problems = append(problems, in.Requeue(row.Info.ID))
		}
	}
	return errors.Join(problems...)
}

// drain closes the node. What is on it is for the engine to evict, when this is
// recorded: see Drains.
func (in *Intake) drain(d Drain) error {
	row := in.Node(d.Node)
	if row == nil {
		return &store.RowError{Kind: store.NodeKind, ID: d.Node, Err: store.ErrNotFound}
	}
	if err := CheckText("drain of node", d.Node, "reason", d.Reason); err != nil {
		return err
	}
	in.Drains = append(in.Drains, d)
	if row.Node.Unschedulable {
		return nil
	}
	closed := *row.Node // what it points to stays as it is
	closed.Unschedulable = true
	return in.PutNode(&closed)
}
