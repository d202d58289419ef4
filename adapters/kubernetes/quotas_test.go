package kubernetes_test

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/model"
)

// elasticQuota is the text of one in the namespace, made in a minute of an hour.
func elasticQuota(namespace, name, minute, spec string) string {
	return "apiVersion: scheduling.x-k8s.io/v1alpha1\nkind: ElasticQuota\n" +
		"metadata: {name: " + name + ", namespace: " + namespace + ", creationTimestamp: \"2026-06-01T12:" + minute + ":00Z\"}\nspec: {" + spec + "}\n"
}

// quotaWorld is a scheduler that goes by elastic quotas.
type quotaWorld struct {
	*fixture
	objects *custom
	log     said
}

func newQuotaWorld(t *testing.T, c *queueing.Configuration, cpu string, quotas ...string) *quotaWorld {
	t.Helper()
	c.QuotaObjects = true
	w := &quotaWorld{objects: newCustom(t, customresources.ElasticQuotas, "ElasticQuotaList")}
	for _, text := range quotas {
		w.objects.put(text)
	}
	client := kubetest.NewServer(namespace("default", ""), namespace("other", ""), node("n1", cpu))
	_, w.fixture = start(t, client, kubernetes.Options{
		Client: plain(client), Queueing: c, Logger: w.log.logger(),
		Custom: kubernetes.Custom{Client: w.objects.client, Kinds: []customresources.Kind{customresources.ElasticQuotas}},
	})
	return w
}

// placed checks which of the pods have a node, when a minute has gone by.
func (w *quotaWorld) placed(about string, want ...string) {
	w.Helper()
	time.Sleep(time.Minute)
	synctest.Wait()
	list, err := w.client.CoreV1().Pods("").List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var got []string
	for i := range list.Items {
		if p := &list.Items[i]; p.Spec.NodeName != "" {
			got = append(got, p.Name)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		w.Errorf("%s: %q have a node, want %q", about, got, want)
	}
}

// queue checks the queue of the namespace, and what it may use of CPU; -1 for no queue.
func (w *quotaWorld) queue(about, namespace string, least, most int64) {
	w.Helper()
	id := "elasticquotas/" + namespace
	p, _ := w.engine.View().Object(model.ObjectRef{Kind: model.PrincipalKind, ID: namespace})
	o, there := w.engine.View().Object(model.ObjectRef{Kind: model.QueueKind, ID: id})
	in := p.Object.(*model.Principal).Queue
	if !there {
		if least != -1 || in == id {
			w.Errorf("%s: the quota has no queue, and its namespace is in %q", about, in)
		}
		return
	}
	q := o.Object.(*model.Queue)
	if in != id || !maps.Equal(q.Guaranteed, map[string]int64{"cpu": least}) || !maps.Equal(q.Max, map[string]int64{"cpu": most}) || q.Parent != "elasticquotas" || q.Reclaim != model.ReclaimAny {
		w.Errorf("%s: it is in %q, %+v", about, in, q)
	}
}

// A quota counts as it is now: made, raised, shrunk and gone while pods run and wait.
func TestElasticQuotasChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuotaWorld(t, &queueing.Configuration{}, "10")
		w.queue("without one", "default", -1, -1)
		w.create(pod("a", "1"))
		w.placed("without one", "a")

		w.objects.put(elasticQuota("default", "q", "00", `min: {cpu: 1}, max: {cpu: 1, pods: 0}`))
		w.queue("made", "default", 1000, 1000)
		w.create(pod("b", "1"))
		w.placed("a uses all of it", "a")

		w.objects.put(elasticQuota("default", "q", "00", `min: {cpu: 1}, max: {cpu: 2}`))
		w.queue("raised", "default", 1000, 2000)
		w.placed("raised", "a", "b")

		w.objects.put(elasticQuota("default", "q", "00", `min: {cpu: 1}, max: {cpu: 1}`))
		w.queue("shrunk", "default", 1000, 1000)
		w.create(pod("c", "1"))
		w.placed("what runs stays, and nothing more starts", "a", "b")
		for _, name := range []string{"a", "b"} {
			if w.pod(name).DeletionTimestamp != nil {
				t.Errorf("%s is to leave", name)
			}
		}

		w.objects.remove("default", "q")
		w.queue("gone", "default", -1, -1)
		w.placed("gone", "a", "b", "c")
	})
}

// A quota that makes no sense is logged by name and with the reason, and changes nothing.
func TestElasticQuotasThatMakeNoSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		static := &queueing.Configuration{ElasticQuotas: []queueing.ElasticQuota{{Namespace: "other"}}}
		w := newQuotaWorld(t, static, "10", elasticQuota("default", "bad", "00", `min: {cpu: 2}, max: {cpu: 1}`))
		w.log.once(t, "default/bad", `max[cpu]: Invalid value: \"1\": is less than min, \"2\"`)
		w.queue("it cannot be", "default", -1, -1)

		w.objects.put(elasticQuota("default", "q", "01", `min: {cpu: 1}, max: {cpu: 2}`))
		w.queue("another one", "default", 1000, 2000)
		for spec, why := range map[string]string{
			"min: {cpu: 3}, max: {cpu: 2}": `max[cpu]: Invalid value: \"2\": is less than min, \"3\"`,
			"min: {cpu: -1}":               "min[cpu]",
			"max: {cpu: much}":             "quantities must match",
			"min: 4":                       "cannot unmarshal number",
		} {
			w.objects.put(elasticQuota("default", "q", "01", spec))
			w.log.once(t, "default/q", why)
			w.queue(spec, "default", 1000, 2000)
		}
		w.objects.put(elasticQuota("other", "q", "00", `max: {cpu: 0}`))
		w.log.once(t, "other/q", `the namespace \"other\" has one in the configuration file`)
		p := pod("o", "1")
		p.Namespace = "other"
		if _, err := w.client.CoreV1().Pods("other").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.placed("the file's one has no limit", "o")
	})
}

// Of several quotas of a namespace the oldest counts, whatever the order in which they come.
func TestTheOldestElasticQuotaCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuotaWorld(t, &queueing.Configuration{}, "10", elasticQuota("default", "b", "05", `min: {cpu: 0}, max: {cpu: 5}`))
		w.queue("alone", "default", 0, 5000)
		w.objects.put(elasticQuota("default", "c", "07", `min: {cpu: 0}, max: {cpu: 7}`))
		w.log.once(t, "default/c", `"older"="b"`)
		w.queue("with a younger one", "default", 0, 5000)
		w.objects.put(elasticQuota("default", "a", "01", `min: {cpu: 0}, max: {cpu: 1}`))
		w.queue("with an older one", "default", 0, 1000)
		w.objects.remove("default", "a")
		w.queue("without that", "default", 0, 5000)
		w.objects.remove("default", "b")
		w.queue("the last one", "default", 0, 7000)
	})
}

// The namespace's label names the queue even so, and what it named before a quota came counts
// again when that is gone.
func TestLabelsComeBeforeElasticQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuotaWorld(t, configuration(t, "queues: [{name: own}, {name: rest}]\ndefaultQueue: rest"), "10", elasticQuota("default", "q", "00", `min: {cpu: 0}, max: {cpu: 1}`))
		in := func(about, want string) {
			t.Helper()
			p, _ := w.engine.View().Object(model.ObjectRef{Kind: model.PrincipalKind, ID: "default"})
			if got := p.Object.(*model.Principal).Queue; got != want {
				t.Errorf("%s: in %q, want %q", about, got, want)
			}
		}
		label := func(queue string) {
			t.Helper()
			if _, err := w.client.CoreV1().Namespaces().Update(t.Context(), namespace("default", queue), metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		in("at first", "elasticquotas/default")
		label("own")
		in("with a label", "own")
		w.objects.remove("default", "q")
		in("without the quota", "own")
		label("")
		in("without either", "rest")
		w.objects.put(elasticQuota("default", "q", "00", `min: {cpu: 0}, max: {cpu: 1}`))
		in("with another quota", "elasticquotas/default")
		w.objects.remove("default", "q")
		in("without it", "rest")
	})
}

// What one namespace has borrowed another wins back up to its min.
func TestReclaimByElasticQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newQuotaWorld(t, &queueing.Configuration{}, "2",
			elasticQuota("default", "q", "00", `min: {cpu: 1}, max: {cpu: 2}`), elasticQuota("other", "q", "00", `min: {cpu: 1}, max: {cpu: 2}`))
		w.create(pod("a", "1"))
		w.placed("its own", "a")
		w.create(pod("b", "1"))
		w.placed("and what it borrows", "a", "b")
		p := pod("o", "1")
		p.Namespace = "other"
		if _, err := w.client.CoreV1().Pods("other").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		leaving := func() (names []string) {
			for _, name := range []string{"a", "b"} {
				if p, err := w.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{}); err == nil && p.DeletionTimestamp != nil {
					names = append(names, name)
				}
			}
			return names
		}
		w.until("one is to leave", func() bool { return len(leaving()) > 0 })
		gone := leaving()
		if len(gone) != 1 {
			t.Fatalf("%q are to leave", gone)
		}
		now := int64(0)
		if err := w.client.CoreV1().Pods("default").Delete(t.Context(), gone[0], metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			t.Fatal(err)
		}
		w.until("the other has its room", func() bool {
			p, err := w.client.CoreV1().Pods("other").Get(t.Context(), "o", metav1.GetOptions{})
			return err == nil && p.Spec.NodeName == "n1"
		})
	})
}
