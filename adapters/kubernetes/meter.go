package kubernetes

import (
	"context"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
)

// Meter is told what an adapter does, so that it can be counted. Its methods are called
// on the goroutines that write, several at once. A call is bind, evict, status, event,
// volumes, devices or release.
type Meter interface {
	// Queued: a write is to be made. Merged or Written follows.
	Queued(call string)
	// Merged: a later write for the same object has taken it in.
	Merged(call string)
	// Retried: a write failed with err and is tried again.
	Retried(call string, err error)
	// Written: a write is over, with or without an error; took is from its first try.
	Written(call string, err error, took time.Duration)
	// EventsWaiting is how many Kubernetes events are to be written.
	EventsWaiting(n int)
	// EventsLost: so many Kubernetes events will not be written.
	EventsLost(n int, err error)
	// ClaimMade: a claim for the extended resources of a pod was to be made.
	ClaimMade(err error)
	// ConditionsAwaited: a pod of the profile has waited for the binding conditions
	// of the devices that the claims were given.
	ConditionsAwaited(profile string, claims []*resourcev1.ResourceClaim, err error, took time.Duration)
}

// unmetered is a Meter that counts nothing.
type unmetered struct{}

func (unmetered) Queued(string)                        {}
func (unmetered) Merged(string)                        {}
func (unmetered) Retried(string, error)                {}
func (unmetered) Written(string, error, time.Duration) {}
func (unmetered) EventsWaiting(int)                    {}
func (unmetered) EventsLost(int, error)                {}
func (unmetered) ClaimMade(error)                      {}
func (unmetered) ConditionsAwaited(string, []*resourcev1.ResourceClaim, error, time.Duration) {
}

// write writes to the API server.
func (a *Adapter) write(ctx context.Context, call string, f func(context.Context) error) error {
	a.opts.Meter.Queued(call)
	return a.send(ctx, call, f)
}

// send is write for what was queued.
func (a *Adapter) send(ctx context.Context, call string, f func(context.Context) error) error {
	start := time.Now()
	err := retry(ctx, f, func(err error) { a.opts.Meter.Retried(call, err) })
	a.opts.Meter.Written(call, err, time.Since(start))
	return err
}
