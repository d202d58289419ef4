package daemon

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Mistakes in the command line are told by their exit code, and name what is wrong.
func TestMistakes(t *testing.T) {
	data, none := t.TempDir(), filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"ca", "nope"}, `there is no command "berth ca nope"; see berth ca --help`},
		{[]string{"ca", "create", "x"}, `there is no command "berth ca create"`},
		{[]string{"ca", "issue", "user"}, "wrong arguments; the usage is: berth ca issue ROLE NAME"},
		{[]string{"ca", "issue", "god", "eve", "--dir", none}, `role "god" is none of server, agent, user, operator`},
		{[]string{"ca", "issue", "user", "eve", "--lifetime", "x", "--dir", none}, `--lifetime: "x" is no duration`},
		{[]string{"agent", "x"}, "wrong arguments; the usage is: berth agent"},
		{[]string{"agent", "--data", data}, "--servers, or servers in the settings"},
		{[]string{"agent", "--data", data, "--listen", "x"}, "--listen, or listen in the settings"},
		{[]string{"agent", "--config", none}, "--config: open "},
		{[]string{"server", "x"}, "wrong arguments; the usage is: berth server"},
		{[]string{"server", "--data", data, "--log-level", "zebra"}, `there is no level "zebra"`},
	} {
		root := &cobra.Command{Use: "berth", SilenceErrors: true, SilenceUsage: true}
		root.SetOut(io.Discard)
		root.AddCommand(ServerCommand("v"), AgentCommand("v"), CACommand())
		root.SetArgs(c.args)
		err := root.ExecuteContext(t.Context())
		require.ErrorContains(t, err, c.want, "%q", c.args)
		var coded interface{ ExitCode() int }
		require.ErrorAs(t, err, &coded, "%q", c.args)
		require.Equal(t, 2, coded.ExitCode(), "%q", c.args)
	}
}
