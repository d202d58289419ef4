package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Who interrupts a command that waits is told that the job goes on.
func TestInterruptedWait(t *testing.T) {
	e := newEnvironment(t)
	code, out := e.terminal(t, 1, "wait", "40")
	assert.Equal(t, ExitNotTheJobs, code)
	assert.Contains(t, out, `; what is waited for goes on: "berth wait 40" waits again, and "berth cancel 40" ends it`)
}

// A program that submits with a key it has used before is told, whatever it reads of the
// answer.
func TestRepeatedKey(t *testing.T) {
	const path = "POST /v1/jobs"
	before := answers[path]
	t.Cleanup(func() { answers[path] = before })
	answers[path] = api.SubmitResponse{Jobs: []job.ID{22}, Repeated: true}
	e := newEnvironment(t)
	code, out, errOut := e.run("submit", "--key=k", "-o", "name", "--", "true")
	assert.Zero(t, code)
	assert.Equal(t, "22\n", out)
	assert.Equal(t, "berth: nothing is submitted: there was a submission with the same key before, whatever was in it\n", errOut)
}
