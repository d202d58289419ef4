package app

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/blang/semver/v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	componentconfig "k8s.io/component-base/config/v1alpha1"
)

// component is the name by which the cluster knows kube-scheduler or its
// replacement.
const component = "kube-scheduler"

// watchdogTolerance is how long a lease may have run out before the process counts as
// unhealthy (cmd/kube-scheduler/app/options/options.go makeLeaderElectionConfig,
// 1.37.1).
const watchdogTolerance = 20 * time.Second

// election leads, or waits to.
type election struct {
	lease    *lease
	elector  *leaderelection.LeaderElector
	watchdog *leaderelection.HealthzAdaptor
	leading  chan struct{} // closed when this process leads
}

// newElection prepares an election over the lock. It starts nothing. Coordinated
// elections are decided by the API server.
//
// Rules: cmd/kube-scheduler/app/options/options.go makeLeaderElectionConfig, 1.37.1.
func newElection(c *componentconfig.LeaderElectionConfiguration, lock resourcelock.Interface, coordinated bool) (*election, error) {
	whole := c.LeaseDuration.Truncate(time.Second) // leases say theirs in seconds
	if whole == 0 {
		return nil, fmt.Errorf("leaderElection.leaseDuration: %s is less than a second", c.LeaseDuration.Duration)
	}
	e := &election{
		lease:    newLease(lock, whole),
		watchdog: leaderelection.NewLeaderHealthzAdaptor(watchdogTolerance),
		leading:  make(chan struct{}),
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            e.lease,
		LeaseDuration:   c.LeaseDuration.Duration,
		RenewDeadline:   c.RenewDeadline.Duration,
		RetryPeriod:     c.RetryPeriod.Duration,
		WatchDog:        e.watchdog,
		ReleaseOnCancel: true,
		Name:            component,
		Coordinated:     coordinated,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(e.leading) },
			OnStoppedLeading: func() {}, // Run returns, and the lease knows
		},
	})
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	e.elector = elector
	e.watchdog.SetLeaderElection(elector)
	return e, nil
}

// Run takes part in the election until ctx ends or the lease is lost, and gives the
// lease back if it still has it.
func (e *election) Run(ctx context.Context) { e.elector.Run(ctx) }

// newLock is the lock in the API server. Who holds it is called by the name of its
// host and something unique, so that two processes of a host are not taken for one.
func newLock(c *componentconfig.LeaderElectionConfiguration, clients *clients, recorder resourcelock.EventRecorder) (resourcelock.Interface, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("leader election: the name of this host: %w", err)
	}
	lock, err := resourcelock.NewFromKubeconfig(c.ResourceLock, c.ResourceNamespace, c.ResourceName,
		resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID()), EventRecorder: recorder},
		clients.connection, c.RenewDeadline.Duration)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	return lock, nil
}

// newCandidate is how a coordinated election hears of this process, under the
// identity of its lock. The check fails until it can.
//
// Rules: cmd/kube-scheduler/app/server.go Run, 1.37.1.
func newCandidate(clients *clients, g *gates, identity string) (*leaderelection.LeaseCandidate, healthz.HealthChecker, error) {
	var versions [2]string
	for i, v := range []*version.Version{g.version.BinaryVersion(), g.version.EmulationVersion()} {
		parsed, err := semver.ParseTolerant(v.String())
		if err != nil {
			return nil, nil, fmt.Errorf("coordinated leader election: version %s: %w", v, err)
		}
		versions[i] = parsed.FinalizeVersion()
	}
	candidate, informers, err := leaderelection.NewCandidate(clients.election, metav1.NamespaceSystem, identity, component,
		versions[0], versions[1], coordinationv1.OldestEmulationVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("coordinated leader election: %w", err)
	}
	return candidate, healthz.NewInformerSyncHealthz(informers), nil
}
