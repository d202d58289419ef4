package app

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/extpoints"
)

// parsed are the options after a command line.
func parsed(t *testing.T, args ...string) *options {
	t.Helper()
	o := newOptions()
	all := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, set := range o.flags.FlagSets {
		all.AddFlagSet(set)
	}
	if err := all.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.gates.registry.Set(); err != nil {
		t.Fatal(err)
	}
	return o
}

// file writes a configuration file with the fields, and returns its name.
func file(t *testing.T, fields string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	writeFile(t, name, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+fields)
	return name
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The deprecated flags count where there is no file, those about leader election
// always, and each only where it is given.
func TestPrecedence(t *testing.T) {
	const fields = `
enableProfiling: false
enableContentionProfiling: false
clientConnection: {kubeconfig: of-file, contentType: of/file, qps: 7, burst: 8}
leaderElection: {leaderElect: true, leaseDuration: 60s, renewDeadline: 40s, retryPeriod: 5s, resourceName: of-file, resourceNamespace: of-file}
`
	tests := []struct {
		flag          string
		get           func(c *configv1.KubeSchedulerConfiguration) any
		byDefault     any
		inFile        any
		alone, beside any // with the flag, without and with a file
	}{
		{"--profiling=false", func(c *configv1.KubeSchedulerConfiguration) any { return *c.EnableProfiling }, true, false, false, false},
		{"--profiling=true", func(c *configv1.KubeSchedulerConfiguration) any { return *c.EnableProfiling }, true, false, true, false},
		{"--contention-profiling=true", func(c *configv1.KubeSchedulerConfiguration) any { return *c.EnableContentionProfiling }, true, false, true, false},
		{"--kubeconfig=of-flag", func(c *configv1.KubeSchedulerConfiguration) any { return c.ClientConnection.Kubeconfig }, "", "of-file", "of-flag", "of-file"},
		{"--kube-api-content-type=of/flag", func(c *configv1.KubeSchedulerConfiguration) any { return c.ClientConnection.ContentType }, "application/vnd.kubernetes.protobuf", "of/file", "of/flag", "of/file"},
		{"--kube-api-qps=9", func(c *configv1.KubeSchedulerConfiguration) any { return c.ClientConnection.QPS }, float32(50), float32(7), float32(9), float32(7)},
		{"--kube-api-burst=10", func(c *configv1.KubeSchedulerConfiguration) any { return c.ClientConnection.Burst }, int32(100), int32(8), int32(10), int32(8)},
		{"--leader-elect=false", func(c *configv1.KubeSchedulerConfiguration) any { return *c.LeaderElection.LeaderElect }, true, true, false, false},
		{"--leader-elect-lease-duration=1m1s", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.LeaseDuration.Duration }, 15 * time.Second, time.Minute, 61 * time.Second, 61 * time.Second},
		{"--leader-elect-renew-deadline=14s", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.RenewDeadline.Duration }, 10 * time.Second, 40 * time.Second, 14 * time.Second, 14 * time.Second},
		{"--leader-elect-retry-period=3s", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.RetryPeriod.Duration }, 2 * time.Second, 5 * time.Second, 3 * time.Second, 3 * time.Second},
		{"--leader-elect-resource-lock=leases", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.ResourceLock }, "leases", "leases", "leases", "leases"},
		{"--leader-elect-resource-name=of-flag", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.ResourceName }, "kube-scheduler", "of-file", "of-flag", "of-flag"},
		{"--leader-elect-resource-namespace=of-flag", func(c *configv1.KubeSchedulerConfiguration) any { return c.LeaderElection.ResourceNamespace }, "kube-system", "of-file", "of-flag", "of-flag"},
	}
	for _, tt := range tests {
		for _, way := range []struct {
			name string
			args []string
			want any
		}{
			{"default", nil, tt.byDefault},
			{"file", []string{"--config=" + file(t, fields)}, tt.inFile},
			{"flag", []string{tt.flag}, tt.alone},
			{"flag and file", []string{tt.flag, "--config=" + file(t, fields)}, tt.beside},
		} {
			t.Run(tt.flag+" "+way.name, func(t *testing.T) {
				c, err := parsed(t, way.args...).load()
				if err != nil {
					t.Fatal(err)
				}
				if got := tt.get(&c.Effective); got != way.want {
					t.Errorf("got %v, want %v", got, way.want)
				}
			})
		}
	}
}

// Every flag of a group that may take precedence does, or the table above is not
// complete.
func TestPrecedenceIsComplete(t *testing.T) {
	apart := []string{"pod-max-in-unschedulable-pods-duration"} // the file has no such field
	for _, group := range []string{"deprecated", "leader election"} {
		o := parsed(t)
		o.flags.FlagSet(group).VisitAll(func(f *pflag.Flag) {
			if slices.Contains(apart, f.Name) {
				return
			}
			value := map[string]string{"bool": "false", "int32": "3", "float32": "3", "duration": "12s", "string": "x"}[f.Value.Type()]
			before, _ := parsed(t).load()
			after, _ := parsed(t, "--"+f.Name+"="+value).load()
			if reflect.DeepEqual(before.Effective, after.Effective) {
				t.Errorf("--%s changes nothing", f.Name)
			}
		})
	}
}

// What a flag has put into the configuration is validated like what stands in a file.
func TestFlagsAreValidated(t *testing.T) {
	for args, want := range map[string]string{
		"--leader-elect-resource-lock=endpoints":                            `leaderElection.resourceLock`,
		"--kube-api-burst=-1":                                               `clientConnection.burst`,
		"--leader-elect-lease-duration=1s --leader-elect-renew-deadline=2s": `leaderElection.leaseDuration`,
	} {
		_, err := parsed(t, strings.Fields(args)...).load()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error about %s", args, err, want)
		}
	}
}

// Problems of flags and of the file are told at once: of fields that do not exist, of values, and of
// plugins, extenders and queues.
func TestAllProblemsAtOnce(t *testing.T) {
	o := parsed(t,
		"--config="+file(t, `parallelism: -1
podInitialBackoffSeconds: -1
paralelism: 3
profiles:
- {schedulerName: a, plugins: {score: {enabled: [{name: NodeName}]}, multiPoint: {enabled: [{name: Nope}, {name: DevicePacking}]}}}
- {schedulerName: a, pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Some}}}]}
extenders: [{urlPrefix: 'ftp://x'}]
---
apiVersion: `+queueing.APIVersion+`
kind: `+queueing.Kind+`
queues: [{name: a, minRuntime: 7d}]
`),
		"--secure-port=70000", "--feature-gates=DRADerivedAttributes=true,VolumeLimitScaling=false",
		"--authorization-webhook-cache-authorized-ttl=-1s", "--show-hidden-metrics-for-version=1.2",
	)
	_, err := newScheduler(o, &settings{})
	if err == nil {
		t.Fatal("it was made")
	}
	for _, want := range []string{
		`unknown field "paralelism"`, "parallelism: Invalid value: -1", "podInitialBackoffSeconds", `profiles[1].schedulerName: Duplicate value: "a"`,
		"the plugin does not serve this point", "the plugin does not exist", "DevicePacking: arguments: resource: must be set",
		"profiles[1].pluginConfig[0].args.scoringStrategy.type", "extenders[0]", "queues[0].minRuntime",
		"--secure-port", "DRADerivedAttributes is true", "VolumeLimitScaling is false", "showHiddenMetricsForVersion",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error says nothing of %s: %v", want, err)
		}
	}
}

// How long pods wait for events is a flag of its own, which counts beside a file.
func TestMaxInUnschedulable(t *testing.T) {
	if got := parsed(t).deprecated.maxInUnschedulable; got != 5*time.Minute {
		t.Errorf("by default: %v", got)
	}
	c, err := parsed(t, "--config="+file(t, "podMaxBackoffSeconds: 20")).load()
	if err != nil || ptr.Deref(c.Effective.PodMaxBackoffSeconds, 0) != 20 {
		t.Errorf("got %v, %v", c, err)
	}
}

// Which pods are woken is a flag of Berth's own, which counts beside a file.
func TestWakeUps(t *testing.T) {
	for args, want := range map[string]extpoints.Compat{
		"":                          extpoints.Improved,
		"--wake-ups=improved":       extpoints.Improved,
		"--wake-ups=kube-scheduler": extpoints.KubeScheduler137,
	} {
		s, err := made(t, &settings{}, "", strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.engineConfig(nil).Compat; got != want {
			t.Errorf("%s: %s", args, got)
		}
	}
	if err := newOptions().wakeUps.Set("some"); err == nil || err.Error() != `must be "improved" or "kube-scheduler"` {
		t.Errorf("an unknown value: %v", err)
	}
}
