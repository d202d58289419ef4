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

// A file of the output takes the error output, too, unless that has one of its own.
func TestOutputWithDefaults(t *testing.T) {
	for _, c := range []struct{ given, want Spec }{
		{Spec{}, Spec{}},
		{Spec{Output: "o"}, Spec{Output: "o", Error: "o", OpenMode: OpenTruncate}},
		{Spec{Error: "e"}, Spec{Error: "e", OpenMode: OpenTruncate}},
		{Spec{Output: "o", Error: "e", OpenMode: OpenAppend}, Spec{Output: "o", Error: "e", OpenMode: OpenAppend}},
	} {
		got := c.given.WithDefaults()
		require.Equal(t, c.want, Spec{Output: got.Output, Error: got.Error, OpenMode: got.OpenMode})
	}
}
