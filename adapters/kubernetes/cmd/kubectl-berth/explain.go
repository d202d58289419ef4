package main

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

func newExplain(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say why a pod is where it is, or nowhere",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newExplainPod(o))
	return cmd
}

func newExplainPod(o *options) *cobra.Command {
	var uid string
	cmd := &cobra.Command{
		Use:     "pod NAME",
		Aliases: []string{"pods", "po"},
		Short:   "Say why a pod is where it is, or nowhere",
		Long: `Say of every node which plugins do not want the pod there, and why, or what they
score it. A pod that waits is tried on all nodes as things are now; of one that has a
node the decision is shown as it was made, if it is not too long ago.`,
		Example: `  kubectl berth explain pod web-0
  kubectl berth explain pod web-0 -n shop -o wide`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: o.completePods,
		RunE: func(cmd *cobra.Command, args []string) error {
			namespace, err := o.namespace()
			if err != nil {
				return err
			}
			q := &question{method: http.MethodGet, path: "/explain/pods/" + url.PathEscape(namespace) + "/" + url.PathEscape(args[0]), query: url.Values{}}
			if uid != "" {
				q.query.Set("uid", uid)
			}
			answer, err := o.ask(cmd.Context(), q)
			if err != nil {
				return err
			}
			x := &api.PodExplanation{}
			return o.show(answer, x, api.PodExplanationKind, func(p *printer) { p.explanation(x) })
		},
	}
	cmd.Flags().StringVar(&uid, "uid", "", "Only if the pod has this UID.")
	return cmd
}
