// Package deploy has the manifests by which the scheduler is deployed; see the README
// of the module.
package deploy

import (
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/berth-project/berth/adapters/kubernetes/app"
	"github.com/berth-project/berth/adapters/kubernetes/config"
)

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

// objects are what kustomize makes of the folder, read strictly.
func objects(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []runtime.Object
	for _, r := range made.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			t.Fatalf("%s: %s: %v", folder, r.CurId(), err)
		}
		list = append(list, o)
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

// In the place of kube-scheduler no node has both replicas, and where there are only two
// nodes a new version of one can still take the place of an old one.
func TestTheReplicasInPlaceAreApart(t *testing.T) {
	d := find[*appsv1.Deployment](t, objects(t, "in-place"))
	terms := d.Spec.Template.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	selector, err := metav1.LabelSelectorAsSelector(terms[0].LabelSelector)
	if err != nil || !selector.Matches(labels.Set(d.Spec.Template.Labels)) || terms[0].TopologyKey != v1.LabelHostname {
		t.Errorf("it does not keep the replicas apart: %+v, %v", terms, err)
	}
	if u := d.Spec.Strategy.RollingUpdate; u.MaxSurge.IntValue() != 0 || u.MaxUnavailable.IntValue() != 1 {
		t.Errorf("a new replica waits for a node of its own: %+v", u)
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

// The scheduler may do what kube-scheduler may, and no more: its account is bound to the
// cluster's own roles, and to one about its lease.
func TestTheRightsAreNoWiderThanKubeSchedulers(t *testing.T) {
	list := objects(t, "in-place")
	account := find[*v1.ServiceAccount](t, list)
	var roles []string
	bound := func(role rbacv1.RoleRef, subjects []rbacv1.Subject) {
		roles = append(roles, role.Kind+" "+role.Name)
		if len(subjects) != 1 || subjects[0].Name != account.Name || subjects[0].Namespace != account.Namespace {
			t.Errorf("%s is bound to %+v", role.Name, subjects)
		}
	}
	for _, o := range list {
		switch o := o.(type) {
		case *rbacv1.ClusterRoleBinding:
			bound(o.RoleRef, o.Subjects)
		case *rbacv1.RoleBinding:
			bound(o.RoleRef, o.Subjects)
		}
	}
	slices.Sort(roles)
	want := []string{
		"ClusterRole system:kube-scheduler", "ClusterRole system:volume-scheduler",
		"Role berth-scheduler:leader-election", "Role extension-apiserver-authentication-reader", "Role system::leader-locking-kube-scheduler",
	}
	if !slices.Equal(roles, want) {
		t.Errorf("the account is bound to %q, want %q", roles, want)
	}
}

// The role about the lease names the lease that the configuration names.
func TestTheAccountMayHoldItsLease(t *testing.T) {
	for _, folder := range []string{"base", "in-place"} {
		for _, o := range objects(t, folder) {
			role, ok := o.(*rbacv1.Role)
			if !ok || role.Name != "berth-scheduler:leader-election" {
				continue
			}
			want := []rbacv1.PolicyRule{
				{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
				{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "update"}, ResourceNames: []string{"berth-scheduler"}},
			}
			if !equality.Semantic.DeepEqual(role.Rules, want) {
				t.Errorf("%s: %+v", folder, role.Rules)
			}
		}
	}
}

// The deployment mounts the configuration, which loads, and says which scheduler it is for.
func TestTheConfigurationsLoad(t *testing.T) {
	for folder, want := range map[string]struct {
		schedulers []string
		lease      string
	}{
		"base":     {[]string{"berth-scheduler"}, "berth-scheduler"},
		"in-place": {[]string{"default-scheduler", "berth-scheduler"}, "kube-scheduler"},
	} {
		list := objects(t, folder)
		mounted := find[*v1.ConfigMap](t, list)
		if volume := find[*appsv1.Deployment](t, list).Spec.Template.Spec.Volumes[0].ConfigMap.Name; volume != mounted.Name {
			t.Errorf("%s: it mounts %s, and the configuration is %s", folder, volume, mounted.Name)
		}
		c, err := config.Load([]byte(mounted.Data["config.yaml"]), config.DefaultGates())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		var schedulers []string
		for _, p := range c.Effective.Profiles {
			schedulers = append(schedulers, *p.SchedulerName)
		}
		if lease := c.Effective.LeaderElection.ResourceName; !slices.Equal(schedulers, want.schedulers) || lease != want.lease {
			t.Errorf("%s: schedulers %q, lease %q, want %+v", folder, schedulers, lease, want)
		}
	}
}
