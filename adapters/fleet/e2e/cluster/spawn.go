package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner runs functions on one thread that lives as long as this process: the kernel
// sends a child its parent-death signal when the thread that made it ends, and Go's
// threads come and go. It may also change its network namespace for a while.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// spawn starts the command in the network namespace of that file, empty: in the test's
// own. The command dies with the test.
func spawn(cmd *exec.Cmd, namespace string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	spawner() <- func() {
		started <- within(namespace, cmd.Start)
	}
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return nil
}

// within runs f in a network namespace. It must be on a thread of its own.
func within(namespace string, f func() error) error {
	if namespace == "" {
		return f()
	}
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer own.Close()
	other, err := os.Open(namespace)
	if err != nil {
		return err
	}
	defer other.Close()
	if err := unix.Setns(int(other.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering %s: %w", namespace, err)
	}
	err = f()
	return errors.Join(err, unix.Setns(int(own.Fd()), unix.CLONE_NEWNET))
}
