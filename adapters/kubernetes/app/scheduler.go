package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	goruntime "runtime"
	"time"

	v1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/server"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/loadwatcher"
	"github.com/berth-project/berth/adapters/kubernetes/metrics"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/volumebinding"
)

// scheduler is everything that runs. It is made by newScheduler and run once.
type scheduler struct {
	options  *options
	settings *settings
	config   *config.Config
	registry config.Registry     // of all plugins
	devices  allocator.Evaluator // of their selectors

	clients   *clients
	profiles  []string // their names
	adapter   *kubernetes.Adapter
	engine    *engine.Engine
	extenders []*extender.Extender
	loads     []*loadwatcher.Source   // of measured load
	custom    *customresources.Source // nil where no plugin goes by any that it reads
	// customKinds are all custom resources that plugins go by.
	customKinds []customresources.Kind
	metrics     *metrics.Metrics
	election    *election                 // nil where there is none
	news        record.EventBroadcaster   // of the election
	secure      *server.SecureServingInfo // nil where nothing is served
	auth        serverAuth
}

// serverAuth says who may ask for what.
type serverAuth struct {
	authentication server.AuthenticationInfo
	authorization  server.AuthorizationInfo
}

// newScheduler makes everything but what serves, and starts nothing. The error lists
// all problems of the flags, of the file's fields, and of the plugins and extenders that come
// with the program.
func newScheduler(o *options, s *settings) (*scheduler, error) {
	m := &scheduler{options: o, settings: s, devices: cel.New()}
	problems := o.validate()
	var err error
	if m.registry, err = s.registry(); err != nil {
		problems = append(problems, err)
	}
	if m.config, err = o.load(); err != nil {
		problems = append(problems, err)
	}
	if m.config != nil {
		problems = append(problems, m.config.Try(m.devices, m.registry, s.plugins))
	}
	if err := utilerrors.NewAggregate(problems); err != nil {
		return nil, err
	}
	if err := o.gates.applyToProcess(); err != nil {
		return nil, err
	}
	o.metrics.Apply()
	if err := m.connect(); err != nil {
		return nil, err
	}
	return m, m.assemble()
}

// registry has kube-scheduler's plugins, Berth's others, and the operator's own, which come before
// the latter.
func (s *settings) registry() (config.Registry, error) {
	r := config.DefaultRegistry()
	err := r.Merge(s.plugins)
	for name, factory := range config.OutOfTree() {
		if _, own := r[name]; !own {
			r[name] = factory
		}
	}
	return r, err
}

// connect makes the clients, and the election, which says when they may write.
func (s *scheduler) connect() error {
	e := &s.config.Effective
	connection, err := connect(&e.ClientConnection, s.options.master)
	if err != nil {
		return err
	}
	s.clients, err = newClients(connection, s.mayWrite)
	if err != nil || !ptr.Deref(e.LeaderElection.LeaderElect, false) {
		return err
	}
	s.news = record.NewBroadcaster()
	// The first profile's name stands for the process.
	recorder := s.news.NewRecorder(clientscheme.Scheme, v1.EventSource{Component: ptr.Deref(e.Profiles[0].SchedulerName, v1.DefaultSchedulerName)})
	lock, err := newLock(&e.LeaderElection, s.clients, recorder)
	if err != nil {
		return err
	}
	s.election, err = newElection(&e.LeaderElection, lock, s.coordinated())
	return err
}

// coordinated: the API server decides who leads.
func (s *scheduler) coordinated() bool {
	return s.options.gates.gate.Enabled("CoordinatedLeaderElection")
}

// mayWrite reports whether this process may change anything in the cluster.
func (s *scheduler) mayWrite() bool { return s.election == nil || s.election.lease.held() }

// assemble makes the engine and what it is connected with.
func (s *scheduler) assemble() error {
	profiles, err1 := s.config.Profiles(s.devices, s.registry)
	configs, err2 := s.config.Extenders(nil)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	gate := s.options.gates.gate
	s.metrics = metrics.New(metrics.Options{
		Profiles: profiles, Groups: gate.Enabled("GenericWorkload"), Placements: gate.Enabled("TopologyAwareWorkloadScheduling"),
	})
	err := s.attach(profiles, configs)
	if err != nil {
		return err
	}
	if s.engine, err = engine.New(s.engineConfig(profiles)); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	s.metrics.Sample(s.engine)
	return errors.Join(s.watchLoads(), s.watchCustom())
}

// attach makes the adapter and the extenders, which are sent what the adapter knows.
func (s *scheduler) attach(profiles []extpoints.Profile, configs []extender.Config) error {
	for i := range profiles {
		s.profiles = append(s.profiles, profiles[i].Name)
	}
	s.customKinds = customKinds(profiles, s.settings.plugins)
	custom, err := s.customOfAdapter(profiles)
	if err != nil {
		return err
	}
	var leads chan struct{}
	if s.election != nil {
		leads = s.election.leading
	}
	s.adapter, err = kubernetes.New(kubernetes.Options{
		Leads:          leads,
		Client:         s.clients.main,
		EventClient:    s.clients.events,
		Profiles:       s.profiles,
		Kinds:          kinds(profiles, s.settings.plugins, filtering(configs), s.options.gates.gate.Enabled),
		Custom:         custom,
		Gates:          s.gates(),
		Queueing:       s.queueing(),
		Translated:     s.settings.translated(),
		PreBindTimeout: longestBinding(profiles),
		Meter:          meter{s.metrics},
	})
	if err == nil {
		err = s.connected()
	}
	if err != nil {
		return err
	}
	for i := range configs {
		configs[i].Codec = codec{pods: s.adapter.Pods(), nodes: s.adapter.Nodes()}
	}
	s.extenders, err = newExtenders(configs, s.mayWrite)
	return err
}

// connected tells those who are attached that there is an adapter.
func (s *scheduler) connected() error {
	ctx := s.settings.context
	if ctx == nil {
		ctx = context.Background()
	}
	for _, a := range s.settings.attachments {
		err := a.Connected(Connection{
			Adapter: s.adapter, Client: s.clients.main, Config: rest.AddUserAgent(rest.CopyConfig(s.clients.guarded), "scheduler"),
			Gates: s.gates(), Context: ctx,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gates say what pods and pod groups mean.
func (s *scheduler) gates() convert.Gates {
	on := s.options.gates.gate.Enabled
	return convert.Gates{
		TaintTolerationComparisonOperators: on("TaintTolerationComparisonOperators"),
		PodGroupPreemptionPolicy:           on("PodGroupPreemptionPolicy"),
	}
}

// drainTimeout is how long bindings under way may take when the process is to end.
// Kubernetes gives it 30 seconds for everything.
const drainTimeout = 15 * time.Second

func (s *scheduler) engineConfig(profiles []extpoints.Profile) engine.Config {
	queue := s.config.Queue()
	queue.MaxInUnschedulable = s.options.deprecated.maxInUnschedulable
	return engine.Config{
		Profiles:                 profiles,
		Orchestrator:             s.adapter,
		Extenders:                asked(s.extenders),
		PercentageOfNodesToScore: s.config.PercentageOfNodesToScore(),
		Workers:                  min(s.config.Workers(), goruntime.GOMAXPROCS(0)), // more would wait for each other
		Queue:                    queue,
		Order:                    s.queueing().Order(),
		Backfill:                 s.queueing().Plan(),
		Compat:                   s.options.wakeUps.Compat,
		DrainTimeout:             drainTimeout,
		RememberDecisions:        explain.Decisions,
		Listener:                 engine.Tee(s.adapter.Listener(), s.metrics.Listener()),
		Logger:                   newEngineLog(klog.Background()),
	}
}

// longestBinding is the longest time that any profile has for the binding of volumes.
func longestBinding(profiles []extpoints.Profile) (longest time.Duration) {
	for i := range profiles {
		for _, e := range profiles[i].Plugins {
			if args, ok := e.Args.(volumebinding.Args); ok {
				longest = max(longest, args.BindTimeout)
			}
		}
	}
	return longest
}

// secureServing prepares to serve, with a certificate that is made where none is
// given, and asks the API server about who asks.
//
// Rules: cmd/kube-scheduler/app/options/options.go Config and ApplyTo, 1.37.1.
func (s *scheduler) secureServing() error {
	o := s.options
	if err := o.serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
		return fmt.Errorf("create self-signed certificates: %w", err)
	}
	if err := o.serving.ApplyTo(&s.secure); err != nil {
		return fmt.Errorf("secure serving: %w", err)
	}
	if s.secure == nil {
		return nil
	}
	if err := o.authentication.ApplyTo(&s.auth.authentication, s.secure, nil); err != nil {
		return fmt.Errorf("authentication: %w", err)
	}
	if err := o.authorization.ApplyTo(&s.auth.authorization); err != nil {
		return fmt.Errorf("authorization: %w", err)
	}
	return nil
}

// writeConfig writes the configuration to the log, and to the file where there is
// one, with which everything is done.
//
// Rules: cmd/kube-scheduler/app/options/configfile.go LogOrWriteConfig, 1.37.1.
func (s *scheduler) writeConfig(file string) (done bool, err error) {
	log := klog.Background()
	if file == "" && !log.V(2).Enabled() {
		return false, nil
	}
	var text bytes.Buffer
	if err := s.config.Write(&text); err != nil {
		return false, err
	}
	log.V(2).Info("Using component config", "config", text.String())
	if file == "" {
		return false, nil
	}
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		return false, fmt.Errorf("--write-config-to: %w", err)
	}
	log.Info("Wrote configuration", "file", file)
	return true, nil
}
