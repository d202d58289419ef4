package config_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/component-base/featuregate"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
	"github.com/berth-project/berth/adapters/kubernetes/internal/golden"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/noderesources"
)

const head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Load([]byte(text), config.DefaultGates())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, c *config.Config) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What is written is what is read again, and is everything.
func TestWrite(t *testing.T) {
	t.Parallel()
	golden.Compare(t, "testdata/written.golden", []byte(write(t, config.Default(config.DefaultGates()))))
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		g := gates(t, text)
		c, err := config.Load(text, g)
		if err != nil || c.Validate() != nil {
			continue
		}
		if _, err := c.Profiles(devices, configtest.Registry()); err != nil {
			continue
		}
		first := write(t, c)
		read, err := config.Load([]byte(first), g)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, first)
		}
		if second := write(t, read); second != first {
			t.Errorf("%s was first written as\n%s\nand then as\n%s", name, first, second)
		}
		again++
	}
	if again < 25 {
		t.Errorf("only %d files", again)
	}
}

func TestLoadFile(t *testing.T) {
	t.Parallel()
	c, err := config.LoadFile("testdata/kubeadm.yaml", config.DefaultGates())
	if err != nil || c.Effective.ClientConnection.Kubeconfig != "/etc/kubernetes/scheduler.conf" {
		t.Errorf("%v", err)
	}
	if _, err = config.LoadFile("testdata/none.yaml", config.DefaultGates()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	_, err = config.LoadFile("testdata/wrong-kind.yaml", config.DefaultGates())
	if err == nil || !strings.HasPrefix(err.Error(), `load configuration file "testdata/wrong-kind.yaml": `) {
		t.Errorf("a wrong file: %v", err)
	}
}

// What a command changes before it asks counts, and asking changes nothing.
func TestEffectiveIsTheCommands(t *testing.T) {
	t.Parallel()
	c := load(t, head+"extenders: [{urlPrefix: 'http://a', managedResources: [{name: example.com/a, ignoredByScheduler: true}]}]")
	*c.Effective.LeaderElection.LeaderElect = false
	c.Effective.LeaderElection.LeaseDuration.Duration = time.Second // not looked at: nobody is elected
	*c.Effective.PercentageOfNodesToScore = 12
	before := c.Effective.DeepCopy()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	profiles, err := c.Profiles(devices, configtest.Registry())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Extenders(nil); err != nil {
		t.Error(err)
	}
	if text := write(t, c); !strings.Contains(text, "leaderElect: false") || !strings.Contains(text, "percentageOfNodesToScore: 12") {
		t.Error(text)
	}
	at := slices.IndexFunc(profiles[0].Plugins, func(e extpoints.Entry) bool { return e.Name == plugins.NodeResourcesFit })
	fit := profiles[0].Plugins[at].Args.(noderesources.FitArgs)
	if !slices.Equal(fit.IgnoredResources, []string{"example.com/a"}) || c.PercentageOfNodesToScore() != 12 {
		t.Errorf("%+v", fit)
	}
	if !reflect.DeepEqual(before, &c.Effective) {
		t.Errorf("%+v became %+v", before, c.Effective)
	}
	*c.Effective.LeaderElection.LeaderElect = true
	if err := c.Validate(); err == nil {
		t.Error("a lease shorter than its renewal")
	}
}

// codec is one that can be told from others.
type codec struct{ extender.Neutral }

func TestExtendersGetTheCodec(t *testing.T) {
	t.Parallel()
	list, err := load(t, head+"extenders: [{urlPrefix: 'http://a'}]").Extenders(codec{})
	if err != nil || len(list) != 1 || list[0].Codec != (codec{}) {
		t.Errorf("%+v, %v", list, err)
	}
}

// Every gate is asked for by the name of its field.
func TestGatesOf(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[config.Gates]()
	for i := range fields.NumField() {
		var asked []string
		g := config.GatesOf(func(name featuregate.Feature) bool {
			asked = append(asked, string(name))
			return string(name) == fields.Field(i).Name
		})
		for j := range fields.NumField() {
			if got := reflect.ValueOf(g).Field(j).Bool(); got != (i == j) {
				t.Errorf("%s is on: %s is %v", fields.Field(i).Name, fields.Field(j).Name, got)
			}
		}
		if len(asked) != fields.NumField() {
			t.Errorf("asked for %v", asked)
		}
	}
}

// A plugin that is there by default is one that the registry has, and a second
// registry is not the first.
func TestRegistry(t *testing.T) {
	t.Parallel()
	all := config.Gates{NodeDeclaredFeatures: true, DynamicResourceAllocation: true, GenericWorkload: true, TopologyAwareWorkloadScheduling: true}
	sets := config.Default(all).Effective.Profiles[0].Plugins
	r := config.DefaultRegistry()
	if len(r) != len(sets.MultiPoint.Enabled) {
		t.Errorf("%d plugins, of which %d are there by default", len(r), len(sets.MultiPoint.Enabled))
	}
	for _, plugin := range sets.MultiPoint.Enabled {
		if r[plugin.Name] == nil {
			t.Errorf("there is no %s", plugin.Name)
		}
		delete(r, plugin.Name)
	}
	if len(r) > 0 || len(config.DefaultRegistry()) == 0 {
		t.Errorf("not there by default: %v", r)
	}
}

// The default plugins by gates.
func TestGatesDecideOnPlugins(t *testing.T) {
	t.Parallel()
	has := func(g config.Gates, name string) int {
		return slices.IndexFunc(config.Default(g).Effective.Profiles[0].Plugins.MultiPoint.Enabled, func(p configv1.Plugin) bool { return p.Name == name })
	}
	for name, g := range map[string]config.Gates{
		plugins.NodeDeclaredFeatures:       {NodeDeclaredFeatures: true},
		plugins.DynamicResources:           {DynamicResourceAllocation: true},
		plugins.GangScheduling:             {GenericWorkload: true},
		plugins.TopologyPlacementGenerator: {TopologyAwareWorkloadScheduling: true},
		plugins.PodGroupPodsCount:          {TopologyAwareWorkloadScheduling: true},
		"DeferredPodScheduling":            {InPlacePodVerticalScalingSchedulerPreemption: true},
	} {
		if has(config.Gates{}, name) >= 0 || has(g, name) < 0 {
			t.Errorf("%s: at %d without its gate and at %d with it", name, has(config.Gates{}, name), has(g, name))
		}
	}
	deferred := config.Gates{InPlacePodVerticalScalingSchedulerPreemption: true}
	if has(deferred, "DeferredPodScheduling") != has(deferred, plugins.NodeResourcesFit)-1 {
		t.Error("DeferredPodScheduling is not in front of NodeResourcesFit")
	}
}

// Seconds that no duration can hold are as many as it can.
func TestEndlessSeconds(t *testing.T) {
	t.Parallel()
	q := load(t, head+"podMaxBackoffSeconds: 9223372036854775807").Queue()
	if q.MaxBackoff < 200*365*24*time.Hour || q.InitialBackoff != time.Second {
		t.Errorf("%v to %v", q.InitialBackoff, q.MaxBackoff)
	}
}
