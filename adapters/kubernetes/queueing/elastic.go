package queueing

import (
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/model"
)

// elasticQuotas is the queue that those of all elastic quotas are parts of. Its policy has
// nobody leave for what a queue is not guaranteed.
const elasticQuotas = "elasticquotas"

// quotaOf is the queue of the namespace's elastic quota.
func quotaOf(namespace string) string { return elasticQuotas + "/" + namespace }

// Queue is the quota's queue. The error, an [utilerrors.Aggregate], lists what is wrong with
// it.
func (q *ElasticQuota) Queue() (*model.Queue, error) {
	t := &translation{}
	m := t.elasticQueue(nil, q)
	return m, utilerrors.NewAggregate(t.problems)
}

// elasticQueue translates the quota at the path.
func (t *translation) elasticQueue(at *field.Path, q *ElasticQuota) *model.Queue {
	least, most := t.bounds(at, "min", q.Min, q.Max)
	m := &model.Queue{Name: quotaOf(q.Namespace), Parent: elasticQuotas, Reclaim: model.ReclaimAny, Guaranteed: least, Max: most}
	t.add(at, m, m.Validate())
	return m
}

// elastic translates the elastic quotas and notes the names of their queues.
func (t *translation) elastic(c *Configuration, names map[string]bool) {
	at := field.NewPath("elasticQuotas")
	if !c.hasQuotas() {
		return
	}
	t.add(at, &model.Queue{Name: elasticQuotas, Policy: model.OrderFIFO}, nil)
	if names[elasticQuotas] {
		t.report(field.Duplicate(at, elasticQuotas))
	}
	names[elasticQuotas] = true
	for i := range c.ElasticQuotas {
		q, at := &c.ElasticQuotas[i], at.Index(i)
		name := quotaOf(q.Namespace)
		switch {
		case q.Namespace == "":
			t.report(field.Required(at.Child("namespace"), "a quota is that of a namespace"))
			continue
		case names[name]:
			t.report(field.Duplicate(at.Child("namespace"), q.Namespace))
		}
		names[name] = true
		t.elasticQueue(at, q)
	}
}

// hasQuotas reports whether there are elastic quotas, or may be.
func (c *Configuration) hasQuotas() bool { return len(c.ElasticQuotas) > 0 || c.QuotaObjects }

// HasQuota reports whether the document has an elastic quota for the namespace.
func (c *Configuration) HasQuota(namespace string) bool {
	return slices.ContainsFunc(c.ElasticQuotas, func(q ElasticQuota) bool { return q.Namespace == namespace })
}

// HasQueue reports whether there is the queue, or may be: elastic quotas that are objects come and
// go. The empty name is the top.
func (c *Configuration) HasQueue(name string) bool {
	return name == "" || slices.ContainsFunc(c.Queues, func(q Queue) bool { return q.Name == name }) ||
		c.hasQuotas() && (name == elasticQuotas || strings.HasPrefix(name, elasticQuotas+"/"))
}

// QueueOf is the queue that the pods of a namespace with the labels are in: the one that its label
// names, that of its elastic quota, of the document or an object, or DefaultQueue. Empty: at
// the top.
func (c *Configuration) QueueOf(namespace string, labels map[string]string, quotaObject bool) string {
	if queue, named := labels[NamespaceLabel]; named {
		return queue
	}
	if quotaObject || c.HasQuota(namespace) {
		return quotaOf(namespace)
	}
	return c.DefaultQueue
}
