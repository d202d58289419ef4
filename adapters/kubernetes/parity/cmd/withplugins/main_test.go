package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The README of package bridge shows this program, without its comment.
func TestReadmeShowsTheProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(program), "package main\n")
	readme, err := os.ReadFile("../../../bridge/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\npackage main\n"+code+"```\n") {
		t.Error("the README of the bridge shows another program")
	}
}

const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - name: NodeResourcesAllocatable
      - name: PodState
  pluginConfig:
  - name: NodeResourcesAllocatable
    args:
      mode: MODE
      resources:
      - name: cpu
        weight: 1
`

// The program reads a configuration file with the plugins and arguments of theirs, and refuses
// what the plugin refuses. It need not reach an API server for that.
func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "withplugins")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(mode string) (string, error) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(configuration, "MODE", mode)), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), program, "--config="+file, "--master=http://localhost:1", "--write-config-to="+file+".out")
		cmd.Stdout, cmd.Stderr = &out, &out
		return out.String(), cmd.Run()
	}
	if out, err := run("Least"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := run("Sideways"); err == nil {
		t.Error("a mode that the plugin does not have is accepted")
	}
}
