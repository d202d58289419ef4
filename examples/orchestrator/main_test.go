//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berth-project/berth/model/modeltest"
)

// lifeIn is the environment variable by which the test program is one life of the orchestrator.
const lifeIn = "ORCHESTRATOR_LIFE_IN"

const jobs = 250

func TestMain(m *testing.M) {
	if dir := os.Getenv(lifeIn); dir != "" && len(os.Args) != 4 {
		if err := run(context.Background(), dir, jobs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 4 && os.Args[1] == jobVerb {
		main()
		return
	}
	os.Exit(m.Run())
}

// The orchestrator is killed a hundred times, each time when it has written some more. Then all
// jobs have run, each of them once, and no node had more of them than it has cores.
func TestKilledAHundredTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("the long test of an example")
	}
	dir, random := t.TempDir(), rand.New(rand.NewPCG(modeltest.Seed(t), 1))
	killed := 0
	for range 100 {
		if liveUntil(t, dir, sizeOf(t, dir)+random.Int64N(300)) {
			killed++
		}
	}
	liveUntil(t, dir, 1<<40)
	if killed < 100 {
		t.Errorf("it was killed %d times: give it more to do", killed)
	}
	o, err := OpenMemory(filepath.Join(dir, "memory"))
	if err != nil || o.Ended() != jobs {
		t.Fatalf("%d of %d jobs have ended; %v", o.Ended(), jobs, err)
	}
	checkLog(t, filepath.Join(dir, "log"))
}

// Where the memory cannot be written, nothing is started that it does not know of: Run says why
// and ends. The next life goes on, from whole lines.
func TestMemoryThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	nodes := map[string]int64{"ant": 4}
	o, err := Open(dir, nodes)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Submit(Job{ID: "a", Cores: 1, Millis: 1}); err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full:", err)
	}
	disk := o.memory.file
	o.memory.file = full
	if err := o.Run(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("it ended with %v", err)
	}
	o.memory.file = disk // there is room again
	if err := o.Submit(Job{ID: "b", Cores: 1, Millis: 1}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("half a line may be there; it went on with %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.1")); !os.IsNotExist(err) {
		t.Errorf("a was started: %v", err)
	}
	if o, err = Open(dir, nodes); err != nil {
		t.Fatal(err)
	}
	if err := o.Run(t.Context()); err != nil || len(o.memory.Jobs) != 1 || o.memory.Ended() != 1 {
		t.Errorf("%v; %d of %d jobs have ended", err, o.memory.Ended(), len(o.memory.Jobs))
	}
}

// liveUntil lets the orchestrator live until its memory has the size, and kills it then. It
// reports whether that came before its end.
func liveUntil(t *testing.T, dir string, size int64) (killed bool) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), lifeIn+"="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return false
		case <-time.After(time.Millisecond):
		}
		if sizeOf(t, dir) >= size {
			_ = cmd.Process.Kill()
			<-ended
			return true
		}
	}
}

func sizeOf(t *testing.T, dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, "memory"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// checkLog checks what the jobs themselves have written.
func checkLog(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	cores := map[string]int64{"ant": 4, "bee": 4, "cat": 2}
	for l := range strings.Lines(string(text)) {
		var verb, id, node string
		var needs, millis int64
		if _, err := fmt.Sscan(l, &verb, &id, &node, &needs, &millis); err != nil {
			t.Fatal(l, err)
		}
		if count[verb+id]++; count[verb+id] > 1 {
			t.Errorf("job %s %s twice", id, verb)
		}
		if verb == "ends" {
			needs = -needs
		}
		if cores[node] -= needs; cores[node] < 0 {
			t.Errorf("node %s has %d cores too few when job %s %s", node, -cores[node], id, verb)
		}
	}
	if len(count) != 2*jobs {
		t.Errorf("%d jobs have begun or ended, want %d", len(count), 2*jobs)
	}
}
