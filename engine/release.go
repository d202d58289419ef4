package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// release is what a task is about that takes devices back from a claim.
type release struct {
	workload *model.Workload // for whose sake
	claim    *model.DeviceClaim
}

// releaseClaims does what PostFilter asked for with
// [extpoints.CycleState.Deallocate]: claims that nobody else has reserved lose
// what they were given, so that it can be given elsewhere. The orchestrator is not
// asked again while it is about to do so.
func (r *Raw) releaseClaims(now time.Time, w *model.Workload, s *extpoints.CycleState) {
	for _, id := range s.Deallocations() {
		claim := r.idleClaim(id)
		if claim == nil || r.releasing[id] != nil {
			continue
		}
		if _, asks := r.cfg.Orchestrator.(extpoints.DeviceReleaser); !asks {
			r.released(now, claim)
			continue
		}
		t := r.newTask()
		t.release = &release{workload: w, claim: claim}
		r.releasing[id] = t
		r.leaving = append(r.leaving, t)
	}
}

// idleClaim is the claim of the ID as it was reported, nil where something was
// decided about it since, or there is nothing to take back.
func (r *Raw) idleClaim(id string) *model.DeviceClaim {
	row := r.store.Object(model.ObjectRef{Kind: model.DeviceClaimKind, ID: id})
	if row == nil || row.Decided != nil {
		return nil
	}
	claim, _ := row.Reported.(*model.DeviceClaim)
	if claim == nil || claim.Allocation == nil {
		return nil
	}
	return claim
}

// released records that a claim has nothing any more; one that the scheduler has
// made is gone.
func (r *Raw) released(now time.Time, claim *model.DeviceClaim) {
	if r.idleClaim(claim.ID) != claim {
		return // reported anew, or given to somebody meanwhile
	}
	tx := r.store.Begin()
	var err error
	if claim.ForResources {
		err = tx.DeleteObject(model.ObjectRef{Kind: model.DeviceClaimKind, ID: claim.ID})
	} else {
		free := *claim
		free.Allocation, free.ReservedFor, free.Conditions = nil, nil, nil
		err = tx.PutObject(&free)
	}
	if err != nil {
		tx.Abort()
		return
	}
	r.commit(now, tx)
}

func (t *Task) runRelease(ctx context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			t.status = extpoints.AsStatus(fmt.Errorf("the orchestrator panicked: %v", cause))
		}
	}()
	if t.status = ended(ctx); t.status != nil {
		return
	}
	t.status = extpoints.AsStatus(t.orchestrator.(extpoints.DeviceReleaser).ReleaseDevices(ctx, t.release.claim))
}

func (r *Raw) finishRelease(now time.Time, t *Task) {
	delete(r.releasing, t.release.claim.ID)
	if t.status != nil {
		err := fmt.Errorf("take back the devices of claim %q: %w", t.release.claim.ID, t.status.AsError())
		r.listener.Failed(FailedEvent{At: now, Workload: t.release.workload.ID, Err: err})
		return
	}
	r.released(now, t.release.claim)
}
