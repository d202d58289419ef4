package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
	"github.com/berth-project/berth/adapters/kubernetes/internal/golden"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins/dynamicresources"
)

// devices is the one evaluator of all tests: it takes time to make.
var devices = cel.New()

// TestDefault says what comes of no file.
func TestDefault(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	describe(t, &out, config.Default(config.DefaultGates()))
	golden.Compare(t, "testdata/default.golden", out.Bytes())
}

// TestCorpus takes each file of testdata as far as it goes, up to an engine, and
// compares what comes of it, as far as it is not the default, with what stands in
// the file beside it. A file whose name begins with "wrong-" is refused by
// kube-scheduler, too, and one with "refused-" is not; the module adapters/
// kubernetes/parity makes sure of that.
func TestCorpus(t *testing.T) {
	t.Parallel()
	var usual bytes.Buffer
	describe(t, &usual, config.Default(config.DefaultGates()))
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := describeFile(t, text)
			if base := filepath.Base(name); ok == (strings.HasPrefix(base, "wrong-") || strings.HasPrefix(base, "refused-")) {
				t.Errorf("good: %v", ok)
			}
			golden.Compare(t, strings.TrimSuffix(name, ".yaml")+".golden", without(got, usual.Bytes()))
		})
	}
}

// without is the text without the lines that the other has, too.
func without(text, other []byte) []byte {
	known := bytes.Split(other, []byte("\n"))
	var kept []byte
	for line := range bytes.Lines(text) {
		if !slices.ContainsFunc(known, func(l []byte) bool { return bytes.Equal(l, bytes.TrimSuffix(line, []byte("\n"))) }) {
			kept = append(kept, line...)
		}
	}
	return kept
}

// describeFile says what happens to a file, and whether an engine can be made of it.
func describeFile(t *testing.T, text []byte) ([]byte, bool) {
	var out bytes.Buffer
	c, err := config.Load(text, gates(t, text))
	if err != nil {
		fmt.Fprintf(&out, "load: %v\n", err)
		return out.Bytes(), false
	}
	ok := describe(t, &out, c)
	return out.Bytes(), ok
}

func describe(t *testing.T, out *bytes.Buffer, c *config.Config) bool {
	if !list(out, "validate", c.Validate()) {
		return false
	}
	extenders, err := c.Extenders(extender.Neutral{})
	ok := list(out, "extenders", err)
	profiles, err := c.Profiles(devices, configtest.Registry())
	if ok = list(out, "profiles", err) && ok; !ok {
		return false
	}
	if !list(out, "engine", makeEngine(c, profiles, extenders)) {
		return false
	}
	describeRest(out, c)
	for i := range profiles {
		describeProfile(t, out, &profiles[i])
	}
	for _, x := range extenders {
		x.Codec = nil
		fmt.Fprintf(out, "extender %s\n", oneLine(t, x))
	}
	return true
}

// gates are the default ones with those that the file changes.
func gates(t *testing.T, text []byte) config.Gates {
	changes, err := configtest.Gates(text)
	if err != nil {
		t.Fatal(err)
	}
	g := config.DefaultGates()
	for name, value := range changes {
		reflect.ValueOf(&g).Elem().FieldByName(name).SetBool(value)
	}
	return g
}

// list writes the errors that are one and reports whether there is none.
func list(out *bytes.Buffer, step string, err error) bool {
	var aggregate utilerrors.Aggregate
	switch {
	case err == nil:
		return true
	case errors.As(err, &aggregate):
		for _, e := range aggregate.Errors() {
			fmt.Fprintf(out, "%s: %v\n", step, e)
		}
	default:
		fmt.Fprintf(out, "%s: %v\n", step, err)
	}
	return false
}

// makeEngine makes an engine that does nothing.
func makeEngine(c *config.Config, profiles []extpoints.Profile, extenders []extender.Config) error {
	made := engine.Config{
		Profiles: profiles, Orchestrator: struct{ extpoints.Orchestrator }{},
		Queue: c.Queue(), Workers: c.Workers(), PercentageOfNodesToScore: c.PercentageOfNodesToScore(),
	}
	for i := range extenders {
		x, err := extender.New(extenders[i])
		if err != nil {
			return err
		}
		defer x.Close()
		made.Extenders = append(made.Extenders, x.Extender)
	}
	_, err := engine.NewRaw(made)
	return err
}

func describeRest(out *bytes.Buffer, c *config.Config) {
	e, q := &c.Effective, c.Queue()
	fmt.Fprintf(out, "workers %d, percentage %d, backoff %v to %v", c.Workers(), c.PercentageOfNodesToScore(), q.InitialBackoff, q.MaxBackoff)
	if q.NoPopFromBackoff {
		fmt.Fprint(out, ", not cut short")
	}
	l, k := &e.LeaderElection, &e.ClientConnection
	fmt.Fprintf(out, "\nlease %v %s %s/%s %v %v %v\n", *l.LeaderElect, l.ResourceLock, l.ResourceNamespace, l.ResourceName,
		l.LeaseDuration.Duration, l.RenewDeadline.Duration, l.RetryPeriod.Duration)
	fmt.Fprintf(out, "connection %q %v %d %q %q\n", k.Kubeconfig, k.QPS, k.Burst, k.ContentType, k.AcceptContentTypes)
	fmt.Fprintf(out, "profiling %v %v, delay %v\n", *e.EnableProfiling, *e.EnableContentionProfiling, e.DelayCacheUntilActive)
}

func describeProfile(t *testing.T, out *bytes.Buffer, p *extpoints.Profile) {
	fmt.Fprintf(out, "profile %s", p.Name)
	if p.PercentageOfNodesToScore != nil {
		fmt.Fprintf(out, ", percentage %d", *p.PercentageOfNodesToScore)
	}
	fmt.Fprintln(out)
	fmt.Fprint(out, "  plugins:")
	args := map[string]any{}
	for _, e := range p.Plugins {
		fmt.Fprintf(out, " %s", e.Name)
		if e.Weight != 0 {
			fmt.Fprintf(out, "=%d", e.Weight)
		}
		for _, point := range e.Points {
			fmt.Fprintf(out, "@%s", point)
		}
		switch {
		case len(e.Except) == len(extpoints.Points())-1: // all but PlacementFeasible
			fmt.Fprint(out, "-*")
		default:
			for _, point := range e.Except {
				fmt.Fprintf(out, "-%s", point)
			}
		}
		if e.Args != nil {
			args[e.Name] = e.Args
		}
	}
	fmt.Fprintln(out)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		describeArgs(t, out, name, args[name])
	}
}

func describeArgs(t *testing.T, out *bytes.Buffer, name string, args any) {
	if a, ok := args.(dynamicresources.Args); ok {
		if a.Evaluator != devices {
			t.Errorf("the evaluator is %v", a.Evaluator)
		}
		a.Evaluator = nil
		args = a
	}
	if u, ok := args.(*runtime.Unknown); ok {
		fmt.Fprintf(out, "  args %s: %s as it stands there\n", name, u.Raw)
		return
	}
	fmt.Fprintf(out, "  args %s: %s\n", name, oneLine(t, args))
}

func oneLine(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
