package daemon

import (
	"fmt"

	"github.com/spf13/cobra"
)

// mistake is an error of what the user wrote, on the command line or in settings. It ends
// the program with the code that such errors have in all commands.
type mistake struct{ error }

// ExitCode is cli.ExitUsage.
func (mistake) ExitCode() int { return 2 }

func (m mistake) Unwrap() error { return m.error }

// mistaken is a mistake with a text of its own.
func mistaken(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// exactly wants so many arguments; none of a command that has others.
func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == n:
			return nil
		case c.HasSubCommands():
			return mistaken("there is no command %q; see %s --help", c.CommandPath()+" "+args[0], c.CommandPath())
		}
		return mistaken("wrong arguments; the usage is: %s", c.UseLine())
	}
}
