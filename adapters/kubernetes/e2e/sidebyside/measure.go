package sidebyside

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// Result is what came of one scheduler with one workload.
type Result struct {
	Scheduler controlplane.SchedulerKind // that was measured
	Workload  string                     // Workload.Name
	Counts
	Rate      float64       // of the measured pods, bound per second, from the first to the last
	Took      time.Duration // from the start of the scheduler to the last
	P50, P99  time.Duration // of attempts that placed a pod
	CPU       time.Duration // of the scheduler, from its start until its events are written
	PeakRSS   int64         // of the scheduler, bytes
	ServerCPU time.Duration // of the API server, meanwhile
	Events    int           // that say that a measured pod was placed
}

// Measure runs one scheduler with one workload on so many nodes, over a control plane
// of its own.
func Measure(ctx context.Context, kind controlplane.SchedulerKind, w Workload, nodes int) (*Result, error) {
	plane, err := controlplane.Start(ctx, w.plane())
	if err != nil {
		return nil, err
	}
	defer plane.Stop()
	r, err := measure(ctx, plane, kind, w, w.Counts(nodes))
	if err != nil {
		return nil, fmt.Errorf("%s, %s on %d nodes: %w", kind, w.Name, nodes, err)
	}
	return r, nil
}

// measure does it over a control plane that has nothing in it.
func measure(ctx context.Context, plane *controlplane.ControlPlane, kind controlplane.SchedulerKind, w Workload, n Counts) (*Result, error) {
	config := plane.Config(controlplane.AdminUser)
	if err := kind.Build(ctx); err != nil {
		return nil, err
	}
	if len(w.controllers) > 0 {
		if err := plane.StartControllerManager(ctx, w.controllers...); err != nil {
			return nil, err
		}
		defer plane.StopProgram(controlplane.ControllerManager)
	}
	if err := prepare(ctx, config, w, n); err != nil {
		return nil, err
	}
	watch, err := observe(ctx, config, n.Measured)
	if err != nil {
		return nil, err
	}
	defer watch.stop()
	if err := watch.wait(ctx, ready); err != nil {
		return nil, err
	}
	before, err := plane.Process(controlplane.APIServer).Usage()
	if err != nil {
		return nil, err
	}
	r := &Result{Scheduler: kind, Workload: w.Name, Counts: n}
	s, err := r.bind(ctx, w, watch, w.scheduler(kind, plane.Kubeconfig(controlplane.SchedulerUser)))
	if err != nil {
		return nil, err
	}
	defer s.Remove()
	if r.Events, err = watch.events(ctx, n.Measured); err != nil {
		return nil, err
	}
	return r, r.read(plane, s, before)
}

// bind starts the scheduler, and what goes on beside it, and returns when all
// measured pods are bound. The scheduler runs on if there is no error.
func (r *Result) bind(ctx context.Context, w Workload, watch *observer, o controlplane.SchedulerOptions) (*controlplane.Scheduler, error) {
	inner, done := context.WithCancel(ctx)
	defer done()
	group, inner := errgroup.WithContext(inner)
	if w.beside != nil {
		group.Go(func() error { return w.beside(inner, &run{client: watch.client, counts: r.Counts, watch: watch}) })
	}
	start := time.Now()
	s, err := controlplane.StartScheduler(ctx, o)
	if err == nil {
		err = watch.wait(inner, bound)
	}
	done()
	if failed := group.Wait(); failed != nil {
		err = failed // which ended the waiting
	}
	if err != nil {
		if s != nil {
			err = errors.Join(err, errors.New(s.Tail(20)))
			s.Remove()
		}
		return nil, err
	}
	r.Rate, r.Took = watch.rate(), watch.last.Sub(start)
	return s, nil
}

// read reads what the scheduler and the API server have used.
func (r *Result) read(plane *controlplane.ControlPlane, s *controlplane.Scheduler, before controlplane.Usage) error {
	_, text, err := s.Get("/metrics", plane.Config(controlplane.AdminUser).BearerToken)
	if err != nil {
		return err
	}
	if r.P50, r.P99, err = attempts(text); err != nil {
		return err
	}
	used, err := s.Usage()
	if err != nil {
		return err
	}
	r.CPU, r.PeakRSS = used.CPU, used.PeakRSS
	server, err := plane.Process(controlplane.APIServer).Usage()
	r.ServerCPU = server.CPU - before.CPU
	return err
}
