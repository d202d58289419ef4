// Package deploy has the manifests by which the scheduler is deployed; see the README
// of the module.
package deploy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/berth-project/berth/adapters/kubernetes/app"
	"github.com/berth-project/berth/adapters/kubernetes/config"
)

// kustomization is what is used of kustomize's file.
type kustomization struct {
	metav1.TypeMeta    `json:",inline"`
	Namespace          string              `json:"namespace"`
	Resources          []string            `json:"resources"`
	ConfigMapGenerator []map[string]any    `json:"configMapGenerator"`
	Images             []map[string]string `json:"images"`
	Patches            []map[string]string `json:"patches"`
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// decoder reads objects strictly.
var decoder = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// manifest is the one object of a file.
func manifest[T runtime.Object](t *testing.T, name string) T {
	t.Helper()
	o, _, err := decoder.Decode(read(t, name), nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return o.(T)
}

// objects are those that the kustomization in the folder is made of, read strictly.
func objects(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	var k kustomization
	if err := yaml.UnmarshalStrict(read(t, filepath.Join(folder, "kustomization.yaml")), &k); err != nil {
		t.Fatal(err)
	}
	var list []runtime.Object
	for _, name := range k.Resources {
		if strings.HasPrefix(name, "..") {
			list = append(list, objects(t, filepath.Join(folder, name))...)
			continue
		}
		for part := range bytes.SplitSeq(read(t, filepath.Join(folder, name)), []byte("\n---\n")) {
			o, _, err := decoder.Decode(part, nil, nil)
			if err != nil {
				t.Fatalf("%s/%s: %v", folder, name, err)
			}
			list = append(list, o)
		}
	}
	return list
}

func find[T runtime.Object](t *testing.T, list []runtime.Object) (found T) {
	t.Helper()
	i := slices.IndexFunc(list, func(o runtime.Object) bool { _, ok := o.(T); return ok })
	if i < 0 {
		t.Fatalf("there is no %T", found)
	}
	return list[i].(T)
}

// The deployment's flags are flags of the command, and its selectors its labels.
func TestTheDeploymentIsConsistent(t *testing.T) {
	list := objects(t, "base")
	d := find[*appsv1.Deployment](t, list)
	pod := d.Spec.Template
	command := app.NewSchedulerCommand()
	if err := command.ParseFlags(pod.Spec.Containers[0].Args); err != nil {
		t.Error(err)
	}
	for what, s := range map[string]*metav1.LabelSelector{
		"deployment": d.Spec.Selector, "budget": find[*policyv1.PodDisruptionBudget](t, list).Spec.Selector,
		"spread": pod.Spec.TopologySpreadConstraints[0].LabelSelector,
	} {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			t.Errorf("the %s does not select the pods: %v", what, err)
		}
	}
	account := find[*v1.ServiceAccount](t, list).Name
	if pod.Spec.ServiceAccountName != account {
		t.Errorf("service account %q, want %q", pod.Spec.ServiceAccountName, account)
	}
	if *d.Spec.Replicas != 2 {
		t.Errorf("%d replicas, want 2", *d.Spec.Replicas)
	}
}

// In the place of kube-scheduler no node has both replicas.
func TestTheReplicasInPlaceAreApart(t *testing.T) {
	base, patch := find[*appsv1.Deployment](t, objects(t, "base")), manifest[*appsv1.Deployment](t, "in-place/control-plane.yaml")
	if patch.Name != base.Name {
		t.Errorf("it changes %s, and the deployment is %s", patch.Name, base.Name)
	}
	terms := patch.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	selector, err := metav1.LabelSelectorAsSelector(terms[0].LabelSelector)
	if err != nil || !selector.Matches(labels.Set(base.Spec.Template.Labels)) || terms[0].TopologyKey != v1.LabelHostname {
		t.Errorf("it does not keep the replicas apart: %+v, %v", terms, err)
	}
}

// The static pod asks for nothing that the command does not know.
func TestTheStaticPodIsConsistent(t *testing.T) {
	p := manifest[*v1.Pod](t, "static-pod/berth-scheduler.yaml")
	c := p.Spec.Containers[0]
	if err := app.NewSchedulerCommand().ParseFlags(c.Args); err != nil {
		t.Error(err)
	}
	file := c.VolumeMounts[0].MountPath
	if p.Spec.Volumes[0].HostPath.Path != file || !slices.Contains(c.Args, "--kubeconfig="+file) {
		t.Errorf("it mounts %s for %v", file, c.Args)
	}
}

// The scheduler may do what kube-scheduler may, and no more: it is bound to the
// cluster's own roles, and its own role is about its lease.
func TestTheRightsAreNoWiderThanKubeSchedulers(t *testing.T) {
	allowed := []string{
		"system:kube-scheduler", "system:volume-scheduler", "extension-apiserver-authentication-reader",
		"system::leader-locking-kube-scheduler", "berth-scheduler:leader-election",
	}
	for _, o := range objects(t, "in-place") {
		switch o := o.(type) {
		case *rbacv1.ClusterRoleBinding:
			if !slices.Contains(allowed[:2], o.RoleRef.Name) {
				t.Errorf("it is bound to the cluster role %s", o.RoleRef.Name)
			}
		case *rbacv1.RoleBinding:
			if !slices.Contains(allowed[2:], o.RoleRef.Name) {
				t.Errorf("it is bound to the role %s", o.RoleRef.Name)
			}
		case *rbacv1.Role:
			for _, r := range o.Rules {
				if !slices.Equal(r.Resources, []string{"leases"}) || !slices.Equal(r.Verbs, []string{"create"}) && !slices.Equal(r.ResourceNames, []string{"berth-scheduler"}) {
					t.Errorf("rule %v", r)
				}
			}
		case *rbacv1.ClusterRole: // for those who ask, not for the scheduler
			for _, r := range o.Rules {
				if len(r.Resources) > 0 {
					t.Errorf("rule %v", r)
				}
			}
		}
	}
}

// The configurations load, and say which scheduler they are for.
func TestTheConfigurationsLoad(t *testing.T) {
	for file, want := range map[string][2]string{
		"base/config.yaml":     {"berth-scheduler", "berth-scheduler"},
		"in-place/config.yaml": {"default-scheduler", "kube-scheduler"},
	} {
		c, err := config.LoadFile(file, config.DefaultGates())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if got := [2]string{*c.Effective.Profiles[0].SchedulerName, c.Effective.LeaderElection.ResourceName}; got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
