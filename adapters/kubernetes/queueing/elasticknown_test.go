package queueing_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/berth-project/berth/model"
)

// The known answers of the upstream plugin about one quota are those of capacityscheduling/elasticquota_test.go, all
// rows (commit 903da7df). There they are answers of functions. Here there are none such, so each is asked of the
// engine: what happens to a pod that it should matter to.
//
// Left out are TestReserveResource and TestUnReserveResource, a row each: they add and subtract what pods
// request. The engine counts what runs, whoever placed it, and package queue tests that it does.

const gpu = "nvidia.com/gpu"

// amounts are CPU in thousandths, memory, GPUs and ephemeral storage; nil: nothing is said.
type amounts []int64

func (a amounts) resources() (r model.Resources) {
	for i, name := range []string{model.CPU, model.Memory, gpu, model.EphemeralStorage} {
		if i < len(a) && a[i] > 0 {
			r.Set(name, a[i])
		}
	}
	return r
}

// yaml is the list in a document, of what is not 0.
func (a amounts) yaml() string {
	var list []string
	for _, name := range new(a.resources()).Names() {
		unit := map[bool]string{true: "m"}[name == model.CPU]
		list = append(list, fmt.Sprintf("%s: %d%s", name, new(a.resources()).Get(name), unit))
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// has adds a quota.
func (q *quotas) has(namespace string, least, most amounts) {
	fmt.Fprintf(&q.text, "- {namespace: %s", namespace)
	if least != nil {
		fmt.Fprintf(&q.text, ", min: %s", least.yaml())
	}
	if most != nil {
		fmt.Fprintf(&q.text, ", max: %s", most.yaml())
	}
	q.text.WriteString("}\n")
}

func podOf(id string, requests amounts) *model.Workload {
	namespace, _, _ := strings.Cut(id, "/")
	return &model.Workload{ID: id, Namespace: namespace, Principal: namespace, Requests: requests.resources()}
}

// TestUsedOverMaxWith there: a pod that takes its namespace over its max waits, whatever room there is.
func TestKnownOverMaxWith(t *testing.T) {
	for _, c := range []struct {
		name            string
		used, most, pod amounts
		over            bool
	}{
		{"more than max", amounts{4000, 200, 5}, amounts{4000, 200, 5}, amounts{100, 100}, true},
		{"not more than max", amounts{3900, 100, 5}, amounts{4000, 200, 5}, amounts{100, 100}, false},
		{"no max", amounts{3900, 100, 5}, nil, amounts{100, 100}, false},
		{"max says nothing of GPUs", amounts{10, 10}, amounts{3000, 100}, amounts{10, 10, 5}, false},
		{"more ephemeral storage than max", amounts{10, 10, 0, 10}, amounts{3000, 100, 0, 100}, amounts{10, 10, 0, 100}, true},
	} {
		q := &quotas{t: t, room: amounts{1e9, 1e9, 1e9, 1e9}.resources(), running: []*model.Workload{podOf("a/1", c.used)}, asking: podOf("a/2", c.pod)}
		q.has("a", nil, c.most)
		if got, want := q.outcome(), map[bool]string{true: "waits", false: "runs"}[c.over]; got != want {
			t.Errorf("%s: it %s", c.name, got)
		}
	}
}

// TestUsedOverMinWith there: a pod that takes its namespace over its min cannot win back what it needs, which
// is all borrowed by another. Where the answer is another one here, "here" says why.
func TestKnownOverMinWith(t *testing.T) {
	for _, c := range []struct {
		name             string
		used, least, pod amounts
		over             bool // upstream
		here             string
	}{
		{"more than min", amounts{4000, 200, 5}, amounts{3000, 100, 5}, amounts{1500, 100}, true, ""},
		{"not more than min", amounts{300, 100, 5}, amounts{4000, 200, 5}, amounts{100, 50}, false, ""},
		{"no min", amounts{3900, 100, 5}, nil, amounts{100, 100}, true, ""},
		{"min says nothing of GPUs", amounts{10, 10}, amounts{3000, 100}, amounts{10, 10, 5}, true, "who has a min is within it by what it names"},
		{"not more ephemeral storage than min", amounts{10, 10, 0, 10}, amounts{3000, 100, 0, 100}, amounts{10, 10, 0, 10}, false, ""},
	} {
		q := &quotas{t: t, room: c.used.resources(), running: []*model.Workload{podOf("a/1", c.used), podOf("b/1", c.pod)}, asking: podOf("a/2", c.pod)}
		q.room.Add(new(c.pod.resources()))
		q.has("a", c.least, nil)
		q.has("b", nil, nil)
		if got, want := q.outcome(), map[bool]string{true: "waits", false: "evicts b/1"}[c.over != (c.here != "")]; got != want {
			t.Errorf("%s (here %q): it %s", c.name, c.here, got)
		}
	}
}

// TestUsedOverMin there: of a namespace that is over its min another may win back what it has a
// right to. There a namespace is over its min as a whole; here the other gets that of which it is over.
func TestKnownOverMin(t *testing.T) {
	for _, c := range []struct {
		name             string
		used, least, pod amounts
		over             bool
	}{
		{"more than min", amounts{4000, 200, 5}, amounts{3000, 300, 5}, amounts{100}, true},
		{"not more than min", amounts{300, 100, 5}, amounts{4000, 200, 5}, amounts{100}, false},
		{"no min", amounts{3900, 100, 5}, nil, amounts{100}, true},
		{"min says nothing of GPUs", amounts{300, 100, 5}, amounts{4000, 200}, amounts{0, 0, 1}, true},
		{"more ephemeral storage than min", amounts{300, 100, 0, 100}, amounts{4000, 200, 0, 10}, amounts{0, 0, 0, 10}, true},
	} {
		q := &quotas{t: t, room: c.used.resources(), running: []*model.Workload{podOf("a/1", c.used)}, asking: podOf("b/1", c.pod)}
		q.has("a", c.least, nil)
		q.has("b", c.pod, nil)
		if got, want := q.outcome(), map[bool]string{true: "evicts a/1", false: "waits"}[c.over]; got != want {
			t.Errorf("%s: it %s", c.name, got)
		}
	}
}

// TestNewElasticQuotaInfo there: what is said of min and max. Nothing said is no limit, and no guarantee.
func TestKnownQuotas(t *testing.T) {
	least, most := amounts{10, 100}, amounts{100, 1000}
	for _, c := range []struct{ least, most amounts }{{least, most}, {least, nil}, {nil, most}, {nil, nil}} {
		q := &quotas{t: t}
		q.has("ns1", c.least, c.most)
		list := load(t, header+"elasticQuotas:\n"+q.text.String()).Objects()
		queue := list[len(list)-1].(*model.Queue)
		for _, side := range []struct {
			got  map[string]int64
			want amounts
		}{{queue.Guaranteed, c.least}, {queue.Max, c.most}} {
			want := map[string]int64{}
			for _, name := range new(side.want.resources()).Names() {
				want[name] = new(side.want.resources()).Get(name)
			}
			if !maps.Equal(side.got, want) {
				t.Errorf("min %v and max %v: %v, want %v", c.least, c.most, side.got, want)
			}
		}
	}
}
