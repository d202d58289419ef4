package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// fewWaiting is how many jobs wait where few do.
const fewWaiting = 20

// waiting measures how many jobs start a second on the same places while few wait for them, and
// while very many do.
func waiting(ctx context.Context, o *options) error {
	for _, count := range []int{fewWaiting, o.waiting} {
		err := with(ctx, o, fmt.Sprint("waiting-", count), func(ctx context.Context, f *fleet) error {
			return startsAmong(ctx, f, o, count)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// startsAmong measures it while so many wait: for each that has started another one is submitted.
func startsAmong(ctx context.Context, f *fleet, o *options, count int) error {
	q := api.Queue{Name: job.DefaultQueue, MaxQueued: -1, MaxStored: 1 << 30}
	if err := f.admin.SetQueue(ctx, q); err != nil {
		return err
	}
	var started atomic.Int64
	end, err := f.simulate(ctx, simulation{count: o.places, machine: placeNode, running: func(job.TaskID) { started.Add(1) }})
	if err != nil {
		return err
	}
	defer end()
	places := o.places * int(placeNode.CPU/short(0).Resources.CPU)
	l := &line{fleet: f, started: &started, want: count + places}
	full := func() bool { return l.submitted == l.want+int(started.Load()) && int(started.Load()) >= 2*places }
	if err := l.keepUntil(ctx, full); err != nil {
		return err
	}
	before, began, at := started.Load(), time.Now(), l.cpu()
	over := func() bool { return time.Since(began) > time.Duration(o.seconds)*time.Second }
	if err := l.keepUntil(ctx, over); err != nil {
		return err
	}
	starts := float64(started.Load() - before)
	fmt.Printf("%d waiting for %d places: %.0f starts a second, %.2f ms of the servers' processor time each\n",
		count, places, starts/time.Since(began).Seconds(), 1000*(l.cpu()-at).Seconds()/starts)
	return nil
}

// line is the jobs that wait and run, of which there are always as many as are wanted.
type line struct {
	fleet     *fleet
	started   *atomic.Int64
	want      int
	submitted int
}

// keepUntil submits jobs for those that have started until it is enough. So seldom that few requests
// do, so often that some wait at all times.
func (l *line) keepUntil(ctx context.Context, enough func() bool) error {
	const batch = 1000
	limit := time.Now().Add(15 * time.Minute)
	for !enough() {
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d jobs began within 15 minutes", l.started.Load(), l.submitted)
		}
		if n := min(batch, l.want+int(l.started.Load())-l.submitted); n > 0 {
			if _, err := l.fleet.admin.Submit(ctx, api.SubmitRequest{Jobs: shorts(n, 0)}); err != nil {
				return err
			}
			l.submitted += n
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// cpu is the processor time of the servers so far.
func (l *line) cpu() time.Duration {
	cpu, _ := l.fleet.used()
	return cpu
}
