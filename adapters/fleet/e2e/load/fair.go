package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// sharers are users of equal weight, and which part of the jobs each submits.
var sharers = []struct {
	name string
	part float64
}{{"alice", 0.5}, {"bob", 0.25}, {"carol", 0.25}}

// fair measures how evenly users of equal weight have the places, of whom the first submits
// far more than fits before the others come.
func fair(ctx context.Context, o *options) error {
	return with(ctx, o, "fair", func(ctx context.Context, f *fleet) error {
		q := api.Queue{Name: job.DefaultQueue, MaxQueued: -1, MaxStored: 1 << 30, Weight: 1}
		if err := f.admin.SetQueue(ctx, q); err != nil {
			return err
		}
		end, err := f.simulate(ctx, simulation{count: o.places, machine: placeNode})
		if err != nil {
			return err
		}
		defer end()
		begin := time.Now()
		for _, s := range sharers {
			if err := submitAs(ctx, f, s.name, int(s.part*float64(o.ordered))); err != nil {
				return err
			}
			fmt.Printf("%s's jobs accepted by %s\n", s.name, round(time.Since(begin)))
		}
		return watchShares(ctx, f, begin, time.Duration(o.seconds)*time.Second)
	})
}

// submitAs submits short jobs of a user, some in each request.
func submitAs(ctx context.Context, f *fleet, name string, count int) error {
	c, err := f.client(pki.Identity{Role: pki.User, Name: name})
	if err != nil {
		return err
	}
	defer c.Close()
	const batch = 20
	for i := 0; i < count; i += batch {
		if _, err := c.Submit(ctx, api.SubmitRequest{Jobs: shorts(min(batch, count-i), 0)}); err != nil {
			return err
		}
	}
	return nil
}

// watchShares says how evenly tasks run from then on that much time has passed, as long as all
// users have jobs that wait.
func watchShares(ctx context.Context, f *fleet, begin time.Time, after time.Duration) error {
	var indices []float64
	for {
		list, err := f.admin.Shares(ctx)
		if err != nil {
			return err
		}
		running, all := runningByUser(list.Shares)
		if !all && time.Since(begin) > after {
			break
		}
		if all && time.Since(begin) > after {
			indices = append(indices, jain(running))
			if len(indices)%10 == 1 {
				fmt.Printf("%4.0f s: tasks of each user %v, Jain's index %.3f\n", time.Since(begin).Seconds(), running, jain(running))
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	if len(indices) == 0 {
		return errors.New("not all users had waiting jobs for that long: more jobs are needed")
	}
	least, sum := indices[0], 0.0
	for _, x := range indices {
		least, sum = min(least, x), sum+x
	}
	fmt.Printf("Jain's index after %s: mean %.3f, least %.3f of %d, once a second\n", after, sum/float64(len(indices)), least, len(indices))
	return nil
}

// runningByUser counts the tasks of users, and says whether all of them have jobs that wait.
func runningByUser(shares []api.Share) (running []float64, all bool) {
	waiting := 0
	for _, s := range shares {
		if s.User == "" {
			continue
		}
		running = append(running, float64(s.Running))
		if s.Waiting > 0 {
			waiting++
		}
	}
	return running, waiting == len(sharers)
}

// jain is Jain's index of fairness: 1 where all have the same, 1/n where one of n has all.
func jain(x []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum, squares = sum+v, squares+v*v
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(x)) * squares)
}
