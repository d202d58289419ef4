package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// podKinds are the names by which kubectl knows pods.
var podKinds = []string{"pod", "pods", "po"}

func newExplain(o *options) *cobra.Command {
	var uid string
	cmd := &cobra.Command{
		Use:   "explain [pod/NAME]",
		Short: "Say why a pod is where it is, or nowhere",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			kind, name, named := strings.Cut(args[0], "/")
			if !named || !slices.Contains(podKinds, kind) {
				return fmt.Errorf("%q: only pods are explained, as in pod/NAME", args[0])
			}
			return o.explainPod(cmd.Context(), name, uid)
		},
	}
	cmd.PersistentFlags().StringVar(&uid, "uid", "", "Only if the pod has this UID.")
	cmd.AddCommand(newExplainPod(o, &uid))
	return cmd
}

func newExplainPod(o *options, uid *string) *cobra.Command {
	return &cobra.Command{
		Use:     podKinds[0] + " NAME",
		Aliases: podKinds[1:],
		Short:   "Say why a pod is where it is, or nowhere",
		Long: `Say of every node which plugins do not want the pod there, and why, or what they
score it. A pod that waits is tried on all nodes as things are now; of one that has a
node the decision is shown as it was made, if it is not too long ago.`,
		Example: `  kubectl berth explain pod web-0
  kubectl berth explain pod/web-0 -n shop -o wide`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.explainPod(cmd.Context(), args[0], *uid) },
	}
}

// explainPod explains the pod with the name, if it has the UID, where one is given.
func (o *options) explainPod(ctx context.Context, name, uid string) error {
	namespace, err := o.namespace()
	if err != nil {
		return err
	}
	q := &question{method: http.MethodGet, path: "/explain/pods/" + url.PathEscape(namespace) + "/" + url.PathEscape(name), query: url.Values{}}
	if uid != "" {
		q.query.Set("uid", uid)
	}
	answer, err := o.ask(ctx, q)
	if err != nil {
		return err
	}
	x := &api.PodExplanation{}
	return o.show(answer, x, api.PodExplanationKind, func(p *printer) { p.explanation(x) })
}
