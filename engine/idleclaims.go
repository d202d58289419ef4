package engine

import (
	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// giveBack is told of a workload that is not there any more. Claims that were written for
// it and not reported since may be given to nobody: the orchestrator is asked to take them
// back, if it wants to be asked. Any other has to report them.
func (c *core) giveBack(w *model.Workload) {
	if _, asks := c.cfg.Orchestrator.(extpoints.DeviceReleaser); !asks {
		return
	}
	ids := []string{model.ResourceClaimID(w.ID)}
	for i := range w.DeviceClaims {
		ids = append(ids, w.DeviceClaims[i].ID)
	}
	for _, id := range ids {
		row := c.rec.Store.Object(model.ObjectRef{Kind: model.DeviceClaimKind, ID: id})
		if row == nil || row.Written == nil || row.Decided != nil {
			continue
		}
		if claim := c.idleClaim(id); claim != nil && len(claim.ReservedFor) == 0 {
			c.tasks.Release(&tasks.Release{Workload: w, Claim: claim, Left: emptied(claim), Gone: true})
		}
	}
}

// idleClaim is the claim with the ID as it was reported, or written since; nil where
// something is decided about it, or there is nothing to take back: of a claim that was made
// for a workload that is the claim itself.
func (c *core) idleClaim(id string) *model.DeviceClaim {
	row := c.rec.Store.Object(model.ObjectRef{Kind: model.DeviceClaimKind, ID: id})
	if row == nil || row.Decided != nil {
		return nil
	}
	claim, _ := row.Current().(*model.DeviceClaim)
	if claim == nil || claim.Allocation == nil && !claim.ForResources {
		return nil
	}
	return claim
}

// emptied is what is left of a claim without its devices: nothing, where the
// scheduler has made it.
func emptied(claim *model.DeviceClaim) *model.DeviceClaim {
	if claim.ForResources {
		return nil
	}
	left := *claim
	left.Allocation, left.ReservedFor, left.Conditions = nil, nil, nil
	return &left
}
