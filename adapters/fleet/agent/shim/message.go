package shim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// MaxMessage is how long a message on the socket may be, in bytes.
const MaxMessage = 64 << 10

// Request is what an agent asks of a shim. The answer is the shim's Status, with
// what the task has used so far.
type Request struct {
	// Stop, where set, ends the task.
	Stop *Stop `json:"stop,omitempty"`
}

// Stop says how a task ends, and what it will be said to have ended as. A later
// one replaces the state and the reason of an earlier one; the earlier time until
// KILL holds.
type Stop struct {
	State  job.State     `json:"state"`            // how the task has ended then
	Reason string        `json:"reason,omitempty"` // becomes the Message of its Status
	Signal string        `json:"signal,omitempty"` // empty: TERM
	Grace  time.Duration `json:"grace"`            // until KILL; 0: at once
}

// DecodeRequest reads a Request and checks it.
func DecodeRequest(line []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return Request{}, err
	}
	if r.Stop == nil {
		return r, nil
	}
	end := Status{State: r.Stop.State, Ended: time.Unix(1, 0)}
	if err := end.check(); err != nil || !end.HasEnded() {
		return Request{}, fmt.Errorf("stop: %q is not an end", r.Stop.State)
	}
	if r.Stop.Grace < 0 {
		return Request{}, fmt.Errorf("stop: the grace %v is negative", r.Stop.Grace)
	}
	if r.Stop.Signal != "" {
		if _, err := SignalNumber(r.Stop.Signal); err != nil {
			return Request{}, fmt.Errorf("stop: %w", err)
		}
	}
	return r, nil
}

// lines reads messages from r.
func lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4<<10), MaxMessage)
	return s
}

func send(w io.Writer, message any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(data) >= MaxMessage {
		return fmt.Errorf("a message of %d bytes is longer than %d", len(data), MaxMessage)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
