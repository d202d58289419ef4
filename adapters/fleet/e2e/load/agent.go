package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// simulation is how nodes are simulated.
type simulation struct {
	count   int
	machine api.Machine
	running func(job.TaskID) // told of tasks that run; nil: nobody is
}

// simulate simulates nodes, all of which are ready when it returns, until end is called.
func (f *fleet) simulate(ctx context.Context, s simulation) (end func(), err error) {
	simulating, cancel := context.WithCancel(ctx)
	var agents errgroup.Group
	agents.Go(func() error { return f.agents(simulating, s) })
	end = func() { cancel(); _ = agents.Wait() }
	if err := f.waitForNodes(ctx, s.count); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// agents simulates the agents of some nodes until ctx ends. Each has a connection of its
// own, as real ones have.
func (f *fleet) agents(ctx context.Context, s simulation) error {
	all, ctx := errgroup.WithContext(ctx)
	for i := range s.count {
		name := fmt.Sprintf("sim%05d", i)
		c, err := f.client(pki.Identity{Role: pki.Agent, Name: name})
		if err != nil {
			return err
		}
		a := &simulated{
			simulation: s, client: c, reports: make(chan api.Report, 4096),
			registration: api.Registration{Node: name, Address: "127.0.0.1:1", Boot: "1", Machine: s.machine},
		}
		all.Go(func() error { defer c.Close(); return a.run(ctx) })
	}
	err := all.Wait()
	if ctx.Err() != nil {
		return nil //nolint:nilerr // It was told to end.
	}
	return err
}

// simulated is one simulated agent.
type simulated struct {
	simulation
	client       *client.Client
	registration api.Registration
	reports      chan api.Report
}

func (a *simulated) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a.poll(ctx) })
	all.Go(func() error { return a.report(ctx) })
	return all.Wait()
}

// poll asks for orders, and has each begin, and end when its time has come.
func (a *simulated) poll(ctx context.Context) error {
	if err := a.register(ctx); err != nil {
		return err
	}
	in := api.PollRequest{Node: a.registration.Node, Boot: a.registration.Boot}
	var measure time.Duration // between reports of load
	var sent time.Time
	for {
		in.Load = nil
		if measure > 0 && time.Since(sent) >= measure {
			in.Load, sent = anyLoad(), time.Now()
		}
		out, err := a.client.Poll(ctx, in)
		measure = time.Duration(out.Measure)
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
				end := api.Report{
					Task: o.Task, State: job.Completed, At: now, Started: now, Exit: &api.Exit{},
					Usage: api.Usage{CPUSeconds: 0.001, PeakMemory: 1 << 20},
				}
				time.AfterFunc(sleeps(o.Run.Spec.Command), func() {
					end.At = time.Now().UTC()
					select {
					case a.reports <- end:
					case <-ctx.Done():
					}
				})
			}
		}
	}
}

// sleeping is a command that lasts for so long, also where it is only simulated.
func sleeping(d time.Duration) []string {
	return []string{"sleep", strconv.FormatFloat(d.Seconds(), 'f', 3, 64)}
}

// sleeps is for how long a command runs: one of sleeping as it says, others for no time.
func sleeps(command []string) time.Duration {
	if len(command) != 2 || command[0] != "sleep" {
		return 0
	}
	seconds, _ := strconv.ParseFloat(command[1], 64)
	return time.Duration(seconds * float64(time.Second))
}

// anyLoad is what an agent could have measured: another load each time, which leaves room for
// tasks.
func anyLoad() *api.Load {
	stats := func() *api.LoadStats {
		x := 10 + 40*rand.Float64()
		return &api.LoadStats{Average: x, StdDev: x / 10, P50: x, P90: x, P95: x, P99: x}
	}
	l := &api.Load{Age: job.Duration(time.Second)}
	for _, minutes := range []int{1, 5, 15} {
		l.Windows = append(l.Windows, api.LoadWindow{Window: job.Duration(time.Duration(minutes) * time.Minute), CPU: stats(), Memory: stats()})
	}
	return l
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
			if r.State == job.Running && a.running != nil {
				a.running(r.Task)
			}
		}
	}
}
