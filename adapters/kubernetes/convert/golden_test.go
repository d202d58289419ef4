package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/internal/golden"
)

// TestGolden translates the objects of each file of testdata and compares with
// what stands in the file beside it. What a file says of services, sets, priority
// classes and pod groups counts for the pods after it.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := translate(t, text)
			golden.Compare(t, strings.TrimSuffix(name, ".yaml")+".golden", got)
		})
	}
}

// translate is what happens to the objects of a file.
func translate(t *testing.T, text []byte) []byte {
	var out bytes.Buffer
	var owners Owners
	var classes []PriorityClass
	groups := map[string]*schedulingv1beta1.PodGroup{}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var of struct{ Kind string }
		parse(t, document, &of)
		switch of.Kind {
		case "Service":
			owners.Services = append(owners.Services, parse(t, document, &v1.Service{}))
		case "ReplicationController":
			owners.ReplicationControllers = append(owners.ReplicationControllers, parse(t, document, &v1.ReplicationController{}))
		case "ReplicaSet":
			owners.ReplicaSets = append(owners.ReplicaSets, parse(t, document, &appsv1.ReplicaSet{}))
		case "StatefulSet":
			owners.StatefulSets = append(owners.StatefulSets, parse(t, document, &appsv1.StatefulSet{}))
		case "PriorityClass":
			c, err := PriorityClassOf(parse(t, document, &schedulingv1.PriorityClass{}))
			classes = append(classes, c)
			write(t, &out, "priority class", c, err)
		case "Pod":
			p := parse(t, document, &v1.Pod{})
			w, err := Pod(p)
			w.OwnerSelector = OwnerSelector(p, owners)
			write(t, &out, "workload", w, err)
			if p.Spec.Priority == nil && len(classes) > 0 {
				write(t, &out, "workload, prioritized", w, Prioritize(w, p, classes))
			}
			if g := groups[w.Group]; g != nil {
				refs, err := DeviceClaimRefs(p, g)
				write(t, &out, "device claims, with the group", refs, err)
			}
			write(t, &out, "status", Status(p), nil)
		case "PodGroup":
			g := parse(t, document, &schedulingv1beta1.PodGroup{})
			m, err := Group(g, Gates{PodGroupPreemptionPolicy: true})
			groups[m.ID] = g
			write(t, &out, "group", m, err)
		case "Node":
			n, err := Node(parse(t, document, &v1.Node{}))
			write(t, &out, "node", n, err)
		case "PodDisruptionBudget":
			b, err := Budget(parse(t, document, &policyv1.PodDisruptionBudget{}), func(namespace, name string) string {
				return map[string]string{"default/web-1": "uid of web-1"}[namespace+"/"+name]
			})
			write(t, &out, "budget", b, err)
		case "Namespace":
			write(t, &out, "namespace", Namespace(parse(t, document, &v1.Namespace{})), nil)
		default:
			if !translateDevices(t, &out, of.Kind, document) && !translateStorage(t, &out, of.Kind, document) {
				t.Fatalf("unknown kind %q", of.Kind)
			}
		}
	}
	return out.Bytes()
}

func parse[T any](t *testing.T, document []byte, into T) T {
	t.Helper()
	if err := yaml.Unmarshal(document, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// write writes an object, without its empty fields, and what is wrong with it.
func write(t *testing.T, out *bytes.Buffer, heading string, object any, problem error) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var fields any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	text, err = yaml.Marshal(withoutZeros(fields))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(out, "# %s\n%s", heading, text)
	if problem != nil {
		fmt.Fprintf(out, "# error\n%s\n", strings.NewReplacer(": spec.", ":\n  spec.", ": status.", ":\n  status.", "; ", "\n  ").Replace(problem.Error()))
	}
}

// withoutZeros leaves out fields that are zero, but not structures that are
// empty.
func withoutZeros(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			switch field := withoutZeros(field); field {
			case nil, "", false, 0.0, "0001-01-01T00:00:00Z":
				delete(v, name)
			default:
				v[name] = field
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutZeros(v[i])
		}
	}
	return v
}
