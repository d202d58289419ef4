package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Program is one of the programs that [Path] can build. Its value is the name of
// the file.
type Program string

// The programs. Their versions are those of this module's go.mod, except for the
// last ones', which is the checkout's.
const (
	Etcd              Program = "etcd"
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	KubeScheduler     Program = "kube-scheduler"
	Kubectl           Program = "kubectl"
	Kwok              Program = "kwok"
	BerthScheduler    Program = "berth-scheduler"
	KubectlBerth      Program = "kubectl-berth"
	PluginScheduler   Program = "plugin-scheduler" // a user's scheduler with a plugin of her own
)

// packages says where the source of each program is: in this module's requirements,
// or in the adapter's folder, where it starts with a dot.
var packages = map[Program]string{
	Etcd:              "go.etcd.io/etcd/server/v3",
	APIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
	ControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
	KubeScheduler:     "k8s.io/kubernetes/cmd/kube-scheduler",
	Kubectl:           "k8s.io/kubernetes/cmd/kubectl",
	Kwok:              "sigs.k8s.io/kwok/cmd/kwok",
	BerthScheduler:    "./cmd/berth-scheduler",
	KubectlBerth:      "./cmd/kubectl-berth",
	// Files, because the folder is not in the adapter's module: a user's would not be
	// either.
	PluginScheduler: "./e2e/scenario/testdata/pluginscheduler/main.go",
}

// binEnv names the variable with the folder in which built programs are kept.
const binEnv = "BERTH_E2E_BIN"

// built is the paths of the programs that this process has asked for.
var built = struct {
	sync.Mutex
	paths map[Program]string
}{paths: map[Program]string{}}

// Path returns the path of the built program, and builds it if it is not there.
// Others that want it at the same time, in this process or another, wait for the one
// that builds. What is of this checkout is built by each process that asks for it,
// because its source changes; that takes a second or two when nothing did. The error
// has what the Go tool said.
func Path(ctx context.Context, p Program) (string, error) {
	built.Lock()
	defer built.Unlock()
	if path, ok := built.paths[p]; ok {
		return path, nil
	}
	path, err := build(ctx, p)
	if err == nil {
		built.paths[p] = path
	}
	return path, err
}

func build(ctx context.Context, p Program) (string, error) {
	source, ok := packages[p]
	if !ok {
		return "", fmt.Errorf("there is no program %q: choose one of the constants of this package", p)
	}
	m, err := findModule(ctx)
	if err != nil {
		return "", err
	}
	dir, err := m.binaries()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, string(p))
	ours := strings.HasPrefix(source, "./")
	if ours {
		path += "-" + digest(m.dir) // other checkouts have their own
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if ours {
		return path, m.buildAdapter(ctx, source, path)
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, m.build(ctx, source, path)
}

// module is this module and what is known of it.
type module struct {
	dir        string
	kubernetes string // version of k8s.io/kubernetes, such as v1.37.1
	toolchain  string // version of Go
}

const modulePath = "github.com/berth-project/berth/adapters/kubernetes/e2e"

// adapter is the folder of the module above this one, and root is the repository's.
func (m module) adapter() string { return filepath.Dir(m.dir) }
func (m module) root() string    { return filepath.Join(m.dir, "..", "..", "..") }

// findModule asks the Go tool. The working folder must be in this module, as it is
// in tests and for "go run".
func findModule(ctx context.Context) (module, error) {
	var m module
	off := []string{"GOWORK=off"}
	out, err := run(ctx, ".", off, "list", "-m", "-f", "{{if .Version}}{{.Version}}{{else}}{{.Dir}}{{end}}", modulePath, "k8s.io/kubernetes")
	if err != nil {
		return m, fmt.Errorf("cannot find the module %s from the working folder; run this inside it: %w", modulePath, err)
	}
	m.dir, m.kubernetes, _ = strings.Cut(out, "\n")
	m.toolchain, err = run(ctx, ".", off, "env", "GOVERSION")
	return m, err
}

// binaries is the folder for what is built from this module as it is now.
func (m module) binaries() (string, error) {
	base := os.Getenv(binEnv)
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for built programs; set %s: %w", binEnv, err)
		}
		base = filepath.Join(cache, "berth-e2e")
	}
	parts := append(m.flags(), m.toolchain)
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			return "", err
		}
		parts = append(parts, string(content))
	}
	dir := filepath.Join(base, digest(parts...))
	return dir, os.MkdirAll(dir, 0o755)
}

// digest names what is made of the parts.
func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// flags are those of every build. Without the version clients are told v0.0.0.
func (m module) flags() []string {
	var stamps []string
	major, minor, _ := strings.Cut(strings.TrimPrefix(m.kubernetes, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		stamps = append(stamps, "-X "+pkg+".gitVersion="+m.kubernetes, "-X "+pkg+".gitMajor="+major,
			"-X "+pkg+".gitMinor="+minor, "-X "+pkg+".gitTreeState=clean")
	}
	return []string{"-trimpath", "-ldflags", strings.Join(stamps, " ")}
}

// build builds a package of this module's requirements.
func (m module) build(ctx context.Context, source, path string) error {
	return m.buildIn(ctx, m.dir, []string{"GOWORK=off"}, m.flags(), source, path)
}

// buildAdapter builds a package of the adapter, in the repository's workspace.
func (m module) buildAdapter(ctx context.Context, source, path string) error {
	if _, err := os.Stat(filepath.Join(m.adapter(), source)); err != nil {
		return fmt.Errorf("there is no %s in the adapter to build: %w", source, err)
	}
	workspace := []string{"GOWORK=" + filepath.Join(m.root(), "go.work")}
	return m.buildIn(ctx, m.adapter(), workspace, []string{"-trimpath"}, source, path)
}

func (m module) buildIn(ctx context.Context, dir string, env, flags []string, source, path string) error {
	fresh := path + ".new" // the lock keeps others from it
	args := append(append([]string{"build"}, flags...), "-o", fresh, source)
	if _, err := run(ctx, dir, env, args...); err != nil {
		return fmt.Errorf("cannot build %s: %w", source, err)
	}
	return os.Rename(fresh, path)
}

// run runs the Go tool and returns what it printed.
func run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lock takes the file for this process alone, and returns how to give it back. It
// waits for the process that has it, until the context ends.
func lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = poll(ctx, nil, func() error {
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("another process builds the same program, see %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil // which unlocks it
}
