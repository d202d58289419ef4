package app

import (
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/config"
)

// load is the configuration: what the file says, or the defaults where there is
// none, and over it the flags that take precedence. It is validated. Beside an error there is
// one where most of it could be read, to be asked what else is wrong.
//
// Flags about leader election take precedence where they are given. The deprecated
// ones do so only where there is no file.
//
// Rules: cmd/kube-scheduler/app/options/options.go ApplyTo, 1.37.1.
func (o *options) load() (*config.Config, error) {
	gates := config.GatesOf(o.gates.gate.Enabled)
	var c *config.Config
	var err error
	if o.configFile == "" {
		c = config.Default(gates)
		o.applyDeprecated(c)
	} else if c, err = config.LoadFile(o.configFile, gates); c == nil {
		return nil, err
	}
	o.applyLeaderElection(c)
	return c, utilerrors.NewAggregate([]error{err, c.Validate()})
}

// replacing is a flag and what it does where it is given.
type replacing struct {
	flag    string
	replace func()
}

// apply does so for those of one group.
func (o *options) apply(group string, flags []replacing) {
	set := o.flags.FlagSet(group)
	for _, f := range flags {
		if set.Changed(f.flag) {
			f.replace()
		}
	}
}

func (o *options) applyDeprecated(c *config.Config) {
	to, from := &c.Effective, &o.deprecated
	o.apply("deprecated", []replacing{
		{"profiling", func() { to.EnableProfiling = ptr.To(from.profiling) }},
		{"contention-profiling", func() { to.EnableContentionProfiling = ptr.To(from.contentionProfiling) }},
		{"kubeconfig", func() { to.ClientConnection.Kubeconfig = from.connection.Kubeconfig }},
		{"kube-api-content-type", func() { to.ClientConnection.ContentType = from.connection.ContentType }},
		{"kube-api-qps", func() { to.ClientConnection.QPS = from.connection.QPS }},
		{"kube-api-burst", func() { to.ClientConnection.Burst = from.connection.Burst }},
	})
}

func (o *options) applyLeaderElection(c *config.Config) {
	to, from := &c.Effective.LeaderElection, &o.leaderElection
	o.apply("leader election", []replacing{
		{"leader-elect", func() { to.LeaderElect = ptr.To(from.LeaderElect) }},
		{"leader-elect-lease-duration", func() { to.LeaseDuration = from.LeaseDuration }},
		{"leader-elect-renew-deadline", func() { to.RenewDeadline = from.RenewDeadline }},
		{"leader-elect-retry-period", func() { to.RetryPeriod = from.RetryPeriod }},
		{"leader-elect-resource-lock", func() { to.ResourceLock = from.ResourceLock }},
		{"leader-elect-resource-name", func() { to.ResourceName = from.ResourceName }},
		{"leader-elect-resource-namespace", func() { to.ResourceNamespace = from.ResourceNamespace }},
	})
}
