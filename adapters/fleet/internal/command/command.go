// Package command has what all commands of berth have in common: what is said of a wrong command
// line, with the exit code that goes with it.
package command

import (
	"fmt"

	"github.com/spf13/cobra"
)

// ExitMistake is the exit code of a [Mistake].
const ExitMistake = 2

// mistake is an error of what the user wrote.
type mistake struct{ error }

// ExitCode is ExitMistake.
func (mistake) ExitCode() int { return ExitMistake }

func (m mistake) Unwrap() error { return m.error }

// Mistake marks an error as one of what the user wrote, on the command line or in settings. Its
// method ExitCode says the code that the program ends with.
func Mistake(err error) error { return mistake{err} }

// Mistakef is a Mistake with a text of its own.
func Mistakef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// NoCommand is the mistake of naming a command that the group does not have.
func NoCommand(group *cobra.Command, name string) error {
	path := group.CommandPath()
	return Mistakef("there is no command %q; see %s --help", path+" "+name, path)
}

// Args wants between least and most arguments, any number where most is below 0. For a command that
// has others an argument too many is the name of one that it does not have.
func Args(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) >= least && (most < 0 || len(args) <= most):
			return nil
		case c.HasSubCommands():
			return NoCommand(c, args[0])
		}
		return Mistakef("wrong arguments; the usage is: %s", c.UseLine())
	}
}
