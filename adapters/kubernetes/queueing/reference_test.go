package queueing_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/engine"
)

// The reference names every field, each in its section, and its example is a document that is valid
// and uses every part.
func TestReference(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	reference := string(text)
	if lines := strings.Count(reference, "\n"); lines > 100 {
		t.Errorf("it has %d lines, more than a page", lines)
	}
	for section, of := range map[string]reflect.Type{
		"":         reflect.TypeFor[queueing.Configuration](),
		"queues":   reflect.TypeFor[queueing.Queue](),
		"limits":   reflect.TypeFor[queueing.Limit](),
		"backfill": reflect.TypeFor[queueing.Backfill](),
		"holds":    reflect.TypeFor[queueing.Hold](),
	} {
		part := reference
		if section != "" {
			_, part, _ = strings.Cut(reference, "\n## "+section+"\n")
		}
		part, _, _ = strings.Cut(part, "\n## ")
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !strings.Contains(part, "`"+name+"`") {
				t.Errorf("section %q says nothing of %s", section, name)
			}
		}
	}
	for f := range reflect.TypeFor[queueing.ElasticQuota]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(reference, "`"+name+"`") {
			t.Errorf("it says nothing of %s of elastic quotas", name)
		}
	}
}

func TestReferenceExample(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "---\napiVersion: "+queueing.APIVersion)
	document, _, _ := strings.Cut(rest, "```")
	c := load(t, "apiVersion: "+queueing.APIVersion+document)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for f, value := range reflect.ValueOf(*c).Fields() {
		if f.Name != "QuotaObjects" && value.IsZero() {
			t.Errorf("the example says nothing of %s", f.Name)
		}
	}
	if c.Plan().Mode != engine.EASY {
		t.Errorf("the plan is %+v", c.Plan())
	}
}

// The scopes, policies, modes and other names that a field may have are all in the reference.
func TestReferenceNames(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	problems := load(t, header+"queues: [{name: a, policy: x, reclaim: x}]\nlimits: [{name: l, queue: a, scope: x, amount: 1}]\nbackfill: {mode: x}").Validate().Error()
	names := 0
	for word := range strings.FieldsFuncSeq(problems, func(r rune) bool { return strings.ContainsRune(` ,"]`, r) }) {
		if word[0] < 'A' || word[0] > 'Z' || word == "Invalid" || word == "Unsupported" {
			continue
		}
		names++
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("it says nothing of %s", word)
		}
	}
	if names != 15 { // policies, ways of reclaim, scopes and modes
		t.Errorf("%d names in %s", names, problems)
	}
}
