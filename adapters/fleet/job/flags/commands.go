package flags

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// scriptWarnings are about what a script does that will not come to what it was written
// for.
func (j *Job) scriptWarnings(o Origin) []job.Problem {
	if j.Spec.Script == "" {
		return nil
	}
	warnings := slices.Concat(j.severalRuns(), j.missingCommands(), j.deafTraps(), j.lackedSettings(o))
	slices.SortStableFunc(warnings, func(a, b job.Problem) int { return a.Line - b.Line })
	return warnings
}

// atLine is a problem of a line of the script. The message is to be completed.
func (j *Job) atLine(number int) job.Problem {
	if j.isFile {
		return job.Problem{Line: number}
	}
	return job.Problem{Field: "script", Message: fmt.Sprintf("its line %d: ", number)}
}

// severalRuns warns of a script for Slurm that runs as often as there are tasks.
func (j *Job) severalRuns() []job.Problem {
	if j.tasksAt.Line == 0 || j.Spec.Tasks <= 1 {
		return nil
	}
	p := j.tasksAt
	p.Message += fmt.Sprintf("the script runs in each of the %d tasks; in Slurm it runs once, and starts the others: "+
		"for that, as with mpirun on one node, write --ntasks=1 and --cpus-per-task=%[1]d", j.Spec.Tasks)
	return []job.Problem{p}
}

// absent are commands of Slurm that scripts call, and what there is in their place.
var absent = []struct{ command, instead string }{
	{"srun", "the script itself runs in each task, write the program alone"},
	{"sbatch", "berth submit takes the same script"},
	{"squeue", "berth jobs lists jobs"},
	{"scancel", "berth cancel ends jobs"},
	{"scontrol", "berth job and berth node show what it shows, and berth requeue, hold and release do what it does"},
	{"sacct", "berth usage and berth job show what jobs have used"},
	{"sinfo", "berth nodes lists nodes"},
}

// missingCommands warns of a script that calls commands of Slurm, but for those that it
// brings itself, or looks whether they are there.
func (j *Job) missingCommands() (warnings []job.Problem) {
	for _, a := range absent {
		line := callOf(j.Spec.Script, a.command)
		if line == 0 || bringsItself(j.Spec.Script, a.command) {
			continue
		}
		p := j.atLine(line)
		p.Message += fmt.Sprintf("there is no %s, and nodes need not have one: %s", a.command, a.instead)
		warnings = append(warnings, p)
	}
	return warnings
}

// bringsItself reports whether a script defines a command, or looks whether there is one.
func bringsItself(script, command string) bool {
	own := `COMMAND\s*\(\)|(function|command -v|which|type|hash)\s+COMMAND|alias\s+COMMAND=`
	return regexp.MustCompile(strings.ReplaceAll(own, "COMMAND", command)).MatchString(script)
}

// deafTraps warns of a trap in the shell of a script for a signal that the shell does not
// get.
func (j *Job) deafTraps() []job.Problem {
	warn := j.Spec.Warn
	if warn == nil || warn.Shell {
		return nil
	}
	for number, line := range ownLines(j.Spec.Script, len(directiveLines(j.Spec.Script))) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "trap" {
			continue
		}
		for _, w := range words[2:] {
			if name, err := job.SignalName(strings.Trim(w, `;"'`)); err == nil && name == warn.Signal {
				p := j.atLine(number)
				p.Message += fmt.Sprintf("the shell does not get %s before the time limit, only what it has started does: --signal=B:%[1]s is for the shell", name)
				return []job.Problem{p}
			}
		}
	}
	return nil
}

// lackedSettings warns of a script that calls berth, and would have found settings of it
// here that do not go along.
func (j *Job) lackedSettings(o Origin) []job.Problem {
	var lacked []string
	for _, v := range o.Environ {
		name, content, _ := strings.Cut(v, "=")
		if _, has := j.Spec.Env[name]; !has && content != "" && (name == "BERTH_TOKEN" || slices.Contains(job.ClientVariables, name)) {
			lacked = append(lacked, name)
		}
	}
	line := callOf(j.Spec.Script, "berth submit")
	if line == 0 || len(lacked) == 0 {
		return nil
	}
	p := j.atLine(line)
	p.Message += fmt.Sprintf("calls berth submit, and settings of berth do not go along: %s; --export=ALL takes them", strings.Join(lacked, ", "))
	if slices.Contains(lacked, "BERTH_TOKEN") {
		p.Message += ", but no BERTH_TOKEN: a BERTH_TOKEN_FILE does"
	}
	return []job.Problem{p}
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
