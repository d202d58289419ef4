package engine

import (
	"time"

	"github.com/berth-project/berth/engine/internal/timeline"
	"github.com/berth-project/berth/queue"
)

// Replan makes the reservations as they are now and returns them. An attempt would do it
// as soon as one is made.
func (r *Raw) Replan(now time.Time) []timeline.Reservation { return r.plan.Renew(now) }

// Reservations are those of the last plan.
func (r *Raw) Reservations() []timeline.Reservation { return r.plan.Planned() }

// Tried are those that were tried and wait for room, in the order of the queue.
func (r *Raw) Tried() []*queue.Item { return r.plan.Waiting() }

// InTurn are those of them that no quota or limit holds back, in the order of their turns.
func (r *Raw) InTurn() []*queue.Item { return r.plan.InTurn() }

// PlanPlainly lets the engine look at everything each time that it plans.
func (r *Raw) PlanPlainly() { r.plan.Plain = true }

// FastAnswers is how many decisions the fast decider has made.
func (r *Raw) FastAnswers() int { return r.decider.FastAnswers() }

// FastAnswers is how many decisions the fast decider has made on the branch.
func (b *Branch) FastAnswers() int { return b.decider.FastAnswers() }

// Panic lets the engine panic in the middle of an Apply.
func (r *Raw) Panic(now time.Time, cause any) error {
	return r.act("Apply", now, func() error { panic(cause) })
}

// ForgetPlaces has each node where it is as of when it came.
func (r *Raw) ForgetPlaces() { r.rec.Renew(r.rec.State()) }

// WhatIsHeldBack is what [Engine.HeldBack] reads.
func WhatIsHeldBack(r *Raw) map[string]*queue.Held { return r.queue.HeldBack() }
