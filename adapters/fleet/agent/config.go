package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/agent/fingerprint"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Config is how an agent works. Node, Address, DataDir and Server are needed.
type Config struct {
	// Node is the name of the node among the servers.
	Node string
	// Address is where Handler is served, host:port; servers pass it on.
	Address string
	// Version of the program, for people.
	Version string

	// folderLimit and firstWord are the constants of these names, but in tests.
	folderLimit, firstWord time.Duration
	// DataDir is an absolute path; it is made where it is not there. Tasks' users must
	// be able to pass through the folders above it.
	DataDir string
	Server  Server // how the agent talks to the servers

	// Machine says what the operator adds to what is found out about the machine.
	// Its DataDir is set to that of the agent.
	Machine fingerprint.Options
	// MachineEvery is how often it is looked whether the machine has changed.
	// Default: 1 min.
	MachineEvery time.Duration

	// Accounts says who tasks run as. Default: AccountsUsers as root, else
	// AccountsOwn.
	Accounts Accounts
	// MinUID is the lowest user number that tasks may run as with AccountsUsers.
	// Default: 1000: those below are the system's accounts on most machines. -1 leaves out
	// nobody.
	MinUID int

	// Prolog runs before each task, and Epilog after it, as the agent's account and
	// with the task's BERTH_ variables. A prolog that fails ends the task as
	// BOOT_FAIL. A prolog or epilog that fails makes the node unhealthy until the
	// agent is started again, which leaves tasks alone. An epilog also runs after a
	// prolog that failed, and may run twice if the agent dies meanwhile.
	Prolog, Epilog Hook
	// Health says by its exit code whether the node is in order; its last line of
	// output is the reason. HealthEvery is how often it runs. Default: 1 min.
	Health      Hook
	HealthEvery time.Duration // see Health

	// Logs is how much of each stream of a task is kept. Default: 10 files of 10 MiB.
	Logs LogLimits
	// Keep is how long what is left of ended tasks is kept.
	Keep Keep
	// MaxKillGrace is the longest time from TERM to KILL that a job may ask for.
	// Default: 10 min.
	MaxKillGrace time.Duration
	// MaxProcesses is how many processes and threads a task may have, where there is
	// a controller for it. Default: 32768.
	MaxProcesses int64
	// MaxStarts is how many tasks may be on their way to their start at once: prologs
	// can be slow, and disks. Default: 16.
	MaxStarts int

	// Cgroup is the folder of the control group to work in. Default: what package
	// cgroup finds. NoCgroup: tasks are held together by their processes' ancestry.
	Cgroup string
	// NoPinning: tasks that ask for whole cores share them as all others do. Default:
	// they get processors of their own, where there is a cpuset controller. Agents that
	// share a machine do not know of each other's.
	NoPinning bool
	// Shim is the program that is run with the arguments "shim" and a folder, and
	// calls shim.Main. Default: this program.
	Shim string

	// Logger: default: none.
	Logger hclog.Logger
}

// NoCgroup as Config.Cgroup means that no control groups are used.
const NoCgroup = "none"

// Accounts says who tasks run as.
type Accounts string

// The ways.
const (
	// AccountsOwn: as the agent. An order for another account is refused.
	AccountsOwn Accounts = "own"
	// AccountsUsers: as the account that their order names. It needs root.
	AccountsUsers Accounts = "users"
)

// Hook is a program of the operator's. No Command: there is none.
type Hook struct {
	Command []string // the program and its arguments; none: there is no such hook
	// Limit is how long it may take; then it is killed, and has failed. Default: 1 min.
	Limit time.Duration
}

// LogLimits is how much of one stream of a task's output is kept: the last Files
// files of FileBytes bytes each.
type LogLimits struct {
	FileBytes job.Bytes // the size of one file
	Files     int       // how many are kept
}

// Keep is how long what is left of ended tasks, above all their logs, is kept.
type Keep struct {
	// For is the time after the end. Default: 7 days.
	For time.Duration
	// Bytes is how much room all of it may take; the oldest goes first. Default:
	// DefaultKeepBytes, but no more than a quarter of the disk that DataDir is on. Where
	// that disk is full, less is kept.
	Bytes job.Bytes
}

// DefaultKeepBytes is that of Keep.Bytes, on a disk that is large enough.
const DefaultKeepBytes job.Bytes = 10 << 30

func (c Config) withDefaults() (Config, error) {
	setDefault(&c.MachineEvery, time.Minute)
	setDefault(&c.HealthEvery, time.Minute)
	for _, h := range []*Hook{&c.Prolog, &c.Epilog, &c.Health} {
		setDefault(&h.Limit, time.Minute)
	}
	setDefault(&c.Logs, LogLimits{FileBytes: 10 << 20, Files: 10})
	setDefault(&c.Keep.For, 7*24*time.Hour)
	setDefault(&c.MaxKillGrace, 10*time.Minute)
	setDefault(&c.MaxProcesses, 32768)
	setDefault(&c.MaxStarts, 16)
	setDefault(&c.MinUID, 1000)
	setDefault(&c.folderLimit, folderLimit)
	setDefault(&c.firstWord, firstWord)
	if c.Accounts == "" {
		c.Accounts = AccountsOwn
		if os.Geteuid() == 0 {
			c.Accounts = AccountsUsers
		}
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	c.Machine.DataDir = c.DataDir
	if c.Shim == "" {
		program, err := os.Executable()
		if err != nil {
			return c, err
		}
		c.Shim = program
	}
	return c, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// nodeName: names are part of paths of files and of control groups.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$`)

// validate returns all problems at once.
func (c Config) validate() error {
	var problems []error
	bad := func(wrong bool, field, text string) {
		if wrong {
			problems = append(problems, fmt.Errorf("%s: %s", field, text))
		}
	}
	bad(!nodeName.MatchString(c.Node), "Node", fmt.Sprintf("%q is not a name of letters, digits, dots and hyphens", c.Node))
	bad(c.Address == "", "Address", "it is empty")
	bad(!filepath.IsAbs(c.DataDir), "DataDir", fmt.Sprintf("%q is not an absolute path", c.DataDir))
	bad(c.Server == nil, "Server", "there is none")
	bad(c.Accounts != AccountsOwn && c.Accounts != AccountsUsers, "Accounts", fmt.Sprintf("%q is neither own nor users", c.Accounts))
	bad(c.Accounts == AccountsUsers && os.Geteuid() != 0, "Accounts", "running tasks as their users needs root; set own")
	bad(c.MachineEvery < 0, "MachineEvery", "it is negative")
	bad(c.HealthEvery < 0, "HealthEvery", "it is negative")
	bad(c.Logs.FileBytes <= 0 || c.Logs.Files <= 0, "Logs", "both limits must be above 0")
	bad(c.Keep.For < 0 || c.Keep.Bytes < 0, "Keep", "it is negative")
	bad(c.MaxKillGrace < 0, "MaxKillGrace", "it is negative")
	bad(c.MaxProcesses < 0, "MaxProcesses", "it is negative")
	bad(c.MaxStarts < 0, "MaxStarts", "it is negative")
	bad(c.Cgroup != "" && c.Cgroup != NoCgroup && !filepath.IsAbs(c.Cgroup), "Cgroup", "it is neither an absolute path nor none")
	for field, h := range map[string]Hook{"Prolog": c.Prolog, "Epilog": c.Epilog, "Health": c.Health} {
		bad(len(h.Command) > 0 && !filepath.IsAbs(h.Command[0]), field, "the program is not an absolute path")
		bad(h.Limit < 0, field, "the limit is negative")
	}
	return errors.Join(problems...)
}
