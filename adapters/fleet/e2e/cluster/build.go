package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// fleetDir is the folder of the fleet's module.
func fleetDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// berth builds the program once for this process. It stays in a folder that the next
// run uses again, so that the build is short where nothing has changed.
var berth = sync.OnceValues(func() (string, error) {
	return Build(fleetDir(), "./cmd/berth")
})

// Build builds a program of the module in dir, and returns its path. It is a copy of
// this process's own.
func Build(dir, pkg string) (string, error) {
	out, err := runDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(out, "bin-"+filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = dir
	// The module's own workspace counts, not that of the test.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOWORK=") })
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, text)
	}
	return path, nil
}

// prefix is what names of folders begin with; the number of the process follows.
const prefix = "berth-fleet-e2e-"

// runDir is the folder of all that this process makes.
var runDir = sync.OnceValues(func() (string, error) {
	sweep()
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d", prefix, os.Getpid()))
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711) // tasks' users pass through, whatever the umask
})

// Finish removes what is left of this process: the programs. TestMain calls it when all
// tests have ended.
func Finish() {
	dir, err := runDir()
	if err != nil {
		return
	}
	for _, path := range glob(filepath.Join(dir, "bin-*")) {
		os.Remove(path)
	}
	os.Remove(dir) // logs of tests that failed stay in it
}

func glob(pattern string) []string {
	found, _ := filepath.Glob(pattern) // the pattern is ours
	return found
}
