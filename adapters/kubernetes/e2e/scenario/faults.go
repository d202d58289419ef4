package scenario

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/proxy"
	"github.com/berth-project/berth/model/modeltest"
)

// faults is about an API server that does not answer as it should. In the end every
// pod that fits is bound, and no node has more than it has room for.
var faults = []Scenario{
	{Name: "faults/writes are refused", Run: writesRefused, Long: true},
	{Name: "faults/writes are dropped and delayed", Run: writesDropped, Long: true},
	{Name: "faults/writes are done twice", Run: writesDoubled, Long: true},
	{Name: "faults/watches are cut and connections closed", Run: watchesCut, Long: true},
	{Name: "faults/reads are refused and late", Run: readsRefused, Long: true},
	{Name: "faults/pods and nodes go in mid-flight", Run: goneInFlight, Long: true},
	{Name: "faults/a reservation that was taken back is made again", Run: reservedAgain, Berth: true, Long: true},
	{Name: "faults/a binding whose answer was lost is not taken for one that failed", Run: bindingLost, Berth: true, Long: true},
}

// seed of the proxies' draws.
const seed = 1

// proxied starts a proxy before the API server, without rules, and returns it with
// options for a scheduler that goes through it.
func (e *Env) proxied(t *testing.T) (*proxy.Proxy, controlplane.SchedulerOptions) {
	t.Helper()
	p, err := proxy.Start(e.Plane.Config(controlplane.AdminUser), seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the proxy did, with seed %d: %+v", seed, p.Counts())
		}
	})
	dir := t.TempDir()
	ca, config := filepath.Join(dir, "ca.crt"), filepath.Join(dir, "kubeconfig")
	if err := p.WriteCA(ca); err != nil {
		t.Fatal(err)
	}
	if err := e.Plane.WriteKubeconfig(config, controlplane.SchedulerUser, p.URL(), ca); err != nil {
		t.Fatal(err)
	}
	return p, controlplane.SchedulerOptions{Kubeconfig: config}
}

// writes is what a scheduler writes for each pod.
var writes = []string{"pods/binding", "pods/status", "events"}

// withRules loads a scheduler behind a proxy with the rules, which must each have
// been used, and returns how many pods the nodes have in the end.
func withRules(t *testing.T, e *Env, rules ...proxy.Rule) map[string]int {
	t.Helper()
	p, options := e.proxied(t)
	counts := underLoad(t, e, func() {
		e.ScheduleWith(t, options)
		for i := range rules {
			rules[i].Resources = writes
		}
		p.SetRules(rules...)
	}, func() {})
	wantUsed(t, p, rules)
	return counts
}

// wantUsed checks that each of the rules was used.
func wantUsed(t *testing.T, p *proxy.Proxy, rules []proxy.Rule) {
	t.Helper()
	for _, r := range rules {
		if p.Times("", "", r.Do.String()) == 0 {
			t.Errorf("there was no %s: %+v", r.Do, p.Counts())
		}
	}
}

func writesRefused(t *testing.T, e *Env) {
	counts := withRules(t, e,
		proxy.Rule{Chance: 0.05, Do: proxy.Answer(http.StatusConflict)},
		proxy.Rule{Chance: 0.05, Do: proxy.Answer(http.StatusInternalServerError)},
		proxy.Rule{Chance: 0.05, Do: proxy.Answer(http.StatusServiceUnavailable)},
		proxy.Rule{Chance: 0.02, Do: proxy.Answer(http.StatusTooManyRequests)})
	wantFull(t, counts)
}

func writesDropped(t *testing.T, e *Env) {
	counts := withRules(t, e,
		proxy.Rule{Chance: 0.2, Do: proxy.Delay(100 * time.Millisecond)},
		proxy.Rule{Chance: 0.1, Do: proxy.Drop()})
	wantFull(t, counts)
}

func writesDoubled(t *testing.T, e *Env) {
	counts := withRules(t, e,
		proxy.Rule{Chance: 0.1, Do: proxy.Lose()},
		proxy.Rule{Chance: 0.1, Do: proxy.Duplicate()})
	wantFullUnlessKube(t, e, counts)
}

func watchesCut(t *testing.T, e *Env) {
	p, options := e.proxied(t)
	counts := underLoad(t, e, func() { e.ScheduleWith(t, options) }, func() {
		for i := range 4 { // clients wait longer each time before they watch again
			if i%2 == 0 {
				p.CutWatches()
			} else {
				p.DropConnections()
			}
			// What happens meanwhile must not be missed.
			name := fmt.Sprint("more-", i)
			e.Create(t, cluster.Node(name).Taints([]corev1.Taint{dedicated}).Obj(),
				cluster.Pod(name).Tolerations([]corev1.Toleration{toDB}).NodeSelector(map[string]string{cluster.Hostname: name}).Obj())
			e.BoundTo(t, name, name)
		}
	})
	wantFullUnlessKube(t, e, counts)
}

func readsRefused(t *testing.T, e *Env) {
	p, options := e.proxied(t)
	reads := []string{"list", "watch"}
	rules := []proxy.Rule{
		{Verbs: reads, Chance: 0.5, Do: proxy.Delay(200 * time.Millisecond)},
		{Verbs: reads, Chance: 0.2, Do: proxy.Answer(http.StatusInternalServerError)},
		{Verbs: reads, Chance: 0.2, Do: proxy.Answer(http.StatusTooManyRequests)},
		{Verbs: []string{"watch"}, Chance: 0.3, Do: proxy.Answer(http.StatusGone)},
		{Verbs: []string{"watch"}, Chance: 0.7, Do: proxy.Cut(time.Second)},
	}
	p.SetRules(rules...)
	counts := underLoad(t, e, func() { e.ScheduleWith(t, options) }, func() {})
	wantFull(t, counts)
	wantUsed(t, p, rules)
}

// inFlight is how many pods are bound in goneInFlight while others go.
const inFlight = 800

// goneInFlight has bindings take their time, so that many are under way when their pod
// or its node goes, and all writes fail now and then, those about volumes and devices
// as well.
func goneInFlight(t *testing.T, e *Env) {
	c := newChurn(t, e, modeltest.Seed(t))
	p, options := e.proxied(t)
	e.ScheduleWith(t, options)
	changes := []string{"create", "update", "patch", "delete"}
	rules := []proxy.Rule{
		{Resources: []string{"pods/binding"}, Chance: 0.5, Do: proxy.Delay(300 * time.Millisecond)},
		{Verbs: changes, Chance: 0.03, Do: proxy.Answer(http.StatusConflict)},
		{Verbs: changes, Chance: 0.03, Do: proxy.Answer(http.StatusInternalServerError)},
		{Verbs: changes, Chance: 0.01, Do: proxy.Answer(http.StatusTooManyRequests)},
		{Verbs: changes, Chance: 0.03, Do: proxy.Drop()},
	}
	if e.Kind != controlplane.Kube { // see wantFullUnlessKube
		rules = append(rules,
			proxy.Rule{Verbs: changes, Chance: 0.03, Do: proxy.Lose()},
			proxy.Rule{Verbs: changes, Chance: 0.03, Do: proxy.Duplicate()})
	}
	p.SetRules(rules...)
	c.begin(t)
	c.Await(t, "pods are bound", func() error {
		if n := c.Bindings(); n < inFlight {
			return fmt.Errorf("%d are, want %d", n, inFlight)
		}
		return nil
	})
	c.end(t)
	c.settle(t)
	wantUsed(t, p, rules)
}
