package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// One job with a long name does not make the lines of all jobs long.
func TestLongNamesAreCut(t *testing.T) {
	a := &app{now: func() time.Time { return now }}
	var out bytes.Buffer
	a.jobTable(&cobra.Command{}, []api.Job{{ID: 1, Name: strings.Repeat("n", 128)}, {ID: 2, Name: "short"}}).write(&out)
	assert.Contains(t, out.String(), strings.Repeat("n", maxCell-3)+"...")
	for line := range strings.Lines(out.String()) {
		assert.Less(t, len(line), 150)
	}
}
