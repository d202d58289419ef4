package app

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/component-base/configz"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
)

func plugin(any, extpoints.Handle) (extpoints.Plugin, error) { return slow{}, nil }

func TestOptions(t *testing.T) {
	handler := func(*engine.Engine) http.Handler { return http.NotFoundHandler() }
	tests := []struct {
		name string
		list []Option
		want []string // parts of the error; none: there is none
	}{
		{name: "none"},
		{name: "some", list: []Option{WithPlugin("A", plugin), WithPlugin("B", plugin), WithHandler("/x/", handler)}},
		{name: "wrong ones", list: []Option{WithPlugin("A", plugin), WithPlugin("A", plugin), WithHandler("x", handler)},
			want: []string{`"A": the name is taken`, `path "x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := collect(tt.list)
			if (err != nil) != (tt.want != nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("nothing says %q: %v", part, err)
				}
			}
			if err == nil && len(s.plugins)+len(s.mounts) != len(tt.list) {
				t.Errorf("got %v", s)
			}
		})
	}
}

// made is what newScheduler makes of a file and flags, over a server that is not there.
func made(t *testing.T, s *settings, fields string, args ...string) (*scheduler, error) {
	t.Helper()
	if s.plugins == nil {
		s.plugins = config.Registry{}
	}
	return newScheduler(parsed(t, append(args, "--config="+file(t, fields), "--master=http://localhost:1")...), s)
}

// What the plugins and extenders have against a configuration is said when they are
// made.
func TestPluginsRefuse(t *testing.T) {
	tests := []struct {
		name, fields string
		plugins      config.Registry
		want         []string
	}{
		{"a plugin that does not exist", "profiles: [{plugins: {score: {enabled: [{name: Nope}]}}}]", nil, []string{"Nope"}},
		{"one of a name that is taken", "", config.Registry{"NodeName": plugin}, []string{"NodeName"}},
		{"arguments that Berth cannot follow", "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {resources: [{name: ''}]}}}]}]", nil, []string{"profiles[0].pluginConfig[0].args"}},
		{"extenders", "extenders: [{urlPrefix: 'ftp://a', filterVerb: f}, {urlPrefix: 'http://b', filterVerb: f, httpTimeout: -1s}]", nil, []string{"extenders[0]", "extenders[1]"}},
		{"extenders' files", "extenders: [{urlPrefix: 'https://a', filterVerb: f, tlsConfig: {caFile: /nope/a}}, {urlPrefix: 'https://b', filterVerb: f, tlsConfig: {caFile: /nope/b}}]", nil, []string{"/nope/a", "/nope/b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := made(t, &settings{plugins: tt.plugins}, tt.fields)
			if err == nil {
				t.Fatal("they are taken")
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("nothing says %q: %v", part, err)
				}
			}
		})
	}
}

// --write-config-to writes what counts, flags included, and ends.
func TestWriteConfig(t *testing.T) {
	s, err := made(t, &settings{}, "parallelism: 3", "--leader-elect-retry-period=4s")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "effective.yaml")
	if done, err := s.writeConfig(name); !done || err != nil {
		t.Fatalf("done: %t, %v", done, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"parallelism: 3\n", "retryPeriod: 4s\n", "percentageOfNodesToScore: 0\n", "name: NodeResourcesFit\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
	if done, err := s.writeConfig(""); done || err != nil {
		t.Errorf("without the flag: done: %t, %v", done, err)
	}
	if _, err := s.writeConfig(filepath.Join(name, "x")); err == nil || !strings.Contains(err.Error(), "--write-config-to") {
		t.Errorf("where it cannot be written: %v", err)
	}
}

// What the flags and the file say reaches the engine.
func TestEngineConfig(t *testing.T) {
	s, err := made(t, &settings{}, "parallelism: 1\npercentageOfNodesToScore: 70\npodInitialBackoffSeconds: 2\npodMaxBackoffSeconds: 30\n",
		"--pod-max-in-unschedulable-pods-duration=7m", "--feature-gates=SchedulerPopFromBackoffQ=false")
	if err != nil {
		t.Fatal(err)
	}
	c := s.engineConfig(nil)
	if c.Workers != 1 || c.PercentageOfNodesToScore != 70 || !c.Queue.NoPopFromBackoff {
		t.Errorf("got %+v", c)
	}
	if q := c.Queue; q.InitialBackoff.Seconds() != 2 || q.MaxBackoff.Seconds() != 30 || q.MaxInUnschedulable.Minutes() != 7 {
		t.Errorf("got %+v", q)
	}
}

// /configz shows the configuration as kube-scheduler does: with its kind, and those of
// the plugins' arguments.
func TestConfigz(t *testing.T) {
	s, err := made(t, &settings{}, "parallelism: 3\nprofiles: [{schedulerName: x, pluginConfig: [{name: Mine, args: {a: 1}}]}]")
	if err != nil {
		t.Fatal(err)
	}
	unregister, err := s.registerConfig()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.registerConfig(); err == nil {
		t.Error("there are two in one process")
	}
	shown := func() string {
		paths := http.NewServeMux()
		configz.InstallHandler(paths)
		return ask(paths, "GET", "/configz", "", "").Body.String()
	}
	got := shown()
	for _, want := range []string{
		`{"componentconfig":{"kind":"KubeSchedulerConfiguration","apiVersion":"kubescheduler.config.k8s.io/v1","parallelism":3,`,
		`{"name":"NodeResourcesFit","args":{"kind":"NodeResourcesFitArgs","apiVersion":"kubescheduler.config.k8s.io/v1","scoringStrategy":`,
		`{"name":"Mine","args":{"a":1}}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not there: %s", want, got)
		}
	}
	unregister()
	if got := shown(); strings.Contains(got, "componentconfig") {
		t.Errorf("it is still there: %s", got)
	}
}
