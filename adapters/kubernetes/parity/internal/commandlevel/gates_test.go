package commandlevel

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	kube "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

var update = flag.Bool("update", false, "write the table of feature gates anew")

// The table of feature gates, and what it says of those that decide.
const (
	tableFile    = "../../../app/gates.txt"
	honouredFile = "../../../app/honoured.go"
	settingsFile = "../../../config/gates.go"
)

// The table has the gates of kube-scheduler, with all their versions.
func TestGateTable(t *testing.T) {
	kube.NewSchedulerCommand() // brings the gates to their version
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var head, lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			head = append(head, line)
		} else {
			lines = append(lines, line)
		}
	}
	want := table(utilfeature.DefaultMutableFeatureGate)
	if *update {
		if err := os.WriteFile(tableFile, []byte(strings.Join(append(head, want...), "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("%s lacks %s", tableFile, line)
		}
	}
	for _, line := range lines {
		if !slices.Contains(want, line) {
			t.Errorf("%s has %s", tableFile, line)
		}
	}
}

// table is the table of the gates, line by line, without those that stand for others.
func table(gate featuregate.MutableVersionedFeatureGate) []string {
	all, needs := gate.GetAllVersioned(), gate.Dependencies()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		line := string(name)
		for i, spec := range all[name] {
			line += " " + describe(spec)
			if i > 0 && spec.Version.EqualTo(all[name][i-1].Version) {
				line += ":with-" + spec.MinCompatibilityVersion.String()
			}
		}
		for i, other := range needs[name] {
			if i == 0 {
				line += " needs:"
			} else {
				line += ","
			}
			line += string(other)
		}
		lines = append(lines, line+"\n")
	}
	return lines
}

func describe(spec featuregate.FeatureSpec) string {
	text := spec.Version.String() + ":"
	switch spec.PreRelease {
	case featuregate.GA:
		text += "ga"
	default:
		text += strings.ToLower(fmt.Sprint(spec.PreRelease))
	}
	if spec.Default {
		text += ":on"
	}
	if spec.LockToDefault {
		text += ":locked"
	}
	return text
}

// Every gate that plugins of kube-scheduler look at is spoken of where it is decided
// which are honoured: a new version may have new ones.
func TestGatesOfPlugins(t *testing.T) {
	var spoken string
	for _, file := range []string{honouredFile, settingsFile} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spoken += string(text)
	}
	gates := reflect.TypeFor[feature.Features]()
	for i := range gates.NumField() {
		name := strings.TrimPrefix(gates.Field(i).Name, "Enable")
		if name == "AsyncPreemption" {
			name = "SchedulerAsyncPreemption"
		}
		if !strings.Contains(spoken, name) {
			t.Errorf("nothing is said of feature gate %s", name)
		}
	}
}
