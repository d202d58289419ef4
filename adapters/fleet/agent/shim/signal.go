package shim

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalNumber is the number of a signal by its name, with or without "SIG".
func SignalNumber(name string) (syscall.Signal, error) {
	n := unix.SignalNum("SIG" + strings.TrimPrefix(strings.ToUpper(name), "SIG"))
	if n == 0 {
		return 0, fmt.Errorf("%q is not the name of a signal", name)
	}
	return n, nil
}

// signalName is the name of a signal, without "SIG". Those without a name, for
// example the real-time ones, are their number.
func signalName(n syscall.Signal) string {
	if name := unix.SignalName(n); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return fmt.Sprint(int(n))
}
