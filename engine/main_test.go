package engine_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the garbage collector run less often, unless GOGC says otherwise: the tests make
// thousands of small engines, and it would take a third of the time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
