package job

import (
	"fmt"
	"slices"
	"strings"
)

// signals are the names that Linux has for signals, without "SIG".
var signals = []string{
	"HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
	"TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF",
	"WINCH", "IO", "PWR", "SYS",
}

// CheckSignal says what is wrong with the name of a signal, nil where there is one
// of that name. Names have no "SIG": "TERM".
func CheckSignal(name string) error {
	if slices.Contains(signals, name) {
		return nil
	}
	return fmt.Errorf("%s is no signal, write a name such as TERM, INT, HUP, USR1 or KILL", quote(name))
}

// checkCatchable is CheckSignal for a signal that a program is to act on.
func checkCatchable(name string) error {
	if name == "KILL" || name == "STOP" {
		return fmt.Errorf("no program can act on %s", name)
	}
	return CheckSignal(name)
}

// SignalName is the name of a signal that people may write in other ways: "SIGTERM",
// "term", "15". It fails where there is none.
func SignalName(s string) (string, error) {
	name := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for i, known := range signals {
		if s == fmt.Sprint(i+1) {
			name = known
		}
	}
	if err := CheckSignal(name); err != nil {
		return "", fmt.Errorf("%s is no signal, write a name such as TERM, INT, HUP, USR1 or KILL", quote(s))
	}
	return name, nil
}

// SignalNumber is the number that Linux has for a signal, 0 where there is none of
// the name.
func SignalNumber(name string) int { return slices.Index(signals, name) + 1 }
