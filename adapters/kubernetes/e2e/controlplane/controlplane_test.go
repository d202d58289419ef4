package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/controlplane"
)

// start starts a control plane that ends with the test.
func start(t *testing.T, o controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	plane, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plane.Stop)
	return plane
}

func client(t *testing.T, plane *controlplane.ControlPlane, user string) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", plane.Kubeconfig(user))
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
}

func TestControlPlane(t *testing.T) {
	plane := start(t, controlplane.Options{
		Users:         []controlplane.User{{Name: "jane", Groups: []string{"readers", "others"}}},
		FeatureGates:  map[string]bool{"GenericWorkload": true},
		RuntimeConfig: []string{"scheduling.k8s.io/v1beta1=true"},
	})
	admin := client(t, plane, controlplane.AdminUser)

	t.Run("it is the wanted version", func(t *testing.T) {
		version, err := admin.Discovery().ServerVersion()
		if err != nil || version.GitVersion != "v1.37.1" || version.Major != "1" || version.Minor != "37" {
			t.Errorf("version %+v, error %v; want v1.37.1", version, err)
		}
	})
	t.Run("it serves what was asked for", func(t *testing.T) {
		_, err := admin.SchedulingV1beta1().PodGroups("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("roles decide what a user may do", func(t *testing.T) { checkRoles(t, plane, admin) })
	t.Run("it restarts with what it had", func(t *testing.T) { checkRestart(t, plane, admin) })
	t.Run("its usage is known", func(t *testing.T) { checkUsage(t, plane) })
	t.Run("a scheduler runs with it", func(t *testing.T) { checkScheduler(t, plane, admin) })
	t.Run("nothing runs after it is stopped", func(t *testing.T) { checkStop(t, plane) })
}

func checkRoles(t *testing.T, plane *controlplane.ControlPlane, admin kubernetes.Interface) {
	jane := client(t, plane, "jane").CoreV1().ConfigMaps("default")
	if _, err := jane.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("without a role: %v, want forbidden", err)
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "readers"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
	}
	_, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the role of the group counts", func() error {
		_, err := jane.List(t.Context(), metav1.ListOptions{})
		return err
	})
	if err := jane.Delete(t.Context(), "x", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("beyond the role: %v, want forbidden", err)
	}
}

func checkRestart(t *testing.T, plane *controlplane.ControlPlane, admin kubernetes.Interface) {
	maps := admin.CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	url, before := plane.URL(), plane.Process(controlplane.APIServer)
	if err := plane.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if plane.URL() != url {
		t.Errorf("URL %s, want %s as before", plane.URL(), url)
	}
	if alive(before.PID()) {
		t.Errorf("the API server that ran before still runs")
	}
	eventually(t, "the old client reads what was written", func() error {
		_, err := maps.Get(t.Context(), "kept", metav1.GetOptions{})
		return err
	})
}

func checkUsage(t *testing.T, plane *controlplane.ControlPlane) {
	for _, p := range []controlplane.Program{controlplane.Etcd, controlplane.APIServer} {
		u, err := plane.Process(p).Usage()
		if err != nil || u.CPU <= 0 || u.PeakRSS < 10<<20 {
			t.Errorf("usage of %s: %+v, error %v; want CPU time and at least 10 MiB", p, u, err)
		}
	}
}

func checkScheduler(t *testing.T, plane *controlplane.ControlPlane, admin kubernetes.Interface) {
	s, err := controlplane.StartScheduler(t.Context(), controlplane.SchedulerOptions{
		Kind: controlplane.Kube, Kubeconfig: plane.Kubeconfig(controlplane.SchedulerUser),
		LeaderElection: "{leaderElect: true}", // without it the exit code is 1 at any end
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	if _, err := admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		if _, err := admin.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	bound := func(name string) error {
		pod, err := admin.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		if err == nil && pod.Spec.NodeName == "" {
			err = fmt.Errorf("pod %s has no node", name)
		}
		return err
	}
	create("first")
	eventually(t, "the first pod is bound", func() error { return bound("first") })

	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	create("second")
	if _, _, err := s.Get("/healthz", ""); err == nil {
		t.Errorf("a paused scheduler answers")
	}
	if err := bound("second"); err == nil {
		t.Errorf("a paused scheduler binds")
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the second pod is bound", func() error { return bound("second") })

	live, err := s.Usage()
	if err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if code, err := s.Stop(ctx); code != 0 || err != nil {
		t.Errorf("exit code %d, error %v after SIGTERM; want 0\n%s", code, err, s.Tail(20))
	}
	// The kernel counts pages for each processor by itself, and adds them up now and then: the
	// two sources of the peak are a few pages apart.
	const apart = 1 << 20
	final, err := s.Usage()
	if err != nil || final.CPU < live.CPU || final.PeakRSS < live.PeakRSS-apart {
		t.Errorf("usage at the end %+v, error %v; want no less than %+v while it lived", final, err, live)
	}
}

func checkStop(t *testing.T, plane *controlplane.ControlPlane) {
	var pids []int
	for _, p := range []controlplane.Program{controlplane.Etcd, controlplane.APIServer} {
		pids = append(pids, plane.Process(p).PID())
	}
	plane.Stop()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d runs on", pid)
		}
	}
	if _, err := os.Stat(plane.Dir()); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left (error %v)", plane.Dir(), err)
	}
}

// TestChildrenDieWithUs runs this test binary again, which starts a control plane's
// etcd and says so, and kills it.
func TestChildrenDieWithUs(t *testing.T) {
	if os.Getenv(helperEnv) != "" {
		plane := start(t, controlplane.Options{})
		fmt.Printf("pid %d %d %s\n", plane.Process(controlplane.Etcd).PID(), plane.Process(controlplane.APIServer).PID(), plane.Dir())
		select {} // until it is killed
	}
	helper := exec.Command(os.Args[0], "-test.run=^TestChildrenDieWithUs$")
	helper.Env = append(os.Environ(), helperEnv+"=1")
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	helper.Stderr = os.Stderr
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var etcd, server int
	var dir string
	if _, err := fmt.Fscanf(out, "pid %d %d %s\n", &etcd, &server, &dir); err != nil {
		t.Errorf("the helper did not say what it started: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := helper.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = helper.Wait() // it was killed
	for _, pid := range []int{etcd, server} {
		eventually(t, "the child dies", func() error {
			if alive(pid) {
				return fmt.Errorf("process %d runs on", pid)
			}
			return nil
		})
	}
}

const helperEnv = "BERTH_E2E_HELPER"

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Run("a flag that is wrong", func(t *testing.T) {
		_, err := controlplane.Start(t.Context(), controlplane.Options{FeatureGates: map[string]bool{"NoSuchGate": true}})
		wantError(t, err, "kube-apiserver is not ready: the process has ended", "unrecognized feature gate: NoSuchGate")
	})
	t.Run("an unknown scheduler", func(t *testing.T) {
		_, err := controlplane.StartScheduler(t.Context(), controlplane.SchedulerOptions{Kind: "other"})
		wantError(t, err, `there is no scheduler "other": choose "kube" or "berth"`)
	})
	t.Run("an unknown program", func(t *testing.T) {
		_, err := controlplane.Path(t.Context(), "other")
		wantError(t, err, `there is no program "other"`)
	})
	t.Run("a configuration that is wrong, of which nothing is left", func(t *testing.T) {
		t.Setenv("TMPDIR", t.TempDir())
		_, err := controlplane.StartScheduler(t.Context(), controlplane.SchedulerOptions{
			Kind: controlplane.Kube, Config: "parallelism: -1",
		})
		wantError(t, err, "kube-scheduler is not ready: the process has ended", "parallelism")
		left, err := os.ReadDir(os.TempDir())
		if err != nil || len(left) != 0 {
			t.Errorf("files %v are left, error %v", left, err)
		}
	})
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
}

// alive reports whether the process runs; one that is dead and not yet waited for
// does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// eventually waits until the check passes.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}
