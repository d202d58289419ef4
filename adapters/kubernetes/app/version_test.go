package app

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/version/verflag"
)

func TestVersion(t *testing.T) {
	for asked, want := range map[string]string{
		"--version":       "Kubernetes v1.37.1\n",
		"--version=true":  "Kubernetes v1.37.1\n",
		"--version=raw":   `version.Info{Major:"1", Minor:"37", `,
		"--version=false": "",
	} {
		var out bytes.Buffer
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		verflag.AddFlags(flags)
		if err := flags.Parse([]string{asked}); err != nil {
			t.Fatal(err)
		}
		version := flags.Lookup("version").Value
		printed := printVersion(&out, version.String())
		if err := version.Set("false"); err != nil { // it is the process's
			t.Fatal(err)
		}
		if printed != (want != "") || !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: printed %q", asked, out.String())
		}
	}
}

func TestVersionIsAMetric(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	registerBuildInfo(registry.MustRegister)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "kubernetes_build_info" {
			labels := f.GetMetric()[0].String()
			if !strings.Contains(labels, `"v1.37.1"`) || strings.Contains(labels, "Format") {
				t.Errorf("got %s", labels)
			}
			return
		}
	}
	t.Error("there is no kubernetes_build_info")
}
