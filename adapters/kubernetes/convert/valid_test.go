package convert

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/model"
)

// rounds is how many random objects the random tests draw.
func rounds() int {
	if testing.Short() {
		return 300
	}
	return 3000
}

// validator is what every object of the model is.
type validator interface{ Validate() error }

// TestWhatIsLetInIsTranslated: whatever the API server lets in becomes a valid
// object of the model, without complaint.
func TestWhatIsLetInIsTranslated(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, false)
	for i := range rounds() {
		pod, node := g.pod(i), g.node(i)
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: g.labelSelector()}}

		w, err := Gates{TaintTolerationComparisonOperators: i%2 == 0}.Pod(pod)
		mustBeValid(t, pod, w, err)
		n, err := Node(node)
		mustBeValid(t, node, n, err)
		b, err := Budget(budget, nil)
		mustBeValid(t, budget, b, err)
		pod, owners := g.owners()
		if err := validOwner(pod, owners); err != nil {
			t.Fatalf("%v, of %s", err, show(owners))
		}
	}
}

func mustBeValid(t *testing.T, from any, to validator, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v, of %s", err, show(from))
	}
	if err := to.Validate(); err != nil {
		t.Fatalf("what it became is not valid: %v, of %s", err, show(from))
	}
}

// validOwner is what is wrong with the selector, if anything.
func validOwner(p *v1.Pod, o Owners) error {
	return (&model.Workload{ID: "w", OwnerSelector: OwnerSelector(p, o)}).Validate()
}

// TestWhatIsLeftIsValid: of an object that nobody should let in, every problem
// is named, and what is left is valid.
func TestWhatIsLeftIsValid(t *testing.T) {
	t.Parallel()
	g := newGenerator(t, true)
	for i := range rounds() {
		pod := g.pod(i)
		w, err := Gates{TaintTolerationComparisonOperators: i%2 == 0}.Pod(pod)
		if w == nil {
			t.Fatalf("nothing is left of %s", show(pod))
		}
		mustBeExplained(t, pod, w, err)
		node := g.node(i)
		if n, err := Node(node); n != nil {
			mustBeExplained(t, node, n, err)
		} else if node.Name != "" || err == nil {
			t.Fatalf("nothing is left of %s: %v", show(node), err)
		}
	}
}

func mustBeExplained(t *testing.T, from any, to validator, err error) {
	t.Helper()
	if err := to.Validate(); err != nil {
		t.Fatalf("what is left is not valid: %v, of %s", err, show(from))
	}
	var e *model.ValidationError
	switch {
	case err == nil:
	case !errors.As(err, &e) || len(e.Problems) == 0 || !errors.Is(err, model.ErrInvalid):
		t.Fatalf("the error is no list of problems: %v", err)
	default:
		for _, p := range e.Problems {
			if p.Field == "" || p.Message == "" {
				t.Fatalf("a problem does not say what it is: %v", err)
			}
		}
	}
}

func show(v any) string {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// FuzzPod: no pod that can be read as JSON makes an invalid workload.
func FuzzPod(f *testing.F) {
	addFiles(f, "testdata/pod-*.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		var p v1.Pod
		if json.Unmarshal(data, &p) != nil {
			return
		}
		for _, on := range []bool{false, true} {
			w, err := Gates{TaintTolerationComparisonOperators: on}.Pod(&p)
			mustBeExplained(t, &p, w, err)
		}
		Status(&p)
	})
}

// FuzzNode: no node that can be read as JSON makes an invalid one.
func FuzzNode(f *testing.F) {
	addFiles(f, "testdata/node-*.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		var n v1.Node
		if json.Unmarshal(data, &n) != nil {
			return
		}
		if m, err := Node(&n); m != nil {
			mustBeExplained(t, &n, m, err)
		} else if err == nil {
			t.Fatal("a node came to nothing, without a word")
		}
	})
}

func addFiles(f *testing.F, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			f.Fatalf("%s: %v", name, err)
		}
		f.Add(data)
	}
}
