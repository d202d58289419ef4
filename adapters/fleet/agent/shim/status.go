package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/internal/durable"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Status is what a shim says of its task.
type Status struct {
	// State is Running, or an end. It is empty until the task has started.
	State job.State `json:"state,omitempty"`
	// PID is the task's first process, which began a session of the same number;
	// Start the time that it started, in clock ticks since the boot of the machine,
	// which Boot names.
	PID   int    `json:"pid,omitempty"`
	Start uint64 `json:"start,omitempty"` // see PID
	Boot  string `json:"boot,omitempty"`  // see PID

	Started time.Time `json:"started,omitzero"` // when the first process began
	Ended   time.Time `json:"ended,omitzero"`   // when that exited, or the task was given up
	// Exit without Started is the code of a Mistake.
	Exit *Exit `json:"exit,omitempty"`
	// Message says why, where the state does not say it all.
	Message string `json:"message,omitempty"`
	Usage   Usage  `json:"usage,omitzero"` // so far, or in all
}

// Exit is how the task's first process ended.
type Exit struct {
	Code   int    `json:"code"`             // -1 where a signal ended it
	Signal string `json:"signal,omitempty"` // its name, for example "KILL"
}

// Usage is what all processes of the task have used.
type Usage struct {
	CPU        time.Duration `json:"cpu,omitempty"`        // of all processors together
	PeakMemory int64         `json:"peakMemory,omitempty"` // bytes
	ReadBytes  int64         `json:"readBytes,omitempty"`  // from disks
	WriteBytes int64         `json:"writeBytes,omitempty"` // to disks
}

// ReadStatus reads the status of the task of the folder dir. Where the shim wrote
// none yet the error is fs.ErrNotExist.
func ReadStatus(dir string) (Status, error) {
	data, err := durable.Read(filepath.Join(dir, statusFile), maxStatusBytes)
	if err != nil {
		return Status{}, err
	}
	return DecodeStatus(data)
}

// DecodeStatus reads a Status and checks it.
func DecodeStatus(data []byte) (Status, error) {
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, fmt.Errorf("%s: %w", statusFile, err)
	}
	if err := s.check(); err != nil {
		return Status{}, fmt.Errorf("%s: %w", statusFile, err)
	}
	return s, nil
}

// HasEnded reports whether the task has come to an end.
func (s Status) HasEnded() bool { return s.State != "" && s.State.Ended() }

func (s Status) check() error {
	switch s.State {
	case "":
		return nil
	case job.Running, job.Completed, job.Failed, job.Timeout, job.Cancelled, job.NodeFail,
		job.OutOfMemory, job.Preempted, job.Deadline, job.BootFail, job.Requeued:
	default:
		return fmt.Errorf("the state %q is neither RUNNING nor an end", s.State)
	}
	if s.State.Ended() && s.Ended.IsZero() {
		return errors.New("it has ended without a time")
	}
	if s.State == job.Running && (s.PID <= 1 || s.Started.IsZero()) {
		return errors.New("it runs without a process or the time that it started")
	}
	return nil
}

func writeStatus(s Status) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return durable.Write(statusFile, data)
}
