package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// fsync measures what the disk can do.
func fsync(_ context.Context, o *options) error {
	f, err := os.Create(filepath.Join(o.dir, "fsync"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	var took []time.Duration
	for begin := time.Now(); time.Since(begin) < 3*time.Second; {
		at := time.Now()
		if _, err := f.Write(block); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		took = append(took, time.Since(at))
	}
	fmt.Printf("%d fsyncs a second; %s\n", len(took)/3, spread(took))
	return nil
}

// with runs a part on a fleet of its own.
func with(ctx context.Context, o *options, name string, f func(context.Context, *fleet) error) error {
	dir := filepath.Join(o.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fl := &fleet{dir: dir, settings: o.settings()}
	defer fl.stop()
	if err := fl.start(ctx, o.servers); err != nil {
		return err
	}
	begin := time.Now()
	err := f(ctx, fl)
	cpu, peak := fl.used()
	fmt.Printf("servers: %.1f s of processor time in %.1f s, peak memory %d MiB\n",
		cpu.Seconds(), time.Since(begin).Seconds(), peak>>20)
	return err
}

// noop is a job that needs next to nothing.
func noop() job.Spec {
	return job.Spec{Command: []string{"true"}, Resources: job.Resources{CPU: 100}}
}

// bigNode is a machine that many tasks fit on.
var bigNode = api.Machine{CPU: 64_000, Memory: 256 << 30, Disk: 1 << 40, MaxTasks: 1000}

// throughput measures jobs from submission to running.
func throughput(ctx context.Context, o *options) error {
	return with(ctx, o, "throughput", func(ctx context.Context, f *fleet) error {
		m := &meter{submitted: map[job.ID]time.Time{}, began: map[job.ID]time.Time{}, done: make(chan struct{}), want: o.jobs}
		end, err := f.simulate(ctx, simulation{count: o.agents, machine: bigNode, running: m.running})
		if err != nil {
			return err
		}
		defer end()
		begin := time.Now()
		if err := submitAll(ctx, f, o, m); err != nil {
			return err
		}
		accepted := time.Since(begin)
		select {
		case <-m.done:
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Minute):
			return fmt.Errorf("%d of %d jobs began within five minutes", m.count(), o.jobs)
		}
		all := time.Since(begin)
		fmt.Printf("%d jobs by %d clients on %d nodes, %d servers: accepted %.0f a second, running %.0f a second\n",
			o.jobs, o.clients, o.agents, o.servers, float64(o.jobs)/accepted.Seconds(), float64(o.jobs)/all.Seconds())
		fmt.Printf("submission: %s\nsubmission to running: %s\n", spread(m.calls), spread(m.latencies()))
		return nil
	})
}

// submitAll submits jobs one by one, from many clients.
func submitAll(ctx context.Context, f *fleet, o *options, m *meter) error {
	var all errgroup.Group
	for i := range o.clients {
		all.Go(func() error {
			for range (o.jobs - i + o.clients - 1) / o.clients {
				at := time.Now()
				got, err := f.admin.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{noop()}})
				if err != nil {
					return err
				}
				m.submit(got.Jobs[0], at)
			}
			return nil
		})
	}
	return all.Wait()
}

// array measures one job of very many elements.
func array(ctx context.Context, o *options) error {
	return with(ctx, o, "array", func(ctx context.Context, f *fleet) error {
		spec := noop()
		var err error
		if spec.Array, err = job.ParseArray(fmt.Sprintf("0-%d", o.elements-1)); err != nil {
			return err
		}
		at := time.Now()
		got, err := f.admin.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{spec}})
		if err != nil {
			return err
		}
		fmt.Printf("%d elements accepted in %s\n", o.elements, round(time.Since(at)))
		at = time.Now()
		if _, err := f.admin.Cancel(ctx, got.Jobs[0], api.Selection{Elements: fmt.Sprintf("10-%d", o.elements-1)}); err != nil {
			return err
		}
		fmt.Printf("all but ten of them cancelled in %s\n", round(time.Since(at)))
		return nil
	})
}

// queue measures users' commands while very many jobs wait.
func queue(ctx context.Context, o *options) error {
	return with(ctx, o, "queue", func(ctx context.Context, f *fleet) error {
		small := api.Machine{CPU: 50, Memory: 1 << 30, Disk: 1 << 30, MaxTasks: 1} // nothing fits
		end, err := f.simulate(ctx, simulation{count: o.agents, machine: small})
		if err != nil {
			return err
		}
		defer end()
		at := time.Now()
		if err := fillQueue(ctx, f, o); err != nil {
			return err
		}
		fmt.Printf("%d jobs queued in %s\n", o.queued, round(time.Since(at)))
		for _, c := range commands {
			var took []time.Duration
			for range 20 {
				at := time.Now()
				if err := c.run(ctx, f.admin); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				took = append(took, time.Since(at))
			}
			fmt.Printf("%-14s %s\n", c.name, spread(took))
		}
		return nil
	})
}

// fillQueue submits jobs, many in one request.
func fillQueue(ctx context.Context, f *fleet, o *options) error {
	const batch = 1000
	// They are all of one user, who has more than queues allow if nothing is said.
	if err := f.admin.SetQueue(ctx, api.Queue{Name: job.DefaultQueue, MaxQueued: -1, MaxStored: 1 << 30}); err != nil {
		return err
	}
	var all errgroup.Group
	all.SetLimit(8)
	for range o.queued / batch {
		all.Go(func() error {
			specs := make([]job.Spec, batch)
			for i := range specs {
				specs[i] = noop()
			}
			_, err := f.admin.Submit(ctx, api.SubmitRequest{Jobs: specs})
			return err
		})
	}
	return all.Wait()
}

// commands are what users do.
var commands = []struct {
	name string
	run  func(context.Context, *client.Client) error
}{
	{"submit", func(ctx context.Context, c *client.Client) error {
		_, err := c.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{noop()}})
		return err
	}},
	{"jobs", func(ctx context.Context, c *client.Client) error {
		_, err := c.Jobs(ctx, client.JobFilter{})
		return err
	}},
	{"jobs of state", func(ctx context.Context, c *client.Client) error {
		_, err := c.Jobs(ctx, client.JobFilter{State: "RUNNING"})
		return err
	}},
	{"job", func(ctx context.Context, c *client.Client) error { _, err := c.Job(ctx, 500); return err }},
	{"explain", func(ctx context.Context, c *client.Client) error { _, err := c.Explain(ctx, 500, 0); return err }},
	{"hold", func(ctx context.Context, c *client.Client) error {
		_, err := c.Hold(ctx, 500, api.Selection{})
		return err
	}},
	{"queue", func(ctx context.Context, c *client.Client) error { _, err := c.Queues(ctx); return err }},
	{"status", func(ctx context.Context, c *client.Client) error { _, err := c.ServerStatus(ctx); return err }},
}

// heartbeats has very many agents beat, and sees that all are believed to be there.
func heartbeats(ctx context.Context, o *options) error {
	return with(ctx, o, "heartbeats", func(ctx context.Context, f *fleet) error {
		at := time.Now()
		end, err := f.simulate(ctx, simulation{count: o.heartbeats, machine: bigNode})
		if err != nil {
			return err
		}
		defer end()
		fmt.Printf("%d agents registered in %s\n", o.heartbeats, round(time.Since(at)))
		before, _ := f.used()
		lost := 0
		for end := time.Now().Add(time.Duration(o.seconds) * time.Second); time.Now().Before(end); {
			time.Sleep(5 * time.Second)
			_, bad, err := f.countNodes(ctx)
			if err != nil {
				return err
			}
			lost = max(lost, bad)
		}
		after, _ := f.used()
		fmt.Printf("%d seconds: at most %d thought to be gone; %.1f %% of one processor\n",
			o.seconds, lost, 100*(after-before).Seconds()/float64(o.seconds))
		return nil
	})
}

// waitForNodes waits until so many nodes are ready.
func (f *fleet) waitForNodes(ctx context.Context, count int) error {
	limit := time.Now().Add(5 * time.Minute)
	for {
		all, bad, err := f.countNodes(ctx)
		if err == nil && all-bad >= count {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d nodes: %w", all, count, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// countNodes counts nodes, and those of them that are not ready.
func (f *fleet) countNodes(ctx context.Context) (all, bad int, err error) {
	after := ""
	for {
		page, err := f.admin.Nodes(ctx, api.MaxPage, after)
		if err != nil {
			return 0, 0, err
		}
		for _, n := range page.Nodes {
			all++
			if n.State != api.NodeReady {
				bad++
			}
		}
		if after = page.After; after == "" {
			return all, bad, nil
		}
	}
}
