package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"k8s.io/apiserver/pkg/server/healthz"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/component-base/configz"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/metrics"
)

// garbage is how much may gather, in percent of what lives, where GOGC does not say.
// Most of the memory is the cluster, which lives long: half as much as Go's default
// saves a fifth of the memory, and costs no time that could be measured.
const garbage = 50

// run schedules until ctx ends, and then lets end what has begun: first bindings,
// then what is still to be written, then the lease. It returns nil then.
//
// Where the lease is lost it returns at once, with errLeaseLost. What is still under
// way has had its context ended, and cannot write.
func (s *scheduler) run(ctx context.Context) error {
	log := klog.FromContext(ctx)
	log.Info("Starting Berth in the place of the Kubernetes Scheduler", "version", versionInfo())
	log.Info("Golang settings", "GOGC", os.Getenv("GOGC"), "GOMAXPROCS", os.Getenv("GOMAXPROCS"), "GOTRACEBACK", os.Getenv("GOTRACEBACK"))
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		debug.SetGCPercent(garbage)
	}
	unregister, err := s.registerConfig()
	if err != nil {
		return err
	}
	defer unregister()

	// What runs does not end with ctx, but when it is its turn.
	background, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	candidate, checks, err := s.candidate(background)
	if err != nil {
		return err
	}
	handler := s.endpoints(ctx, checks).handler()
	stopServing, err := serve(s.secure, chained(handler, s.auth.authentication.Authenticator, s.auth.authorization.Authorizer))
	if err != nil {
		return err
	}
	if s.news != nil {
		s.news.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: s.clients.election.CoreV1().Events("")})
		defer s.news.Shutdown()
	}
	dumping, loads := start(background, s.dumpOnSignal), start(background, s.readLoads)
	err = (&tenure{scheduler: s}).run(ctx)
	if errors.Is(err, errLeaseLost) {
		log.Error(nil, "Leaderelection lost")
		return err
	}
	err = errors.Join(err, dumping.end(), loads.end(), candidate.end())
	for _, x := range s.extenders {
		x.Close() // its idle connections
	}
	stopServing()
	if err == nil {
		log.Info("Requested to terminate, exiting")
	}
	return err
}

// registerConfig has /configz show the configuration, with the kind of the arguments
// of each plugin that is kube-scheduler's.
func (s *scheduler) registerConfig() (unregister func(), err error) {
	const name = "componentconfig"
	effective := s.config.Effective.DeepCopy()
	for i := range effective.Profiles {
		for _, plugin := range effective.Profiles[i].PluginConfig {
			if args := plugin.Args.Object; args != nil {
				args.GetObjectKind().SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind(plugin.Name + "Args"))
			}
		}
	}
	shown, err := configz.New(name)
	if err == nil {
		err = shown.Set(effective)
	}
	if err != nil {
		return nil, fmt.Errorf("register configuration for /configz: %w", err)
	}
	return func() { configz.Delete(name) }, nil
}

// candidate stands for election where the API server decides, else it is nil. The
// checks are those of readiness that come with it.
func (s *scheduler) candidate(ctx context.Context) (*task, []healthz.HealthChecker, error) {
	if s.election == nil || !s.coordinated() {
		return nil, nil, nil
	}
	candidate, check, err := newCandidate(s.clients, s.options.gates, s.election.lease.Identity())
	if err != nil {
		return nil, nil, err
	}
	run := func(ctx context.Context) error {
		candidate.Run(ctx)
		return nil
	}
	return start(ctx, run), []healthz.HealthChecker{check}, nil
}

// endpoints are those of the scheduler. ctx ends when it is to end.
func (s *scheduler) endpoints(ctx context.Context, more []healthz.HealthChecker) *endpoints {
	c := &s.config.Effective
	e := &endpoints{
		metrics:    s.metrics.Registry(),
		resources:  metrics.ResourcesHandler(s.adapter.Pods()),
		leading:    s.mayWrite,
		profiling:  ptr.Deref(c.EnableProfiling, false),
		contention: ptr.Deref(c.EnableContentionProfiling, false),
		gates:      s.options.gates,
		flags:      s.options.flags,
	}
	if s.election != nil {
		e.live = append(e.live, s.election.watchdog)
		e.ready = append(e.ready, s.election.watchdog)
	}
	e.ready = append(append(e.ready, healthz.NewShutdownHealthz(ctx.Done()), syncedCheck(s.adapter.Ready())), more...)
	e.mounted = append(e.mounted, mounted{explain.Path, explain.NewHandler(s.engine, explain.Options{
		Profiles: s.profiles, Pods: s.adapter.Pods(), Groups: s.adapter.Groups(), Gates: s.gates(),
		StorageClasses: s.adapter.StorageClasses(),
		OwnerSelector:  s.adapter.OwnerSelector, Translated: s.settings.translated(), Queueing: s.queueing(),
		Ready: s.adapter.Ready(), Leads: s.mayWrite,
	})})
	for _, m := range s.settings.mounts {
		e.mounted = append(e.mounted, mounted{m.path, m.make(s.engine)})
	}
	return e
}
