package shim

import (
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// socketFD is the socket that Listen made, in a shim.
const socketFD = 3

// Main is the shim's program: it runs the task of the folder dir, to its end, and
// returns the exit code of the shim, which is 0 where the end of the task is written
// down. It changes the whole process, so main does nothing else.
func Main(dir string) int {
	// There is a shim for each task of a node, and it has little to do.
	debug.SetGCPercent(20)
	runtime.GOMAXPROCS(1)
	// The task's first process ends with the thread that started it.
	runtime.LockOSThread()
	if err := run(dir); err != nil {
		fmt.Fprintln(os.Stderr, "shim:", err)
		return 1
	}
	return 0
}

func run(dir string) error {
	socket := os.NewFile(socketFD, socketFile)
	listener, err := net.FileListener(socket)
	socket.Close() // the listener has its own, which tasks do not inherit
	if err != nil {
		return fmt.Errorf("file %d is not the socket that the agent made: %w", socketFD, err)
	}
	// Whatever else this process was left with is not for the task. Kernels that
	// cannot do it (before 5.11) leave only what the agent was started with.
	unix.CloseRange(socketFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err := os.Chdir(dir); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	task, err := ReadTask(".")
	if err != nil {
		return err
	}
	unix.Umask(task.umask()) // whatever the agent's
	if _, err := ReadStatus("."); !os.IsNotExist(err) {
		return fmt.Errorf("the task %s has been started before (%s: %v)", task.ID, statusFile, err) //nolint:errorlint // It may be nil.
	}
	s := newSupervisor(task)
	go s.serve(listener)
	// Caught, not ignored: what is ignored stays so in the task.
	signal.Notify(s.signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE)
	if err := s.begin(); err != nil {
		s.status.notStarted(err)
	} else {
		s.supervise()
	}
	return s.end()
}
