package scenario

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// deployed is about what "kubectl apply -k" makes of the manifests.
var deployed = []Scenario{
	{Name: "deployed/beside kube-scheduler, with no other rights than its account's", Run: deployedBeside, Berth: true},
	{Name: "deployed/in the place of kube-scheduler and of one beside it", Run: deployedInPlace, Berth: true},
}

func deployedBeside(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	e.deploy(t, "base")
	e.Create(t, cluster.Pod("ours").SchedulerName("berth-scheduler").Obj(), cluster.Pod("others").Obj())
	e.AwaitLease(t, metav1.NamespaceSystem, "berth-scheduler", "is held", isHeld)
	e.BoundTo(t, "ours", "n")
	e.NotBound(t, "others")
}

func deployedInPlace(t *testing.T, e *Env) {
	e.Create(t, cluster.Node("n").Obj())
	e.apply(t, "base")
	e.deploy(t, "in-place")
	e.Create(t, cluster.Pod("beside").SchedulerName("berth-scheduler").Obj(), cluster.Pod("others").Obj())
	e.AwaitLease(t, metav1.NamespaceSystem, "kube-scheduler", "is held", isHeld)
	e.BoundTo(t, "beside", "n")
	e.BoundTo(t, "others", "n")
}

func isHeld(holder string) error {
	if holder == "" {
		return fmt.Errorf("nobody holds it")
	}
	return nil
}

// apply applies the kustomization until the end of the test. Then there are no leases, either.
func (e *Env) apply(t *testing.T, name string) {
	t.Helper()
	folder := filepath.Join("..", "..", "deploy", name)
	e.kubectl(t, "apply", "-k", folder)
	t.Cleanup(func() {
		e.kubectl(t, "delete", "--ignore-not-found", "-k", folder)
		e.kubectl(t, "delete", "--ignore-not-found", "--namespace", metav1.NamespaceSystem, "lease", "berth-scheduler", "kube-scheduler")
	})
}

// deploy applies the kustomization until the end of the test, and starts what its pods
// would be: the scheduler with the deployment's configuration and account.
func (e *Env) deploy(t *testing.T, name string) {
	t.Helper()
	e.apply(t, name)
	const namespace, deployment = metav1.NamespaceSystem, "berth-scheduler"
	d, err := e.Client.AppsV1().Deployments(namespace).Get(t.Context(), deployment, metav1.GetOptions{})
	must(t, err)
	pod := d.Spec.Template.Spec
	mounted, err := e.Client.CoreV1().ConfigMaps(namespace).Get(t.Context(), pod.Volumes[0].ConfigMap.Name, metav1.GetOptions{})
	must(t, err)
	token, err := e.Client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), pod.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)

	dir := t.TempDir()
	kubeconfig, file := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "config.yaml")
	must(t, e.Plane.WriteTokenKubeconfig(kubeconfig, token.Status.Token))
	// In a pod the connection is the cluster's.
	content := fmt.Sprintf("%s\nclientConnection: {kubeconfig: %q}\n", mounted.Data["config.yaml"], kubeconfig)
	must(t, os.WriteFile(file, []byte(content), 0o600))
	e.ScheduleWith(t, controlplane.SchedulerOptions{Kubeconfig: kubeconfig, ConfigFile: file})
}

// kubectl runs the program as the administrator, and returns what it prints.
func (e *Env) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wipePatience) // it is for the clean-up, too
	defer cancel()
	path, err := controlplane.Path(ctx, controlplane.Kubectl)
	must(t, err)
	out, err := exec.CommandContext(ctx, path, append([]string{"--kubeconfig", e.Plane.Kubeconfig(controlplane.AdminUser)}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}
