package kubernetes

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// quotas are the ElasticQuotas that make sense, by namespace and name. Only the goroutine that
// tells the engine uses them.
type quotas map[string]map[string]*quota

// quota is one of them.
type quota struct {
	object *unstructured.Unstructured
	queue  *model.Queue
}

// of is the quota that counts for the namespace, the oldest; nil where there is none.
func (q quotas) of(namespace string) (oldest *quota) {
	for _, one := range q[namespace] {
		if oldest == nil || one.compareAge(oldest) < 0 {
			oldest = one
		}
	}
	return oldest
}

func (q *quota) compareAge(o *quota) int {
	made, other := q.object.GetCreationTimestamp(), o.object.GetCreationTimestamp()
	return cmp.Or(made.Compare(other.Time), strings.Compare(q.object.GetName(), o.object.GetName()))
}

// quotaChanged is what the engine is told of a change of an ElasticQuota. One that makes no
// sense changes nothing.
func (a *Adapter) quotaChanged(before, after any) []engine.Change {
	was, is := as[unstructured.Unstructured](before), as[unstructured.Unstructured](after)
	if is == nil {
		return a.quotaIs(was, nil)
	}
	queue, err := a.queueFor(is)
	if err != nil {
		a.log.Error(err, "An elastic quota is left as it was, if there was one", "object", nameOf(before, after))
		return nil
	}
	return a.quotaIs(is, queue)
}

// queueFor is the queue that the quota makes, and what is wrong with it.
func (a *Adapter) queueFor(o *unstructured.Unstructured) (*model.Queue, error) {
	least, most, err := customresources.Quota(o)
	if err != nil {
		return nil, err
	}
	if a.opts.Queueing.HasQuota(o.GetNamespace()) {
		return nil, fmt.Errorf("the namespace %q has one in the configuration file", o.GetNamespace())
	}
	q := queueing.ElasticQuota{Namespace: o.GetNamespace(), Min: least, Max: most}
	return q.Queue()
}

// quotaIs notes the queue of a quota, nil where there is none any more, and says what that
// changes for its namespace.
func (a *Adapter) quotaIs(o *unstructured.Unstructured, queue *model.Queue) []engine.Change {
	namespace, name := o.GetNamespace(), o.GetName()
	was := a.quotas.of(namespace)
	if queue != nil {
		if a.quotas[namespace] == nil {
			a.quotas[namespace] = map[string]*quota{}
		}
		a.quotas[namespace][name] = &quota{o, queue}
	} else {
		delete(a.quotas[namespace], name)
		if len(a.quotas[namespace]) == 0 {
			delete(a.quotas, namespace)
		}
	}
	is := a.quotas.of(namespace)
	if queue != nil && is.object != o {
		a.log.Error(nil, "An elastic quota does not count: its namespace has an older one", "object", namespace+"/"+name, "older", is.object.GetName())
	}
	switch {
	case is == nil && was == nil:
		return nil
	case is == nil: // first nobody is in the queue any more
		return append(a.principalAgain(namespace), engine.RemoveObject(model.RefOf(was.queue)))
	case was == nil:
		return append([]engine.Change{engine.PutObject(is.queue)}, a.principalAgain(namespace)...)
	case reflect.DeepEqual(was.queue, is.queue):
		return nil
	}
	return []engine.Change{engine.PutObject(is.queue)}
}

// principalAgain looks again at which queue the namespace is in.
func (a *Adapter) principalAgain(namespace string) []engine.Change {
	n, err := a.factory.Core().V1().Namespaces().Lister().Get(namespace)
	if err != nil {
		return nil // it comes later, or has gone
	}
	return a.principals.changed(n, n)
}
