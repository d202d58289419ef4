package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

func newSimulate(o *options) *cobra.Command {
	var files []string
	cmd := &cobra.Command{
		Use:   "simulate -f FILE",
		Short: "Say where the pods in a file would go, and what they would preempt",
		Long: `Say where the pods in a file would go if they were created now, and what they would
preempt. Nothing is created, and nothing changes. The file has, in YAML or JSON, Pods,
Deployments, ReplicaSets, StatefulSets, ReplicationControllers, Jobs and CronJobs (one
run), and, as far as they are not in the cluster, the PodGroups, CompositePodGroups and
PriorityClasses that they name. What admission would add besides priorities and the API
server's own defaults must be in it.

What has a node stays there: Pods, and those of StatefulSets, by their names. Of other
kinds only as many pods are tried as they lack in the cluster, and nothing is replaced, as
a rollout would; the run of a CronJob comes on top of its earlier runs.

Room, quotas and limits count; whose turn it would be does not, nor what is planned
ahead.

It exits with 2 where some pod would not be placed, or is another scheduler's to place.`,
		Example: `  kubectl berth simulate -f deployment.yaml
  kubectl run big --image=big --dry-run=client -o yaml | kubectl berth simulate -f -`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			body, err := o.readFiles(files)
			if err != nil {
				return err
			}
			namespace, err := o.namespace()
			if err != nil {
				return err
			}
			body = append(body, o.priorityClasses(cmd.Context())...)
			answer, err := o.ask(cmd.Context(), &question{
				method: http.MethodPost, path: "/explain/simulate", query: url.Values{"namespace": {namespace}},
				contentType: "application/yaml", body: body,
			})
			if err != nil {
				return err
			}
			x := &api.Simulation{}
			if err := o.show(answer, x, api.SimulationKind, func(p *printer) { p.simulation(x) }); err != nil {
				return err
			}
			if !x.Fits {
				return errUnplaced
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVarP(&files, "filename", "f", nil, "Files with pods; - is the standard input.")
	must(cmd.MarkFlagRequired("filename"))
	must(cmd.MarkFlagFilename("filename", "yaml", "yml", "json"))
	return cmd
}

// readFiles reads the files into one text of several documents.
func (o *options) readFiles(names []string) ([]byte, error) {
	var all bytes.Buffer
	var problems []error
	for _, name := range names {
		text, err := o.readFile(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("--filename: %w", err))
		}
		all.Write(text)
		all.WriteString("\n---\n")
	}
	return all.Bytes(), errors.Join(problems...)
}

func (o *options) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(o.In)
	}
	return os.ReadFile(name)
}

// patience is how long the API server may take to list priority classes.
const patience = 10 * time.Second

// priorityClasses are those of the cluster, as a document: the scheduler need not be
// allowed to read them. Where the user is not either, she is told what that means.
func (o *options) priorityClasses(ctx context.Context) []byte {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := o.listPriorityClasses(ctx)
	if err != nil {
		_, _ = fmt.Fprintf(o.ErrOut, "warning: the priority classes of the cluster cannot be read, so that pods without a priority have 0 unless they name a class of the file: %v\n", err)
		return nil
	}
	return text
}

func (o *options) listPriorityClasses(ctx context.Context) ([]byte, error) {
	config, err := o.kube.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := clientset.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	list, err := client.SchedulingV1().PriorityClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	known := schedulingv1.PriorityClassList{TypeMeta: metav1.TypeMeta{APIVersion: schedulingv1.SchemeGroupVersion.String(), Kind: "PriorityClassList"}}
	for i := range list.Items {
		c := &list.Items[i]
		known.Items = append(known.Items, schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: c.Name}, Value: c.Value, GlobalDefault: c.GlobalDefault, PreemptionPolicy: c.PreemptionPolicy,
		})
	}
	return json.Marshal(&known)
}
