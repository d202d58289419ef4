package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// release is what a task is about that takes devices, or a reservation, back from
// a claim.
type release struct {
	workload *model.Workload // for whose sake
	claim    *model.DeviceClaim
	left     *model.DeviceClaim // what is left of it; nil: it goes
}

// releaseClaims does what PostFilter asked for with
// [extpoints.CycleState.Deallocate] and [extpoints.CycleState.Withdraw]: claims
// that nobody else has reserved lose what they were given, so that it can be
// given elsewhere, and reservations end.
func (r *Raw) releaseClaims(now time.Time, w *model.Workload, s *extpoints.CycleState) {
	for _, id := range s.Deallocations() {
		if claim := r.idleClaim(id); claim != nil {
			r.release(now, release{w, claim, emptied(claim)})
		}
	}
	for _, reservation := range s.Withdrawals() {
		if claim := r.idleClaim(reservation.Claim); claim != nil && claim.Reserved(reservation.By) {
			left := *claim
			left.ReservedFor = slices.DeleteFunc(slices.Clone(left.ReservedFor), func(c model.Consumer) bool { return c == reservation.By })
			r.release(now, release{w, claim, &left})
		}
	}
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

// release asks the orchestrator, where it wants to be asked and is not being asked
// about the claim already, and records what is left.
func (r *Raw) release(now time.Time, l release) {
	if _, asks := r.cfg.Orchestrator.(extpoints.DeviceReleaser); !asks {
		r.released(now, &l)
		return
	}
	if r.releasing[l.claim.ID] != nil {
		return
	}
	t := r.newTask()
	t.release = &l
	r.releasing[l.claim.ID] = t
	r.leaving = append(r.leaving, t)
}

// idleClaim is the claim of the ID as it was reported, nil where something was
// decided about it since, or there is nothing to take back: of a claim that was made
// for a workload that is the claim itself.
func (r *Raw) idleClaim(id string) *model.DeviceClaim {
	row := r.rec.Store.Object(model.ObjectRef{Kind: model.DeviceClaimKind, ID: id})
	if row == nil || row.Decided != nil {
		return nil
	}
	claim, _ := row.Reported.(*model.DeviceClaim)
	if claim == nil || claim.Allocation == nil && !claim.ForResources {
		return nil
	}
	return claim
}

// released records what is left of a claim.
func (r *Raw) released(now time.Time, l *release) {
	if r.idleClaim(l.claim.ID) != l.claim {
		return // reported anew, or given to somebody meanwhile
	}
	tx := r.rec.Begin()
	var err error
	if l.left == nil {
		err = tx.DeleteObject(model.ObjectRef{Kind: model.DeviceClaimKind, ID: l.claim.ID})
	} else {
		err = tx.PutObject(l.left)
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
	t.status = extpoints.AsStatus(t.orchestrator.(extpoints.DeviceReleaser).ReleaseDevices(ctx, t.release.claim, t.release.left))
}

func (r *Raw) finishRelease(now time.Time, t *Task) {
	delete(r.releasing, t.release.claim.ID)
	if t.status != nil {
		err := fmt.Errorf("take back the devices of claim %q: %w", t.release.claim.ID, t.status.AsError())
		r.listener.Failed(FailedEvent{At: now, Workload: t.release.workload.ID, Err: err})
		return
	}
	r.released(now, t.release)
}
