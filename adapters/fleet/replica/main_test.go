package replica

import (
	"os"
	"testing"

	"github.com/berth-project/berth/adapters/fleet/internal/fleettest"
)

func TestMain(m *testing.M) { os.Exit(fleettest.RunWaiting(m)) }
