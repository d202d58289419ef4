// Command task is what the jobs of the fault tests run. It writes into a file of its
// own, in a folder that all nodes share, when it starts, now and then while it runs,
// and when it ends:
//
//	start 17_0.1.0 n2 500 1767225600000000000
//	alive 17_0.1.0 n2 500 1767225600100000000
//	done  17_0.1.0 n2 500 1767225600200000000
//
// that is the task, the node, the processor time that it was given in thousandths of a
// core, and the time in nanoseconds. "stopped" instead of "done" says that it was asked
// to end. Each line is one write to the end of the file; start and end are on the disk
// before it goes on. One that is killed leaves "alive" as its last line.
//
//	task FOLDER MILLICPU DURATION
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// aliveEvery is the time between two lines while it runs.
const aliveEvery = 100 * time.Millisecond

func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: %s FOLDER MILLICPU DURATION", os.Args[0])
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	d, err := time.ParseDuration(os.Args[3])
	if err != nil {
		return err
	}
	task := os.Getenv("BERTH_TASK_ID")
	f, err := os.OpenFile(filepath.Join(os.Args[1], task), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	line := func(what string) error {
		_, err := fmt.Fprintf(f, "%s %s %s %s %d\n", what, task, os.Getenv("BERTH_NODE"), os.Args[2], time.Now().UnixNano())
		return err
	}
	if err := line("start"); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	end, tick := time.After(d), time.NewTicker(aliveEvery)
	for {
		select {
		case <-tick.C:
			if err := line("alive"); err != nil {
				return err
			}
		case <-end:
			if err := line("done"); err != nil {
				return err
			}
			return f.Sync()
		case <-stop:
			if err := line("stopped"); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
			os.Exit(128 + int(syscall.SIGTERM))
		}
	}
}
