package scenario

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// configuration is about the configuration file, and what is said at start when it
// is wrong; and about what else an operator sees.
var configuration = []Scenario{
	{Name: "profiles/a pod chooses one by its scheduler's name", Run: profiles},
	{Name: "profiles/a plugin that is disabled does not count", Run: disabledPlugin},
	{Name: "profiles/the weight of a plugin", Run: pluginWeight},
	{Name: "configuration/a file that is wrong", Run: wrongConfiguration},
	{Name: "configuration/a file that is not there", Run: missingConfiguration},
	{Name: "serving/health for all, and the rest for who may see it", Run: serving},
	{Name: "serving/kubectl describe says why a pod waits", Run: describe},
}

func profiles(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("emptier").Obj(), cluster.Node("fuller").Obj())
	fillHalf(t, e)
	e.Schedule(t, `
profiles:
- schedulerName: default-scheduler
- schedulerName: packer
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
`)
	pod := func(name, scheduler string) *corev1.Pod {
		return cluster.Pod(name).SchedulerName(scheduler).Req(cluster.CPU("100m")).Obj()
	}
	e.Create(t, pod("for-nobody", "somebody-else"), pod("spreads", "default-scheduler"), pod("packs", "packer"))
	e.BoundTo(t, "spreads", "emptier")
	e.BoundTo(t, "packs", "fuller")
	e.NotBound(t, "for-nobody")
	scheduled := cluster.Event{Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding"}
	for pod, profile := range map[string]string{"spreads": "default-scheduler", "packs": "packer"} {
		if event := e.Event(t, pod, scheduled); event.ReportingController != profile {
			t.Errorf("the event about pod %s is by %q, want %q", pod, event.ReportingController, profile)
		}
	}
}

func disabledPlugin(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	e.Schedule(t, `
profiles:
- plugins: {filter: {disabled: [{name: TaintToleration}]}}
`)
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "n")
}

func pluginWeight(t *testing.T, e *Env) {
	// The preference for a node is worth 2 times 100 by default, and the emptier node
	// no more than that.
	e.Create(t, cluster.Node("emptier").Obj(), cluster.Node("fuller").Label("disk", "ssd").Obj())
	fillHalf(t, e)
	e.Schedule(t, `
profiles:
- schedulerName: default-scheduler
- schedulerName: spreader
  plugins: {score: {disabled: [{name: NodeResourcesFit}], enabled: [{name: NodeResourcesFit, weight: 50}]}}
`)
	pod := func(name, scheduler string) *corev1.Pod {
		return cluster.Pod(name).SchedulerName(scheduler).Req(cluster.CPU("100m")).NodeAffinity(&corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: term("disk", corev1.NodeSelectorOpIn, "ssd")},
			},
		}).Obj()
	}
	e.Create(t, pod("a", "default-scheduler"), pod("b", "spreader"))
	e.BoundTo(t, "a", "fuller")
	e.BoundTo(t, "b", "emptier")
}

// exitPatience bounds how long a scheduler takes to say that its configuration is
// wrong.
const exitPatience = time.Minute

// wantExit checks that a scheduler ends with exit code 1 and says all the parts.
func wantExit(t *testing.T, e *Env, o controlplane.SchedulerOptions, parts ...string) {
	t.Helper()
	o.Kind = e.Kind
	o.Kubeconfig = e.Plane.Kubeconfig(controlplane.SchedulerUser)
	s, err := controlplane.RunScheduler(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	ctx, cancel := context.WithTimeout(t.Context(), exitPatience)
	defer cancel()
	code, err := s.Wait(ctx)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.Tail(logLines))
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1\n%s", code, s.Tail(logLines))
	}
	log := strings.ReplaceAll(s.Log(), `\"`, `"`) // in the log it is a quoted text
	for _, part := range parts {
		if !strings.Contains(log, part) {
			t.Errorf("it does not say %q, but\n%s", part, s.Tail(logLines))
		}
	}
}

func wrongConfiguration(t *testing.T, e *Env) {
	for name, test := range map[string]struct {
		config string
		says   []string
	}{
		"a field that there is not": {"parallelisms: 3", []string{`unknown field "parallelisms"`}},
		"a field that is there twice": {"parallelism: 3\nparallelism: 4",
			[]string{`key "parallelism" already set in map`}},
		"a value of the wrong type": {"parallelism: many", []string{"cannot unmarshal string", "parallelism"}},
		"several values out of range": {"parallelism: -1\npodInitialBackoffSeconds: 0\npercentageOfNodesToScore: 101", []string{
			"parallelism: Invalid value: -1: should be an integer value greater than zero",
			"podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
			"percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
		}},
		"two profiles of a name": {"profiles: [{schedulerName: x}, {schedulerName: x}]",
			[]string{"profiles[1].schedulerName: Duplicate value"}},
		"profiles that sort the queue differently": {
			"profiles: [{schedulerName: p}, {schedulerName: q, plugins: {queueSort: {disabled: [{name: '*'}], enabled: [{name: Other}]}}}]",
			[]string{"profiles[1].plugins.queueSort: Invalid value"}},
		"a plugin that there is not": {"profiles: [{plugins: {filter: {enabled: [{name: Nonesuch}]}}}]", []string{`"Nonesuch"`, "does not exist"}},
		"arguments that are wrong": {"profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]}]",
			[]string{"profiles[0].pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"}},
		"arguments with a field that there is not": {"profiles: [{pluginConfig: [{name: InterPodAffinity, args: {weight: 1}}]}]",
			[]string{`unknown field "weight"`}},
		"two extenders that bind": {"extenders: [{urlPrefix: 'http://a', bindVerb: bind}, {urlPrefix: 'http://b', bindVerb: bind}]",
			[]string{"only one extender can implement bind"}},
		"an extender of no weight": {"extenders: [{urlPrefix: 'http://a', prioritizeVerb: p, weight: 0}]",
			[]string{"must have a positive weight applied to it"}},
	} {
		t.Run(name, func(t *testing.T) {
			wantExit(t, e, controlplane.SchedulerOptions{Config: test.config}, test.says...)
		})
	}
	t.Run("a feature gate that there is not", func(t *testing.T) {
		wantExit(t, e, controlplane.SchedulerOptions{FeatureGates: map[string]bool{"Nonesuch": true}}, "unrecognized feature gate: Nonesuch")
	})
	t.Run("a version that there is not", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		content := "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		wantExit(t, e, controlplane.SchedulerOptions{ConfigFile: file}, "kubescheduler.config.k8s.io/v1beta3")
	})
}

func missingConfiguration(t *testing.T, e *Env) {
	file := filepath.Join(t.TempDir(), "none.yaml")
	wantExit(t, e, controlplane.SchedulerOptions{ConfigFile: file}, "open "+file+": no such file or directory")
}

func serving(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	s := e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.BoundTo(t, "p", "n")
	tokens := map[string]string{"nobody": "", "a stranger": "wrong", "the administrator": e.Plane.Config(controlplane.AdminUser).BearerToken}
	for _, test := range []struct {
		path, who string
		status    int
		says      string
	}{
		{"/healthz", "nobody", 200, "ok"},
		{"/livez", "nobody", 200, "ok"},
		{"/readyz", "nobody", 200, "ok"},
		{"/metrics", "nobody", 403, ""},
		{"/metrics", "a stranger", 401, ""},
		{"/metrics", "the administrator", 200, `scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1`},
		{"/metrics/resources", "the administrator", 200, ""},
		{"/configz", "the administrator", 200, `"schedulerName":"default-scheduler"`},
		{"/debug/pprof/heap", "the administrator", 200, ""},
		{"/nonesuch", "the administrator", 404, ""},
	} {
		status, body, err := s.Get(test.path, tokens[test.who])
		if err != nil || status != test.status || !strings.Contains(body, test.says) {
			t.Errorf("%s for %s: status %d, error %v, want %d and %q in\n%.2000s", test.path, test.who, status, err, test.status, test.says, body)
		}
	}
}

func describe(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Taints([]corev1.Taint{dedicated}).Obj())
	e.Schedule(t, "")
	e.Create(t, cluster.Pod("p").Obj())
	e.Unschedulable(t, "p", untolerated)
	out := e.kubectl(t, "describe", "pod", "p")
	line := regexp.MustCompile(`Warning +FailedScheduling +\S+ +default-scheduler +` + regexp.QuoteMeta(untolerated))
	if !line.MatchString(out) {
		t.Errorf("want a line like %s in\n%s", line, out)
	}
}
