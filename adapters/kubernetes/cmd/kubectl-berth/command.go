package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// The exit codes.
const (
	exitOK       = 0
	exitError    = 1
	exitUnplaced = 2
)

// errUnplaced is the end of a simulation in which some pod is not placed. What there
// is to say is said.
var errUnplaced = errors.New("some pods would not be placed")

// options are what the flags say that all commands have.
type options struct {
	genericiooptions.IOStreams
	kube   *genericclioptions.ConfigFlags
	output string
	target target
	now    func() time.Time
}

// target says where the scheduler is.
type target struct {
	url      string // empty: look for it
	ca       string
	insecure bool

	namespace, lease string
	port             int
}

func newCommand(streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, kube: genericclioptions.NewConfigFlags(true), now: time.Now}
	cmd := &cobra.Command{
		Use:   "kubectl-berth",
		Short: "Ask the Berth scheduler about pods and queues",
		Long: `Ask the Berth scheduler why a pod is where it is, or nowhere, which pods wait, how much
queues and limits allow and is used of it, and where pods would go that are not there yet.

The leading scheduler is found by its lease and spoken to through the API server,
for which you need to get the lease, to get and list pods and to create
pods/portforward in its namespace; or directly with --scheduler. Either way it is
asked with your own credentials, a token or a client certificate, and you have to
be allowed the verbs get and post for the nonResourceURLs /explain/*. A token is
shown to the scheduler: where that is too much, give that of a service account
which may do no more than this, with --token.`,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl berth"},
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return o.validate() },
	}
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	flags := cmd.PersistentFlags()
	o.kube.AddFlags(flags)
	flags.StringVarP(&o.output, "output", "o", "table", "How to show the answer: "+strings.Join(outputs, ", ")+".")
	t := &o.target
	flags.StringVar(&t.url, "scheduler", "", "Where the scheduler serves, as https://host:port. Default: the holder of the lease, through the API server.")
	flags.StringVar(&t.ca, "scheduler-certificate-authority", "", "With --scheduler: file with the authorities that its certificate is of. Default: those of the API server.")
	flags.BoolVar(&t.insecure, "scheduler-insecure-skip-tls-verify", false, "With --scheduler: take any certificate for the scheduler's. The server that answers gets your credentials.")
	flags.StringVar(&t.namespace, "scheduler-namespace", metav1.NamespaceSystem, "The namespace of the scheduler's lease and pods.")
	flags.StringVar(&t.lease, "scheduler-lease", "", "The lease that the leading scheduler holds. Default: "+strings.Join(defaultLeases, ", or ")+".")
	flags.IntVar(&t.port, "scheduler-port", 10259, "The port of its pod on which the scheduler serves.")
	must(cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(outputs, cobra.ShellCompDirectiveNoFileComp)))
	cmd.AddCommand(newExplain(o), newQueue(o), newQueues(o), newSimulate(o))
	return cmd
}

// must is for errors that only a mistake in this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// validate reports all flags that make no sense.
func (o *options) validate() error {
	var problems []error
	if !slices.Contains(outputs, o.output) {
		problems = append(problems, fmt.Errorf("--output: %q is none of %s", o.output, strings.Join(outputs, ", ")))
	}
	t := &o.target
	if t.url == "" && t.ca != "" {
		problems = append(problems, errors.New("--scheduler-certificate-authority: only with --scheduler"))
	}
	if t.url == "" && t.insecure {
		problems = append(problems, errors.New("--scheduler-insecure-skip-tls-verify: only with --scheduler"))
	}
	if t.ca != "" && t.insecure {
		problems = append(problems, errors.New("--scheduler-certificate-authority: not with --scheduler-insecure-skip-tls-verify"))
	}
	if t.port < 1 || t.port > 65535 {
		problems = append(problems, fmt.Errorf("--scheduler-port: %d is not a port", t.port))
	}
	return errors.Join(problems...)
}

// namespace is the one that was asked for, else the context's.
func (o *options) namespace() (string, error) {
	namespace, _, err := o.kube.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}
