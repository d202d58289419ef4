package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

const second = "\n---\napiVersion: " + queueing.APIVersion + "\nkind: " + queueing.Kind + "\n"

// The second document of a file is about queues, and is written again.
func TestSecondDocument(t *testing.T) {
	c := load(t, head+second+"queues: [{name: a, max: {cpu: 500m}}]\nholds: [{name: h, nodes: [n1], until: \"2030-01-01T00:00:00Z\"}]\n")
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.Queueing == nil || len(c.Queueing.Queues) != 1 {
		t.Fatalf("it has %+v", c.Queueing)
	}
	first := write(t, c)
	if again := write(t, load(t, first)); again != first {
		t.Errorf("it was first written as\n%s\nand then as\n%s", first, again)
	}
	if _, text, _ := strings.Cut(first, "\n---\n"); !strings.Contains(text, "cpu: 500m") || !strings.Contains(text, "until: \"2030-01-01T00:00:00Z\"") {
		t.Errorf("it was written as\n%s", text)
	}
}

// Every profile heeds holds where there are some.
func TestHoldsInProfiles(t *testing.T) {
	has := func(c *config.Config) bool {
		profiles, err := c.Profiles(devices, config.DefaultRegistry())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(profiles[0].Plugins, func(e extpoints.Entry) bool { return e.Name == plugins.NodeHolds })
	}
	if has(load(t, head+second+"queues: [{name: a}]")) {
		t.Error("NodeHolds is in the profile, and there is no hold")
	}
	if !has(load(t, head+second+"holds: [{name: h, nodes: [n1]}]")) {
		t.Error("NodeHolds is not in the profile")
	}
}

func TestSecondDocumentRefused(t *testing.T) {
	for text, want := range map[string]string{
		head + "---\nkind: Other\n":                  "second document: Other of : not a QueueingConfiguration",
		head + second + "queus: []":                  "QueueingConfiguration: queus: unknown field",
		head + second + "queues: []\nqueues: []":     `line 8: key "queues" already set in map`,
		head + second + "queues: []" + second:        "there are more than two documents: 3",
		strings.TrimPrefix(second, "\n---\n") + "\n": "the first document must be the KubeSchedulerConfiguration",
	} {
		if _, err := config.Load([]byte(text), config.DefaultGates()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := config.Load([]byte(head+second+second), config.DefaultGates()); !errors.Is(err, config.ErrDocuments) {
		t.Errorf("three documents: %v", err)
	}
	if _, err := config.Load([]byte(strings.TrimPrefix(second, "\n---\n")+"---\n"+head), config.DefaultGates()); !errors.Is(err, config.ErrOrder) {
		t.Errorf("the other order: %v", err)
	}
	err := load(t, head+"parallelism: -1"+second+"defaultQueue: none").Validate()
	for _, want := range []string{"parallelism", `QueueingConfiguration: defaultQueue: Not found: "none"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// What is wrong with the one document does not hide what is wrong with the other, whatever it is.
func TestBothDocumentsRefused(t *testing.T) {
	const wrong = second + "defaultQueue: none\nlimits: [{name: l, queue: q, scope: Own, amountt: 3}]\n"
	for text, want := range map[string][]string{
		head + "parallel: 3\npercentageOfNodesToScore: 101" + wrong: {`unknown field "parallel"`, "limits[0].amountt: unknown field", "defaultQueue: Not found"},
		head + "parallelism: many" + wrong:                          {"parallelism of type int32", "limits[0].amountt: unknown field"},
		head + "parallelism: many" + second + "defaultQueue: none":  {"parallelism of type int32", "defaultQueue: Not found"},
		head + "profiles: [" + second + "defaultQueue: none":        {"yaml: line", "defaultQueue: Not found"},
		strings.TrimPrefix(wrong, "\n---\n") + "---\n" + head + "parallel: 3": {
			"the first document must be the KubeSchedulerConfiguration", `unknown field "parallel"`, "limits[0].amountt: unknown field",
		},
	} {
		c, err := config.Load([]byte(text), config.DefaultGates())
		if c != nil {
			err = errors.Join(err, c.Validate())
		}
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: nothing says %q: %v", text, part, err)
			}
		}
	}
}
