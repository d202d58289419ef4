package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// agents simulates the agents of some nodes until ctx ends: tasks run for no time at
// all. Each has a connection of its own, as real ones have.
func (f *fleet) agents(ctx context.Context, count int, machine api.Machine, running func(job.TaskID)) error {
	all, ctx := errgroup.WithContext(ctx)
	for i := range count {
		name := fmt.Sprintf("sim%05d", i)
		c, err := f.client(pki.Identity{Role: pki.Agent, Name: name})
		if err != nil {
			return err
		}
		a := &simulated{
			client: c, running: running, reports: make(chan api.Report, 4096),
			registration: api.Registration{Node: name, Address: "127.0.0.1:1", Boot: "1", Machine: machine},
		}
		all.Go(func() error { defer c.Close(); return a.run(ctx) })
	}
	err := all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// simulated is one simulated agent.
type simulated struct {
	client       *client.Client
	registration api.Registration
	reports      chan api.Report
	running      func(job.TaskID)
}

func (a *simulated) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a.poll(ctx) })
	all.Go(func() error { return a.report(ctx) })
	return all.Wait()
}

// poll asks for orders, and has each begin and end at once.
func (a *simulated) poll(ctx context.Context) error {
	if err := a.register(ctx); err != nil {
		return err
	}
	in := api.PollRequest{Node: a.registration.Node, Boot: a.registration.Boot}
	for {
		out, err := a.client.Poll(ctx, in)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			continue // another server, or another leader
		case out.Unregistered:
			if err := a.register(ctx); err != nil {
				return err
			}
			continue
		}
		in.Term, in.Since, in.After = out.Term, out.Index, out.After
		now := time.Now().UTC()
		for _, o := range out.Orders {
			if o.Stop == nil {
				a.reports <- api.Report{Task: o.Task, State: job.Running, At: now}
				a.reports <- api.Report{
					Task: o.Task, State: job.Completed, At: now, Started: now, Exit: &api.Exit{},
					Usage: api.Usage{CPUSeconds: 0.001, PeakMemory: 1 << 20},
				}
			}
		}
	}
}

func (a *simulated) register(ctx context.Context) error {
	for {
		_, err := a.client.Register(ctx, a.registration)
		var answered *api.Error
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &answered) && answered.Status < 500:
			return err
		}
	}
}

// report sends what has come together since the last report.
func (a *simulated) report(ctx context.Context) error {
	for {
		in := api.ReportRequest{Node: a.registration.Node}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r := <-a.reports:
			in.Tasks = append(in.Tasks, r)
		}
		for len(a.reports) > 0 && len(in.Tasks) < 256 {
			in.Tasks = append(in.Tasks, <-a.reports)
		}
		for {
			if _, err := a.client.Report(ctx, in); err == nil {
				break
			} else if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		for _, r := range in.Tasks {
			if r.State == job.Running {
				a.running(r.Task)
			}
		}
	}
}
