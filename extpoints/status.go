package extpoints

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code says what a plugin decided. What each code means for the queue is in
// the comment of the point that returns it. The codes are kube-scheduler's
// (staging k8s.io/kube-scheduler/framework/interface.go, 1.37.1).
type Code uint8

// The codes.
const (
	// Success: go on. A nil *Status is Success.
	Success Code = iota
	// Error: something is broken. The cycle is aborted and the workload is
	// tried again after the error backoff, whatever happens in the cluster.
	Error
	// Unschedulable: not here, or not now. Displacing other workloads may
	// help. The workload waits for an event that its rejecting plugins asked
	// for.
	Unschedulable
	// UnschedulableAndUnresolvable: like Unschedulable, but displacing other
	// workloads cannot help.
	UnschedulableAndUnresolvable
	// Wait: only from Permit, and from the placement check of groups. The
	// workload keeps its node and waits to be allowed.
	Wait
	// Skip: from PreFilter and PreScore, the plugin's Filter or Score is not
	// called in this cycle; from PreBindPreFlight, its PreBind is not; from
	// Bind, the next bind plugin is asked.
	Skip
	// Pending: rejected, but something was set in motion. When an event of the
	// plugin then wakes the workload, it does not wait out a backoff.
	Pending

	codes
)

var codeNames = [codes]string{"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending"}

// String returns the code's name.
func (c Code) String() string {
	if c < codes {
		return codeNames[c]
	}
	return "Code(invalid)"
}

// Status is the answer of a plugin: a code, and for anything but success the
// reasons. A nil *Status is Success; every method works on nil. A Status is
// never changed once it is made, so plugins may make theirs in advance and
// return the same one for every node.
type Status struct {
	code    Code
	reasons []string
	err     error
	plugin  string
}

// NewStatus makes a status of the code with the given reasons. For Error use
// [AsStatus], which keeps the error.
func NewStatus(code Code, reasons ...string) *Status {
	s := &Status{code: code, reasons: reasons}
	if code == Error {
		s.err = errors.New(strings.Join(reasons, ", "))
		s.reasons = nil
	}
	return s
}

// AsStatus wraps an error; nil gives Success. An error that panics when it is read, as a nil pointer
// of a type of its own may, is replaced by one that says so.
func AsStatus(err error) *Status {
	if err == nil {
		return nil
	}
	return &Status{code: Error, err: readable(err)}
}

// readable returns the error, if its text and its causes can be read.
func readable(err error) (sound error) {
	defer func() {
		if cause := recover(); cause != nil {
			sound = fmt.Errorf("the error, a %T, cannot be read: %v", err, cause)
		}
	}()
	var other *PluginError
	_, _, _ = err.Error(), errors.Is(err, ErrNotThere), errors.As(err, &other)
	return err
}

// Code returns the code.
func (s *Status) Code() Code {
	if s == nil {
		return Success
	}
	return s.code
}

// Reasons lists the reasons, with the error's text first where there is one.
func (s *Status) Reasons() []string {
	if s == nil {
		return nil
	}
	if s.err != nil {
		return append([]string{s.err.Error()}, s.reasons...)
	}
	return slices.Clone(s.reasons)
}

// Message is the reasons joined with ", ".
func (s *Status) Message() string {
	return strings.Join(s.Reasons(), ", ")
}

// Plugin names the plugin that gave the status. It is set by the framework,
// not by the plugin; empty before that.
func (s *Status) Plugin() string {
	if s == nil {
		return ""
	}
	return s.plugin
}

// WithPlugin returns the status with the plugin's name on it; s is unchanged.
func (s *Status) WithPlugin(name string) *Status {
	if s == nil || s.plugin == name {
		return s
	}
	named := *s
	named.plugin = name
	return &named
}

// IsSuccess reports whether the code is Success.
func (s *Status) IsSuccess() bool { return s.Code() == Success }

// IsRejected reports whether the code is a rejection: Unschedulable,
// UnschedulableAndUnresolvable or Pending.
func (s *Status) IsRejected() bool {
	switch s.Code() {
	case Unschedulable, UnschedulableAndUnresolvable, Pending:
		return true
	}
	return false
}

// AsError returns nil for Success, Wait and Skip, the wrapped error where
// there is one, and otherwise an error with the reasons as its text.
func (s *Status) AsError() error {
	switch s.Code() {
	case Success, Wait, Skip:
		return nil
	}
	if s.err != nil {
		return s.err
	}
	return errors.New(s.Message())
}

// String is for logs and tests: "Unschedulable(NodePorts): reason".
func (s *Status) String() string {
	text := s.Code().String()
	if p := s.Plugin(); p != "" {
		text += "(" + p + ")"
	}
	if m := s.Message(); m != "" {
		text += ": " + m
	}
	return text
}
