package extpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"testing"
)

func TestStatusOfEachCode(t *testing.T) {
	for _, c := range []struct {
		code              Code
		name              string
		success           bool
		rejected, failing bool
	}{
		{code: Success, name: "Success", success: true},
		{code: Error, name: "Error", failing: true},
		{code: Unschedulable, name: "Unschedulable", rejected: true, failing: true},
		{code: UnschedulableAndUnresolvable, name: "UnschedulableAndUnresolvable", rejected: true, failing: true},
		{code: Wait, name: "Wait"},
		{code: Skip, name: "Skip"},
		{code: Pending, name: "Pending", rejected: true, failing: true},
	} {
		s := NewStatus(c.code, "why", "and how")
		if s.Code() != c.code || s.Code().String() != c.name {
			t.Errorf("%s: the code is %v", c.name, s.Code())
		}
		if s.IsSuccess() != c.success || s.IsRejected() != c.rejected {
			t.Errorf("%s: success %v, rejected %v", c.name, s.IsSuccess(), s.IsRejected())
		}
		if s.Message() != "why, and how" || (s.AsError() != nil) != c.failing {
			t.Errorf("%s: message %q, error %v", c.name, s.Message(), s.AsError())
		}
		if err := s.AsError(); err != nil && err.Error() != "why, and how" {
			t.Errorf("%s: error %v", c.name, err)
		}
		if want := c.name + "(P): why, and how"; s.WithPlugin("P").String() != want {
			t.Errorf("%v, want %v", s.WithPlugin("P"), want)
		}
	}
	if got := Code(200).String(); got != "Code(invalid)" {
		t.Error(got)
	}
}

func TestNilStatus(t *testing.T) {
	var s *Status
	if s.Code() != Success || !s.IsSuccess() || s.IsRejected() {
		t.Error("nil is not Success")
	}
	if s.Reasons() != nil || s.Message() != "" || s.Plugin() != "" || s.AsError() != nil || s.String() != "Success" || s.WithPlugin("P") != nil {
		t.Error("a method of nil gives something")
	}
}

func TestAsStatus(t *testing.T) {
	if AsStatus(nil) != nil {
		t.Error("no error is not Success")
	}
	cause := errors.New("cause")
	s := AsStatus(fmt.Errorf("wrapped: %w", cause))
	if s.Code() != Error || !errors.Is(s.AsError(), cause) || !slices.Equal(s.Reasons(), []string{"wrapped: cause"}) {
		t.Errorf("%v, %v, %q", s.Code(), s.AsError(), s.Reasons())
	}
}

// An error that cannot be read is one that says so.
func TestAsStatusOfABadError(t *testing.T) {
	for _, bad := range []error{(*fs.PathError)(nil), (*net.OpError)(nil), fmt.Errorf("wrapped: %w", (*net.OpError)(nil))} {
		want := fmt.Sprintf("the error, a %T, cannot be read: runtime error: invalid memory address or nil pointer dereference", bad)
		if s := AsStatus(bad); s.Code() != Error || s.Message() != want || errors.Is(s.AsError(), fs.ErrExist) {
			t.Errorf("%v, want %q", s, want)
		}
	}
}

func TestStatusDoesNotChange(t *testing.T) {
	s := NewStatus(Unschedulable, "a", "b")
	s.Reasons()[0] = "changed"
	named := s.WithPlugin("P")
	if s.Message() != "a, b" || s.Plugin() != "" || named.Plugin() != "P" || named.Message() != "a, b" {
		t.Errorf("%v, %v", s, named)
	}
	if named.WithPlugin("P") != named {
		t.Error("the same name makes another status")
	}
	if other := named.WithPlugin("Q"); other.Plugin() != "Q" || named.Plugin() != "P" {
		t.Errorf("%v, %v", other, named)
	}
}
