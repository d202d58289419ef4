package adaptertest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// leakPatience is how long goroutines that are about to end are given.
const leakPatience = 5 * time.Second

// Main runs the tests of a package and then fails if any goroutine is left that
// was not there before. It is all that TestMain has to do:
//
//	func TestMain(m *testing.M) { os.Exit(adaptertest.Main(m)) }
func Main(m *testing.M) int {
	before := goroutines()
	code := m.Run()
	if code != 0 {
		return code // a failed test may well leave something behind
	}
	if left := leaks(before, leakPatience); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines are left after the tests:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		return 1
	}
	return 0
}

// leaks returns the stacks of the goroutines that were not there before and do
// not end in time.
func leaks(before map[string]string, patience time.Duration) []string {
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		var left []string
		for id, stack := range goroutines() {
			if _, was := before[id]; !was {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-giveUp.C:
			return left
		case <-again.C:
		}
	}
}

// goroutines returns the stacks of all goroutines but the caller's and those of
// the runtime and the testing package, by the goroutine's number.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := strings.Split(strings.TrimSpace(string(buf)), "\n\n")
	found := map[string]string{}
	for _, stack := range stacks[1:] { // the first is the caller's
		header, rest, _ := strings.Cut(stack, "\n")
		first, _, _ := strings.Cut(rest, "\n")
		if ignored(first, rest) {
			continue
		}
		// "goroutine 7 [select, 2 minutes]:"
		if fields := strings.Fields(header); len(fields) > 1 {
			found[fields[1]] = stack
		}
	}
	return found
}

// ignored are goroutines that a test binary has by itself.
func ignored(top, stack string) bool {
	for _, prefix := range []string{"testing.", "os/signal.", "runtime."} {
		if strings.HasPrefix(top, prefix) {
			return true
		}
	}
	return strings.Contains(stack, "created by testing.") || strings.Contains(stack, "created by runtime")
}
