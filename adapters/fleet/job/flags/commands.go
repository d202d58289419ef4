package flags

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// deafTraps are warnings about traps in the shell of a script for a signal that the
// shell does not get.
func deafTraps(s *job.Spec) []job.Problem {
	if s.Warn == nil || s.Warn.Shell {
		return nil
	}
	for number, line := range ownLines(s.Script, len(directiveLines(s.Script))) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "trap" {
			continue
		}
		for _, w := range words[2:] {
			if name, err := job.SignalName(strings.Trim(w, `;"'`)); err == nil && name == s.Warn.Signal {
				return []job.Problem{{Line: number, Message: fmt.Sprintf(
					"the shell does not get %s before the time limit, only what it has started does: --signal=B:%[1]s is for the shell", name)}}
			}
		}
	}
	return nil
}

// callOf is the first line of a script that has the command in it, 0 for none. Where it
// stands it need not be called: people are told, and know better.
func callOf(script, command string) int {
	called := regexp.MustCompile(`(^|[\s;&|("'` + "`" + `=/])` + regexp.QuoteMeta(command) + `($|[\s;&|)"'` + "`" + `])`)
	for number, line := range ownLines(script, len(directiveLines(script))) {
		if !isComment(line) && called.MatchString(line) {
			return number
		}
	}
	return 0
}
