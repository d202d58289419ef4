package app

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiserveroptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
	componentconfig "k8s.io/component-base/config"
	leaderoptions "k8s.io/component-base/config/options"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/component-base/metrics"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/extpoints"
)

// defaultPort is where kube-scheduler serves (apis/config/types.go
// DefaultKubeSchedulerPort, 1.37.1).
const defaultPort = 10259

// defaultMaxInUnschedulable is how long a pod waits for an event before it is tried
// again without one (cmd/kube-scheduler/app/options/deprecated.go, 1.37.1).
const defaultMaxInUnschedulable = 5 * time.Minute

// options are the values of the flags.
type options struct {
	configFile, writeConfigTo, master string

	serving        *apiserveroptions.SecureServingOptions
	authentication *apiserveroptions.DelegatingAuthenticationOptions
	authorization  *apiserveroptions.DelegatingAuthorizationOptions
	metrics        *metrics.Options
	logs           *logs.Options
	leaderElection componentconfig.LeaderElectionConfiguration
	deprecated     deprecatedOptions
	gates          *gates
	wakeUps        wakeUps

	// flags are in groups, as the usage text has them.
	flags cliflag.NamedFlagSets
}

// deprecatedOptions count only where there is no configuration file, the last one
// apart, for which the file has no field.
type deprecatedOptions struct {
	profiling, contentionProfiling bool
	connection                     componentconfig.ClientConnectionConfiguration
	maxInUnschedulable             time.Duration
}

// newOptions returns the defaults, with flags that change them.
//
// Rules: cmd/kube-scheduler/app/options/options.go
// NewOptionsWithComponentGlobalsRegistry, 1.37.1.
func newOptions() *options {
	o := &options{
		serving:        apiserveroptions.NewSecureServingOptions(),
		authentication: apiserveroptions.NewDelegatingAuthenticationOptions(),
		authorization:  apiserveroptions.NewDelegatingAuthorizationOptions(),
		metrics:        metrics.NewOptions(),
		logs:           logs.NewOptions(),
		gates:          newGates(),
		leaderElection: componentconfig.LeaderElectionConfiguration{
			LeaderElect:       true,
			LeaseDuration:     metav1.Duration{Duration: 15 * time.Second},
			RenewDeadline:     metav1.Duration{Duration: 10 * time.Second},
			RetryPeriod:       metav1.Duration{Duration: 2 * time.Second},
			ResourceLock:      "leases",
			ResourceName:      configv1.SchedulerDefaultLockObjectName,
			ResourceNamespace: configv1.SchedulerDefaultLockObjectNamespace,
		},
	}
	o.authentication.TolerateInClusterLookupFailure = true
	o.authentication.RemoteKubeConfigFileOptional = true
	o.authorization.RemoteKubeConfigFileOptional = true
	o.serving.ServerCert.CertDirectory = "" // a certificate of our own is kept in memory
	o.serving.ServerCert.PairName = "kube-scheduler"
	o.serving.BindPort = defaultPort
	o.addFlags()
	return o
}

// addFlags adds the flags by kube-scheduler's names, in its groups, and the one of
// Berth's own.
func (o *options) addFlags() {
	misc := o.flags.FlagSet("misc")
	misc.StringVar(&o.configFile, "config", "", "The path to the configuration file.")
	misc.StringVar(&o.writeConfigTo, "write-config-to", "", "If set, write the configuration values to this file and exit.")
	misc.StringVar(&o.master, "master", "", "The address of the Kubernetes API server (overrides any value in kubeconfig)")

	o.serving.AddFlags(o.flags.FlagSet("secure serving"))
	o.authentication.AddFlags(o.flags.FlagSet("authentication"))
	o.authorization.AddFlags(o.flags.FlagSet("authorization"))
	o.deprecated.addFlags(o.flags.FlagSet("deprecated"))
	leaderoptions.BindLeaderElectionFlags(&o.leaderElection, o.flags.FlagSet("leader election"))
	o.gates.registry.AddFlags(o.flags.FlagSet("feature gate"))
	o.metrics.AddFlags(o.flags.FlagSet("metrics"))
	logsapi.AddFlags(o.logs, o.flags.FlagSet("logs"))
	o.flags.FlagSet("berth").Var(&o.wakeUps, "wake-ups",
		"Which waiting pods are tried again when something changes, and for whom room is made and kept: \"improved\" (those whom the change may help, and those who can use the room; budgets count what has been evicted since they were reported, and nothing is given away that is not there) or \"kube-scheduler\" (as kube-scheduler 1.37 does it, which misses some pods, tries some in vain, and gives away some of what is used up).")
}

// wakeUps is the value of --wake-ups.
type wakeUps struct{ extpoints.Compat }

// Set implements [pflag.Value].
func (w *wakeUps) Set(name string) error {
	for _, c := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
		if name == c.String() {
			w.Compat = c
			return nil
		}
	}
	return fmt.Errorf("must be %q or %q", extpoints.Improved, extpoints.KubeScheduler137)
}

// Type implements [pflag.Value].
func (*wakeUps) Type() string { return "string" }

// addFlags adds the flags that kube-scheduler calls deprecated. None of them is
// hidden, because people use them.
func (o *deprecatedOptions) addFlags(fs *pflag.FlagSet) {
	const instead = " This parameter is ignored if a config file is specified in --config."
	fs.BoolVar(&o.profiling, "profiling", true, "DEPRECATED: enable profiling via web interface host:port/debug/pprof/."+instead)
	fs.BoolVar(&o.contentionProfiling, "contention-profiling", true, "DEPRECATED: enable block profiling, if profiling is enabled."+instead)
	fs.StringVar(&o.connection.Kubeconfig, "kubeconfig", "", "DEPRECATED: path to kubeconfig file with authorization and master location information."+instead)
	fs.StringVar(&o.connection.ContentType, "kube-api-content-type", "application/vnd.kubernetes.protobuf", "DEPRECATED: content type of requests sent to apiserver."+instead)
	fs.Float32Var(&o.connection.QPS, "kube-api-qps", 50, "DEPRECATED: QPS to use while talking with kubernetes apiserver."+instead)
	fs.Int32Var(&o.connection.Burst, "kube-api-burst", 100, "DEPRECATED: burst to use while talking with kubernetes apiserver."+instead)
	fs.DurationVar(&o.maxInUnschedulable, "pod-max-in-unschedulable-pods-duration", defaultMaxInUnschedulable,
		"DEPRECATED: the maximum time a pod can stay in unschedulablePods. If a pod stays in unschedulablePods for longer than this value, the pod will be moved from unschedulablePods to backoffQ or activeQ. This flag is deprecated and will be removed in a future version.")
}

// validate lists what is wrong with the values of the flags, those that replace
// fields of the configuration file apart: they are validated in their place.
func (o *options) validate() []error {
	var problems []error
	problems = append(problems, o.gates.validate()...)
	problems = append(problems, o.serving.Validate()...)
	problems = append(problems, o.authentication.Validate()...)
	problems = append(problems, o.authorization.Validate()...)
	return append(problems, o.metrics.Validate()...)
}
