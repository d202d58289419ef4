package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/server"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of clients and queues
	"k8s.io/component-base/term"
	"k8s.io/component-base/version/verflag"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

// Option changes what [NewSchedulerCommand] returns.
type Option func(*settings) error

// settings are what the options say.
type settings struct {
	plugins     config.Registry
	attachments []Attachment
	context     context.Context // ends when the process is to end; nil: never
	mounts      []mount
}

// mount is a handler that is made when there is an engine to make it for.
type mount struct {
	path string
	make func(*engine.Engine) http.Handler
}

// WithPlugin adds a plugin, which profiles of the configuration file can enable by
// the name. Its arguments reach the factory as a *runtime.Unknown with the JSON that
// stands in the file, or nil where there are none; [extpoints.FactoryOf] makes a
// factory of a function that takes it. A name that is taken is an error when the
// command runs.
func WithPlugin(name string, factory extpoints.Factory) Option {
	return func(s *settings) error { return s.plugins.Merge(config.Registry{name: factory}) }
}

// Attachment is something that works on the scheduler's own connection to the API server.
type Attachment struct {
	// Translated is told of which API object each noun of the engine was made; see
	// [kubernetes.Options].Translated. Default: nobody is told.
	Translated func(made, object any)
	// Connected is called when the adapter has been made, before any plugin is. The adapter
	// has not been run. Required.
	Connected func(Connection) error
}

// Connection is what the scheduler reaches the API server with.
type Connection struct {
	// Adapter is the scheduler's. Its informers may be asked for more.
	Adapter *kubernetes.Adapter
	// Client reads and writes within the limits of the configuration. Writes fail while this
	// process does not lead.
	Client clientset.Interface
	// Config is for further clients. Writes of theirs fail like the client's.
	Config *rest.Config
	// Gates are the adapter's.
	Gates convert.Gates
	// Context ends when the process is to end.
	Context context.Context
}

// WithAttachment attaches something to the scheduler.
func WithAttachment(a Attachment) Option {
	return func(s *settings) error {
		if a.Connected == nil {
			return errors.New("attachment: connected: there is none")
		}
		s.attachments = append(s.attachments, a)
		return nil
	}
}

// WithHandler serves one more path, or, where it ends with a slash, all that begin
// with it, beside health and metrics: over TLS, to those whom the API server lets get
// the path (a nonResourceURL). The function is called once, before anything is served,
// and the handler on a goroutine for each request.
func WithHandler(path string, handler func(*engine.Engine) http.Handler) Option {
	return func(s *settings) error {
		if !strings.HasPrefix(path, "/") {
			return fmt.Errorf("handler for path %q: the path does not begin with a slash", path)
		}
		s.mounts = append(s.mounts, mount{path, handler})
		return nil
	}
}

// NewSchedulerCommand returns the command. It is for a main function, by
// k8s.io/component-base/cli.Run: once it runs it handles the signals of the process
// and sets what logging, metrics and clients have for the whole process.
//
// The context that the command is executed with ends it as SIGTERM does. The error is
// nil after SIGTERM and after --write-config-to; any other end is a failure.
func NewSchedulerCommand(list ...Option) *cobra.Command {
	o := newOptions()
	cmd := &cobra.Command{
		Use: "berth-scheduler",
		Long: `The Berth scheduler assigns Pods to Nodes. It takes the place of kube-scheduler,
with the same configuration file, the same flags and the same decisions: it
determines which Nodes are valid placements for each Pod in the scheduling
queue according to constraints and available resources, ranks each valid Node
and binds the Pod to a suitable one.`,
		PersistentPreRunE: func(*cobra.Command, []string) error { return o.gates.registry.Set() },
		RunE:              func(cmd *cobra.Command, _ []string) error { return runCommand(cmd, o, list) },
		Args:              noArgs,
	}
	verflag.AddFlags(o.flags.FlagSet("global"))
	globalflag.AddGlobalFlags(o.flags.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range o.flags.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	columns, _, _ := term.TerminalSize(cmd.OutOrStdout()) // 0 where it is no terminal
	cliflag.SetUsageAndHelpFunc(cmd, o.flags, columns)
	if err := cmd.MarkFlagFilename("config", "yaml", "yml", "json"); err != nil {
		panic(err) // there is such a flag
	}
	return cmd
}

// noArgs refuses arguments that are no flags, empty ones apart, as kube-scheduler
// does (cmd/kube-scheduler/app/server.go, 1.37.1).
func noArgs(cmd *cobra.Command, args []string) error {
	for _, arg := range args {
		if arg != "" {
			return fmt.Errorf("%q does not take any arguments, got %q", cmd.CommandPath(), args)
		}
	}
	return nil
}

// runCommand runs the command with the flags that were parsed.
func runCommand(cmd *cobra.Command, o *options, list []Option) error {
	if printVersion(cmd.OutOrStdout(), cmd.Flag("version").Value.String()) {
		return nil
	}
	if err := logsapi.ValidateAndApply(o.logs, o.gates.gate); err != nil {
		return err
	}
	cliflag.PrintFlags(cmd.Flags())
	s, err := collect(list)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(server.SetupSignalContext()) // a second signal ends the process
	defer cancel()
	if outer := cmd.Context(); outer != nil {
		defer context.AfterFunc(outer, cancel)()
	}
	s.context = ctx
	made, err := newScheduler(o, s)
	if err != nil {
		return err
	}
	if done, err := made.writeConfig(o.writeConfigTo); done || err != nil {
		return err
	}
	if err := made.secureServing(); err != nil {
		return err
	}
	o.gates.gate.AddMetrics()
	o.gates.registry.AddMetrics()

	return made.run(ctx)
}

// translated tells all who want to know; nil where nobody does.
func (s *settings) translated() func(made, object any) {
	var tell []func(made, object any)
	for _, a := range s.attachments {
		if a.Translated != nil {
			tell = append(tell, a.Translated)
		}
	}
	if len(tell) == 0 {
		return nil
	}
	return func(made, object any) {
		for _, f := range tell {
			f(made, object)
		}
	}
}

// collect applies the options.
func collect(list []Option) (*settings, error) {
	s := &settings{plugins: config.Registry{}}
	var problems []error
	for _, option := range list {
		if err := option(s); err != nil {
			problems = append(problems, err)
		}
	}
	return s, errors.Join(problems...)
}
