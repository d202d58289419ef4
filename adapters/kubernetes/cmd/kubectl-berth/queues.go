package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

func newQueues(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "queues [NAME]",
		Short: "Show what queues and limits allow, and how much of it is used",
		Long: `Show the tree of queues of the scheduler's configuration, or the queue and those below
it, and how much of their quotas and limits is used. (Which pods wait, and for what,
is shown by "kubectl berth queue".)

SHARE is the part of the cluster that the pods in a queue and below it use, of the
resource of which that is most, and FAIR the part that weights give it among those beside
it that have pods. USED is of what the queue has a guarantee or a maximum for, else of
that resource; -o wide shows all, the weights, and the namespaces in each queue. HELD is
how many pods a quota of the queue, or a limit, holds back. PAST is for how long all of
the cluster would have been used, where the policy of the queue above is Usage; the older
counts less.

What is used of a limit over time is in hours, with what pods that have a node may yet use
until their deadlines.`,
		Example: `  kubectl berth queues
  kubectl berth queues research -o wide`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: o.completeQueues,
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := o.askQueues(cmd.Context(), args)
			if err != nil {
				return err
			}
			x := &api.QueueTree{}
			return o.show(answer, x, api.QueueTreeKind, func(p *printer) { p.queues(x) })
		},
	}
}

// askQueues asks for the queue that is named, if any, and those below it, or for all.
func (o *options) askQueues(ctx context.Context, name []string) ([]byte, error) {
	q := &question{method: http.MethodGet, path: "/explain/queues", query: url.Values{}}
	if len(name) > 0 {
		q.query.Set("queue", name[0])
	}
	return o.ask(ctx, q)
}

// completeQueues completes the name of a queue.
func (o *options) completeQueues(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var tree api.QueueTree
	answer, err := o.askQueues(cmd.Context(), nil)
	if err == nil {
		err = json.Unmarshal(answer, &tree)
	}
	if err != nil {
		cobra.CompErrorln(err.Error())
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for i := range tree.Queues {
		if name := tree.Queues[i].Name; name != "" && strings.HasPrefix(name, begun) {
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
