package job

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConstraintWithDefaults(t *testing.T) {
	for want, k := range map[Operator]Constraint{
		In:        {Label: "rack", Values: []string{"r1"}},
		Exists:    {Label: "rack"},
		NotExists: {Label: "rack", Operator: NotExists},
	} {
		with := k.WithDefaults()
		require.Equal(t, want, with.Operator)
		require.NoError(t, with.Validate())
		k.Operator = want
		require.Equal(t, k, with)
	}
}
