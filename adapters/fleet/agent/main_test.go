package agent

import (
	"os"
	"syscall"
	"testing"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
)

// TestMain makes the test program the shim that the agents under test start, and an
// agent that tests may kill.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "shim":
		// os.Exit would wait a second for the race detector.
		syscall.Exit(shim.Main(os.Args[2]))
	case os.Getenv(childAgentEnv) != "":
		os.Exit(childAgent())
	}
	os.Exit(m.Run())
}
