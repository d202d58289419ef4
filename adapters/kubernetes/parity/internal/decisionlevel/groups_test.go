package decisionlevel

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/answer"
)

// Only the order of the list is left to chance: not what is in it, what stands around it, or the rest of the decision.
func TestInAnotherOrder(t *testing.T) {
	says := func(message string) answer.Decision { return answer.Decision{Workload: "w", Message: message} }
	ref := says("0/3 nodes are available: 3 Insufficient cpu. preemption: [running \"A\" filter plugin: x, running \"B\" filter plugin: y]")
	assert.True(t, inAnotherOrder(ref, says("0/3 nodes are available: 3 Insufficient cpu. preemption: [running \"B\" filter plugin: y, running \"A\" filter plugin: x]")))
	for _, other := range []string{
		"0/3 nodes are available: 3 Insufficient cpu. preemption: [running \"B\" filter plugin: y, running \"A\" filter plugin: z]",
		"0/3 nodes are available: 3 Insufficient cpu. preemption: [running \"B\" filter plugin: y]",
		"0/3 nodes are available: 2 Insufficient cpu. preemption: [running \"B\" filter plugin: y, running \"A\" filter plugin: x]",
		"0/3 nodes are available: 3 Insufficient cpu. running \"B\" filter plugin: y, running \"A\" filter plugin: x",
		"", "running", "preemption: ]",
	} {
		assert.False(t, inAnotherOrder(ref, says(other)), other)
	}
	elsewhere := ref
	elsewhere.Nominated = "n1"
	assert.False(t, inAnotherOrder(ref, elsewhere))
}
