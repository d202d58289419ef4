package main

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

func newQueue(o *options) *cobra.Command {
	var limit int
	var all bool
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show which pods wait to be scheduled",
		Long: `Show which pods wait to be scheduled, where in the queue they are, and which plugins
they wait for: by priority, and then by age. It shows those of all namespaces, unless
--namespace names one. (What the queues of the configuration allow, and how much of it is
used, is shown by "kubectl berth queues".)`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := &question{method: http.MethodGet, path: "/explain/queue", query: url.Values{}}
			if cmd.Flags().Changed("limit") {
				q.query.Set("limit", strconv.Itoa(limit))
			}
			if cmd.Flags().Changed("namespace") && !all {
				q.query.Set("namespace", *o.kube.Namespace)
			}
			answer, err := o.ask(cmd.Context(), q)
			if err != nil {
				return err
			}
			x := &api.Queue{}
			return o.show(answer, x, api.QueueKind, func(p *printer) { p.queue(x) })
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 500, "At most so many pods.")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "Those of all namespaces, also with --namespace. That is the default without.")
	return cmd
}
