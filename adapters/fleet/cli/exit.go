package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// The exit codes, but for those of jobs.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = command.ExitMistake
	ExitNotFound    = 3
	ExitNotAllowed  = 4
	ExitUnreachable = 5
	// ExitNotTheJobs is that of commands that end with the code of a job, where they
	// fail themselves: timeout(1) and others have it for that.
	ExitNotTheJobs = 125
)

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// ExitCode is the code.
func (e *exitError) ExitCode() int { return e.code }

// Execute runs the command, prints its error, and returns the exit code.
func Execute(ctx context.Context, c *cobra.Command) int {
	err := c.ExecuteContext(ctx)
	if err != nil {
		printError(c, err)
	}
	return ExitCode(err)
}

// ExitCode is the code that goes with a command's error: that which it says itself,
// where it has a method ExitCode.
func ExitCode(err error) int {
	var (
		coded    interface{ ExitCode() int }
		answered *api.Error
	)
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.Is(err, job.ErrInvalid), errors.Is(err, job.ErrTooLarge):
		return ExitUsage
	case errors.Is(err, client.ErrUnreachable):
		return ExitUnreachable
	case !errors.As(err, &answered):
		return ExitFailed
	}
	switch answered.Code {
	case api.CodeInvalid, api.CodeTooLarge:
		return ExitUsage
	case api.CodeNotFound:
		return ExitNotFound
	case api.CodeUnauthorized, api.CodeForbidden:
		return ExitNotAllowed
	case api.CodeNoLeader:
		return ExitUnreachable
	}
	return ExitFailed
}

// printError prints an error, each problem on a line of its own. Errors that were
// joined are printed one after the other.
func printError(c *cobra.Command, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			printError(c, one)
		}
		return
	}
	out := c.ErrOrStderr()
	var (
		invalid  *job.ValidationError
		answered *api.Error
	)
	switch {
	case errors.As(err, &invalid):
		what := "the job cannot be submitted"
		if invalid.About != "" {
			what = visible(invalid.About) + " is not valid"
			if invalid.About == "-" {
				what = "the standard input is not valid"
			}
		}
		fmt.Fprintln(out, "berth: "+what+":")
		for _, p := range invalid.Problems {
			fmt.Fprintln(out, "  "+visible(p.String()))
		}
	case errors.As(err, &answered) && len(answered.Problems) > 0:
		// What was wrapped around the answer says what it is about.
		about := strings.TrimSuffix(err.Error(), answered.Error())
		fmt.Fprintln(out, "berth: "+visible(about+answered.Message)+":")
		for _, p := range answered.Problems {
			fmt.Fprintln(out, "  "+visible(p.Field+": "+p.Message))
		}
	default:
		fmt.Fprintln(out, "berth: "+visible(err.Error()))
	}
}
