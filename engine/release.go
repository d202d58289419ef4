package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/engine/internal/tasks"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// releaseClaims does what PostFilter asked for with
// [extpoints.CycleState.Deallocate] and [extpoints.CycleState.Withdraw]: claims
// that nobody else has reserved lose what they were given, so that it can be
// given elsewhere, and reservations end.
func (o outside) releaseClaims(now time.Time, w *model.Workload, asked extpoints.Requests) {
	for _, id := range asked.Deallocations {
		if claim := o.idleClaim(id); claim != nil {
			o.release(now, tasks.Release{Workload: w, Claim: claim, Left: emptied(claim)})
		}
	}
	for _, reservation := range asked.Withdrawals {
		if claim := o.idleClaim(reservation.Claim); claim != nil && claim.Reserved(reservation.By) {
			left := *claim
			left.ReservedFor = slices.DeleteFunc(slices.Clone(left.ReservedFor), func(c model.Consumer) bool { return c == reservation.By })
			o.release(now, tasks.Release{Workload: w, Claim: claim, Left: &left})
		}
	}
}

// release asks the orchestrator, where it wants to be asked and is not being asked
// about the claim already, and records what is left.
func (o outside) release(now time.Time, l tasks.Release) {
	if _, asks := o.cfg.Orchestrator.(extpoints.DeviceReleaser); !asks {
		o.released(now, &l)
		return
	}
	o.tasks.Release(&l)
}

// released records what is left of a claim.
func (o outside) released(now time.Time, l *tasks.Release) {
	if o.idleClaim(l.Claim.ID) != l.Claim {
		return // reported anew, or given to somebody meanwhile
	}
	tx := o.rec.Begin()
	defer tx.Abort()
	var err error
	if l.Left == nil {
		err = tx.DeleteObject(model.ObjectRef{Kind: model.DeviceClaimKind, ID: l.Claim.ID})
	} else {
		err = tx.PutObject(l.Left)
	}
	if err == nil {
		o.commit(now, tx)
	}
}

func (o outside) finishRelease(now time.Time, t *tasks.Task) {
	o.tasks.Forget(t)
	if t.Status != nil {
		err := fmt.Errorf("take back the devices of claim %q: %w", t.Release.Claim.ID, t.Status.AsError())
		o.listener.Failed(FailedEvent{At: now, Workload: t.Release.Workload.ID, Err: err})
		return
	}
	o.released(now, t.Release)
}
