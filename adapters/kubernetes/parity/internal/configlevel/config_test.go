package configlevel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/noderesources"
)

// corpus are the files that adapters/kubernetes/config tests itself with.
const corpus = "../../../config/testdata/*.yaml"

// Every file of the corpus: the same is taken and refused, with the same errors, and
// what is taken comes to the same.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob(corpus)
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			o, err := Compare(text, Mistake{})
			if err != nil {
				t.Fatal(err)
			}
			base := filepath.Base(name)
			wrong, refused := strings.HasPrefix(base, "wrong-"), strings.HasPrefix(base, "refused-")
			if wrong != (len(o.Kube) > 0) || (wrong || refused) != (len(o.Berth) > 0) {
				t.Errorf("kube-scheduler %q, berth %q", o.Kube, o.Berth)
			}
			for _, d := range o.Differences {
				t.Error(d)
			}
		})
	}
}

// Random files, above all random sets of plugins.
func TestRandom(t *testing.T) {
	seed, cases := modeltest.Seed(t), 600
	if testing.Short() {
		cases = 60
	}
	s, err := newSource()
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]int{}
	for i := range cases {
		text := s.file(seed, uint64(i))
		o, err := Compare(text, Mistake{})
		if err != nil {
			t.Fatalf("BERTH_SEED=%d, file %d: %v\n%s", seed, i, err, text)
		}
		if (len(o.Kube) > 0) != (len(o.Berth) > 0) || len(o.Differences) > 0 {
			t.Fatalf("BERTH_SEED=%d, file %d: kube-scheduler %q, berth %q\n%s\n%s", seed, i, o.Kube, o.Berth, strings.Join(o.Differences, "\n"), text)
		}
		stage := taken
		if len(o.Kube) > 0 {
			stage, _, _ = strings.Cut(o.Kube[0], ":")
		}
		stages[stage]++
	}
	t.Log(stages)
	for stage, least := range map[string]int{taken: cases / 4, loading: 1, validating: cases / 10, making: cases / 20} {
		if stages[stage] < least {
			t.Errorf("%s: only %d of %d files", stage, stages[stage], cases)
		}
	}
}

// What is changed on Berth's side is noticed: each line makes one mistake.
func TestMistakesAreNoticed(t *testing.T) {
	read := func(change func(*configv1.KubeSchedulerConfiguration)) Mistake {
		return Mistake{Config: func(c *config.Config) { change(&c.Effective) }}
	}
	made := func(change func(*extpoints.Profile)) Mistake {
		return Mistake{Profiles: func(list []extpoints.Profile) { change(&list[0]) }}
	}
	for name, mistake := range map[string]Mistake{
		"another default": read(func(c *configv1.KubeSchedulerConfiguration) { c.LeaderElection.ResourceName = "scheduler" }),
		"another argument": read(func(c *configv1.KubeSchedulerConfiguration) {
			for _, entry := range c.Profiles[0].PluginConfig {
				if fit, ok := entry.Args.Object.(*configv1.NodeResourcesFitArgs); ok {
					fit.IgnoredResources = []string{"example.com/x"}
				}
			}
		}),
		"a lost argument": read(func(c *configv1.KubeSchedulerConfiguration) {
			c.Profiles[0].PluginConfig = c.Profiles[0].PluginConfig[1:]
		}),
		"a wrong value":      read(func(c *configv1.KubeSchedulerConfiguration) { *c.Parallelism = 0 }),
		"a profile too many": read(func(c *configv1.KubeSchedulerConfiguration) { c.Profiles = append(c.Profiles, c.Profiles[0]) }),
		"another order": made(func(p *extpoints.Profile) {
			slices.Reverse(p.Plugins)
		}),
		"another weight": made(func(p *extpoints.Profile) { p.Plugins[5].Weight++ }),
		"a plugin less":  made(func(p *extpoints.Profile) { p.Plugins = p.Plugins[1:] }),
		"another point": made(func(p *extpoints.Profile) {
			for i := range p.Plugins {
				p.Plugins[i].Except = []extpoints.Point{"Reserve"}
			}
		}),
		"arguments less":    made(func(p *extpoints.Profile) { entry(p, "NodeAffinity").Args = nil }),
		"arguments refused": made(func(p *extpoints.Profile) { entry(p, "NodeResourcesFit").Args = noderesources.BalancedAllocationArgs{} }),
		"another share":     made(func(p *extpoints.Profile) { p.PercentageOfNodesToScore = new(int32(7)) }),
		"another name":      made(func(p *extpoints.Profile) { p.Name = "other" }),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(strings.Replace(corpus, "*", "empty", 1))
			if err != nil {
				t.Fatal(err)
			}
			o, err := Compare(text, mistake)
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Differences) == 0 && len(o.Berth) == 0 {
				t.Error("nobody noticed")
			}
		})
	}
}

// entry is the first of the plugin.
func entry(p *extpoints.Profile, name string) *extpoints.Entry {
	return &p.Plugins[slices.IndexFunc(p.Plugins, func(e extpoints.Entry) bool { return e.Name == name })]
}
