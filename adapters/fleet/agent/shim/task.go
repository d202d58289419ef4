package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/durable"
	"github.com/berth-project/berth/adapters/fleet/agent/internal/tasklog"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Names and sizes of what is in a task's folder.
const (
	taskFile   = "task.json"
	statusFile = "status.json"
	socketFile = "shim.sock"

	maxTaskBytes   = 64 << 20
	maxStatusBytes = 1 << 20
)

// Task is all that a shim needs to know to run a task.
type Task struct {
	ID job.TaskID `json:"id"` // unique in the fleet
	// Argv is the program and its arguments; a program without a slash is looked
	// for in the PATH of Env, as the account. Env is all of its environment.
	Argv []string `json:"argv"`
	Env  []string `json:"env"` // name=value; see Argv
	Dir  string   `json:"dir"` // the working directory, an absolute path
	// Umask is that of the task and of the files that Stdout and Stderr name. nil: 022.
	Umask *int `json:"umask,omitempty"`
	// Folder is the one that the agent made for the task, with its script: what is
	// wrong there is the node's fault.
	Folder string `json:"folder,omitempty"`
	// Account is who it runs as; nil: the shim's own.
	Account *Account `json:"account,omitempty"`
	// Stdout and Stderr are the files that it writes to, opened as the account and
	// appended to. Where they are the same, both streams are in it in their order.
	// Empty: it is kept in the task's folder, up to Logs.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"` // see Stdout
	// TruncateStdout and TruncateStderr: the file is emptied first.
	TruncateStdout bool           `json:"truncateStdout,omitempty"`
	TruncateStderr bool           `json:"truncateStderr,omitempty"` // see TruncateStdout
	Logs           tasklog.Limits `json:"logs"`                     // of the streams that are kept in the folder of the task

	// Cgroup is the folder of its control group. Empty: it has none.
	Cgroup string `json:"cgroup,omitempty"`
	// Memory is its limit in bytes, 0: none. With CgroupMemory the kernel enforces
	// it, else the shim does, by looking now and then.
	Memory       int64 `json:"memory,omitempty"`
	CgroupMemory bool  `json:"cgroupMemory,omitempty"` // see Memory

	// TimeLimit is how long it may run, 0: as long as it wants. KillGrace is the
	// time from TERM to KILL. WarnBefore, where not 0, is how long before the limit
	// WarnSignal goes to the processes that WarnTo names.
	TimeLimit  time.Duration `json:"timeLimit,omitempty"`
	KillGrace  time.Duration `json:"killGrace,omitempty"`  // see TimeLimit
	WarnSignal string        `json:"warnSignal,omitempty"` // its name, for example "USR1"
	WarnBefore time.Duration `json:"warnBefore,omitempty"` // see TimeLimit
	WarnTo     WarnTo        `json:"warnTo,omitempty"`     // see TimeLimit
}

// WarnTo says which processes of a task get the signal before its time limit.
type WarnTo string

// The processes that get it.
const (
	WarnFirst  WarnTo = "" // the first process alone
	WarnOthers WarnTo = "others"
	WarnAll    WarnTo = "all"
)

// Account is a user of the machine.
type Account struct {
	Name   string   `json:"name"`             // for messages
	UID    uint32   `json:"uid"`              // user number
	GID    uint32   `json:"gid"`              // number of the first group
	Groups []uint32 `json:"groups,omitempty"` // numbers of further groups
}

// WriteTask writes down that the task is about to be started in the folder dir. Once
// it has returned nil a shim may be started there, once.
func WriteTask(dir string, t Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(dir, taskFile), data)
}

// ReadTask reads what WriteTask wrote. Where nothing was written the error is
// fs.ErrNotExist.
func ReadTask(dir string) (Task, error) {
	data, err := durable.Read(filepath.Join(dir, taskFile), maxTaskBytes)
	if err != nil {
		return Task{}, err
	}
	return DecodeTask(data)
}

// DecodeTask reads a Task and checks it.
func DecodeTask(data []byte) (Task, error) {
	var t Task
	if err := json.Unmarshal(data, &t); err != nil {
		return Task{}, fmt.Errorf("%s: %w", taskFile, err)
	}
	if err := t.check(); err != nil {
		return Task{}, fmt.Errorf("%s: %w", taskFile, err)
	}
	return t, nil
}

func (t Task) check() error {
	var problems []error
	bad := func(wrong bool, text string) {
		if wrong {
			problems = append(problems, errors.New(text))
		}
	}
	bad(len(t.Argv) == 0 || t.Argv[0] == "", "argv: there is no program")
	bad(hasNUL(t.Argv), "argv: it has a NUL byte")
	bad(hasNUL(t.Env), "env: it has a NUL byte")
	bad(!filepath.IsAbs(t.Dir), "dir: it is not an absolute path")
	bad(t.Stdout != "" && !filepath.IsAbs(t.Stdout), "stdout: it is not an absolute path")
	bad(t.Stderr != "" && !filepath.IsAbs(t.Stderr), "stderr: it is not an absolute path")
	bad(t.Logs.FileBytes <= 0 || t.Logs.Files <= 0, "logs: the limits are not above 0")
	bad(t.Umask != nil && *t.Umask&^0o077 != 0, "umask: it takes rights from the owner") // the shim's files would lose them, too
	bad(t.Cgroup != "" && !filepath.IsAbs(t.Cgroup), "cgroup: it is not an absolute path")
	bad(t.Memory < 0 || t.TimeLimit < 0 || t.KillGrace < 0 || t.WarnBefore < 0, "a limit is negative")
	if _, err := SignalNumber(t.WarnSignal); t.WarnSignal != "" && err != nil {
		problems = append(problems, fmt.Errorf("warnSignal: %w", err))
	}
	return errors.Join(problems...)
}

func (t Task) umask() int {
	if t.Umask == nil {
		return 0o022
	}
	return *t.Umask
}

func hasNUL(list []string) bool {
	for _, s := range list {
		if strings.IndexByte(s, 0) >= 0 {
			return true
		}
	}
	return false
}

// HasTask reports whether WriteTask was called for the folder dir: then a shim was
// started, or may have been.
func HasTask(dir string) (bool, error) {
	_, err := os.Lstat(filepath.Join(dir, taskFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
