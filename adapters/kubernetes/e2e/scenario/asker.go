package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// asker is a user of "kubectl berth". It is told where the scheduler serves: the way
// through the API server ends at a kubelet, and there is none.
type asker struct {
	env       *Env
	scheduler *controlplane.Scheduler
	user      string
}

// asker is the operator, who may ask this scheduler.
func (e *Env) asker(t *testing.T, s *controlplane.Scheduler) *asker {
	t.Helper()
	e.grant(t, explainRole(t), operator)
	return &asker{env: e, scheduler: s, user: operator}
}

// run runs the program, and returns what it shows and what it complains of.
func (a *asker) run(t *testing.T, args ...string) (code int, out, complaints string) {
	t.Helper()
	return a.env.kubectlBerth(t, a.user,
		append([]string{"--scheduler", a.scheduler.URL(), "--scheduler-certificate-authority", a.scheduler.CAFile()}, args...)...)
}

// kubectlBerth runs the program as the user.
func (e *Env) kubectlBerth(t *testing.T, user string, args ...string) (code int, out, complaints string) {
	t.Helper()
	path, err := controlplane.Path(t.Context(), controlplane.KubectlBerth)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append([]string{"--kubeconfig", e.Plane.Kubeconfig(user)}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// ask returns what the program shows, which must not fail.
func (a *asker) ask(t *testing.T, args ...string) string {
	t.Helper()
	code, out, complaints := a.run(t, args...)
	if code != 0 || complaints != "" {
		t.Fatalf("%q: exit code %d: %s%s", args, code, out, complaints)
	}
	return out
}

// askJSON asks for JSON, and reads it into x.
func (a *asker) askJSON(t *testing.T, x any, args ...string) {
	t.Helper()
	if out := a.ask(t, append(args, "-o", "json")...); json.Unmarshal([]byte(out), x) != nil {
		t.Fatalf("%q: it is no JSON of %T:\n%s", args, x, out)
	}
}

// wantFailure checks that the program ends with exit code 1, shows nothing, and
// complains of all the parts.
func wantFailure(t *testing.T, parts ...string) func(code int, out, complaints string) {
	t.Helper()
	return func(code int, out, complaints string) {
		t.Helper()
		for _, part := range parts {
			if code != 1 || out != "" || !strings.Contains(complaints, part) {
				t.Errorf("exit code %d, want 1 and %q\n%s%s", code, part, out, complaints)
			}
		}
	}
}

// wantLines checks that the text has the lines, however many blanks are in them.
func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	var all []string
	for line := range strings.Lines(text) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	got := "\n" + strings.Join(all, "\n") + "\n"
	for _, line := range lines {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("there is no line %q in\n%s", line, text)
		}
	}
}

// explainRole is the role that Berth is deployed with for those who may ask.
func explainRole(t *testing.T) *rbacv1.ClusterRole {
	t.Helper()
	return manifest[rbacv1.ClusterRole](t, "explain.yaml", "ClusterRole")
}

// manifest is the first object of the kind in the file of those that Berth is deployed with.
func manifest[T any](t *testing.T, name, kind string) *T {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "deploy", "base", name))
	must(t, err)
	defer file.Close()
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		var text runtime.RawExtension
		if err := decoder.Decode(&text); errors.Is(err, io.EOF) {
			t.Fatalf("there is no %s in %s", kind, file.Name())
		}
		var is metav1.TypeMeta
		must(t, json.Unmarshal(text.Raw, &is))
		if is.Kind == kind {
			o := new(T)
			must(t, json.Unmarshal(text.Raw, o))
			return o
		}
	}
}

// grant lets the user have the role until the end of the test, and returns when the
// API server knows.
func (e *Env) grant(t *testing.T, role *rbacv1.ClusterRole, user string) {
	t.Helper()
	e.Create(t, role, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	t.Cleanup(func() {
		rbac := e.Client.RbacV1()
		err := rbac.ClusterRoleBindings().Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		must(t, errors.Join(err, rbac.ClusterRoles().Delete(context.Background(), role.Name, metav1.DeleteOptions{})))
	})
	for _, rule := range role.Rules {
		e.allowed(t, rule, user)
	}
}

// mayLook lets the user look for the scheduler, by the role that Berth is deployed with for
// that, until the end of the test, and returns when the API server knows.
func (e *Env) mayLook(t *testing.T, user string) {
	t.Helper()
	role := manifest[rbacv1.Role](t, "explain.yaml", "Role")
	e.Create(t, role, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: role.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
	t.Cleanup(func() {
		rbac := e.Client.RbacV1()
		err := rbac.RoleBindings(role.Namespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})
		must(t, errors.Join(err, rbac.Roles(role.Namespace).Delete(context.Background(), role.Name, metav1.DeleteOptions{})))
	})
	for _, rule := range role.Rules {
		e.allowedIn(t, role.Namespace, rule, user)
	}
}

// allowed waits until the user may do the first thing that the rule allows.
func (e *Env) allowed(t *testing.T, rule rbacv1.PolicyRule, user string) {
	t.Helper()
	e.allowedIn(t, "", rule, user)
}

// allowedIn is allowed for a rule about objects in a namespace.
func (e *Env) allowedIn(t *testing.T, namespace string, rule rbacv1.PolicyRule, user string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user}}
	if len(rule.NonResourceURLs) > 0 {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: rule.NonResourceURLs[0], Verb: rule.Verbs[0]}
	} else {
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		of := &authorizationv1.ResourceAttributes{Namespace: namespace, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0]}
		if len(rule.ResourceNames) > 0 {
			of.Name = rule.ResourceNames[0]
		}
		review.Spec.ResourceAttributes = of
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		got, err := e.Client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		must(t, err)
		if got.Status.Allowed {
			return
		}
		select {
		case <-again.C:
		case <-t.Context().Done():
			t.Fatal(fmt.Errorf("%s is not let: %w", user, context.Cause(t.Context())))
		}
	}
}
