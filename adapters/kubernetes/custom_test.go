package kubernetes_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/customresources"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

// custom is an API server in memory with custom resources of one kind.
type custom struct {
	*testing.T
	client   dynamic.Interface
	resource schema.GroupVersionResource
}

func newCustom(t *testing.T, kind customresources.Kind, list string) *custom {
	t.Helper()
	resource, known := kind.Resource()
	if !known {
		t.Fatalf("there is no kind %q", kind)
	}
	return &custom{t, dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{resource: list}), resource}
}

// put makes the object of the text, or changes it.
func (c *custom) put(text string) {
	c.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		c.Fatal(err)
	}
	all := c.client.Resource(c.resource).Namespace(o.GetNamespace())
	_, err := all.Create(c.Context(), &o, metav1.CreateOptions{})
	if err != nil {
		_, err = all.Update(c.Context(), &o, metav1.UpdateOptions{})
	}
	if err != nil {
		c.Fatal(err)
	}
	synctest.Wait()
}

func (c *custom) remove(namespace, name string) {
	c.Helper()
	if err := c.client.Resource(c.resource).Namespace(namespace).Delete(c.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
	synctest.Wait()
}

// said is what was logged.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) logger() *logr.Logger { return s.loggerAt(0) }

// loggerAt logs up to the verbosity.
func (s *said) loggerAt(verbosity int) *logr.Logger {
	l := funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, args)
	}, funcr.Options{Verbosity: verbosity})
	return &l
}

// about are the lines that have one of the words.
func (s *said) about(words ...string) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

// once checks that one line has all the words, and forgets all lines.
func (s *said) once(t *testing.T, words ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, line := range s.lines {
		has := true
		for _, w := range words {
			has = has && strings.Contains(line, w)
		}
		if has {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d lines have %q:\n%s", n, words, strings.Join(s.lines, "\n"))
	}
	s.lines = nil
}

func TestCustomOptions(t *testing.T) {
	client := kubetest.NewServer()
	for _, c := range []struct {
		custom kubernetes.Custom
		want   string
	}{
		{kubernetes.Custom{Kinds: []customresources.Kind{customresources.SeccompProfiles}}, "options: custom: client: there is none"},
		{kubernetes.Custom{Client: newCustom(t, customresources.AppGroups, "AppGroupList").client, Kinds: []customresources.Kind{customresources.AppGroups}}, "is none that an adapter reads"},
	} {
		_, err := kubernetes.New(kubernetes.Options{Client: client, Profiles: []string{"p"}, Custom: c.custom})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
