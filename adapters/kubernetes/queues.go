package kubernetes

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// byQueues reports whether the engine places pods in the order of queues.
func (a *Adapter) byQueues() bool { return a.opts.Queueing.Order() == engine.OrderByQueues }

// watchQueues has every namespace be a principal of its queue. Namespaces are watched for
// it, whatever plugins look at.
func (a *Adapter) watchQueues(wanted map[Kind]bool) error {
	informer := func() cache.SharedIndexInformer { return a.factory.Core().V1().Namespaces().Informer() }
	if !a.byQueues() {
		if !wanted[Namespaces] {
			return nil
		}
		return a.from("queues of namespaces", informer(), a.withoutQueues)
	}
	a.principals = objectTeller(a, Namespaces, func(n *v1.Namespace) (*model.Principal, error) { return a.principal(n), nil })
	if err := a.fromCustom(customresources.ElasticQuotas, a.quotaChanged); err != nil {
		return err
	}
	return a.from("queues of namespaces", informer(), func(before, after any) []engine.Change {
		a.warnOfQueue(before, after)
		return a.principals.changed(before, after)
	})
}

// principal is the namespace as the one on whose account its pods run.
func (a *Adapter) principal(n *v1.Namespace) *model.Principal {
	return &model.Principal{Name: n.Name, Queue: a.opts.Queueing.QueueOf(n.Name, n.Labels, a.quotas.of(n.Name) != nil)}
}

// withoutQueues is told of namespaces where there are no queues.
func (a *Adapter) withoutQueues(before, after any) []engine.Change {
	a.warnOfQueue(before, after)
	return nil
}

// warnOfQueue says of a namespace whose label names a queue that there is none of the name.
func (a *Adapter) warnOfQueue(before, after any) {
	was, is := as[v1.Namespace](before), as[v1.Namespace](after)
	if is == nil {
		return
	}
	queue, named := is.Labels[queueing.NamespaceLabel]
	if !named || was != nil && was.Labels[queueing.NamespaceLabel] == queue {
		return
	}
	switch {
	case !a.byQueues():
		a.log.Error(nil, "A namespace names a queue, and the configuration has none: its pods are placed as if it did not",
			"namespace", is.Name, "label", queueing.NamespaceLabel, "queue", queue, "add", "a document of kind "+queueing.Kind+" to the configuration file")
	case !a.opts.Queueing.HasQueue(queue):
		a.log.Error(nil, "A namespace names a queue that the configuration does not have: its pods wait until it names another",
			"namespace", is.Name, "label", queueing.NamespaceLabel, "queue", queue)
	}
}

// tellQueueing tells the engine of the objects of the configuration.
func (a *Adapter) tellQueueing() {
	var changes []engine.Change
	for _, o := range a.opts.Queueing.Objects() {
		changes = append(changes, engine.PutObject(o))
	}
	a.apply(changes)
}

// warnOfConfiguration says once, when all objects are known, what has no effect now: holds that have
// ended, and what they and quotas and limits name and is not there. It may come, or be spelled wrong.
func (a *Adapter) warnOfConfiguration(now time.Time) {
	c := a.opts.Queueing
	if c == nil {
		return
	}
	for i := range c.Holds {
		a.warnOfHold(&c.Holds[i], now)
	}
	for _, q := range c.ElasticQuotas {
		a.warnOfNamespace(q.Namespace, "An elastic quota")
	}
	for _, l := range c.Limits {
		a.warnOfNamespace(l.Namespace, "A limit", "limit", l.Name)
	}
}

// warnOfNamespace says that a namespace is not there. With quotas or limits there are queues, and
// with queues namespaces are known.
func (a *Adapter) warnOfNamespace(name, what string, which ...any) {
	if name == "" {
		return
	}
	if _, err := a.factory.Core().V1().Namespaces().Lister().Get(name); err != nil {
		a.log.Info(what+" is of a namespace that is not there", append(which, "namespace", name)...)
	}
}

func (a *Adapter) warnOfHold(h *queueing.Hold, now time.Time) {
	if !h.Until.IsZero() && !now.Before(h.Until.Time) {
		a.log.Info("A hold has ended, and sets nothing aside", "hold", h.Name, "until", h.Until.UTC().Format(time.RFC3339))
		return
	}
	for _, name := range h.Nodes {
		if _, err := a.listers.nodes.Get(name); err != nil {
			a.log.Info("A hold names a node that is not there", "hold", h.Name, "node", name)
		}
	}
	if len(h.NodeSelector) == 0 {
		return
	}
	if selected, err := a.listers.nodes.List(labels.SelectorFromSet(h.NodeSelector)); err == nil && len(selected) == 0 {
		a.log.Info("No node has the labels that a hold selects", "hold", h.Name, "nodeSelector", labels.FormatLabels(h.NodeSelector))
	}
}
