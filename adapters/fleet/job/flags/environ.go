package flags

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// setEnv sets NAME=value, or takes the value from the environment.
func setEnv(r *reading, value string) error {
	name, content, ok := strings.Cut(value, "=")
	if err := job.CheckVariable(name); err != nil {
		return err
	}
	if !ok {
		found := false
		for _, v := range r.Environ {
			if rest, is := strings.CutPrefix(v, name+"="); is {
				content, found = rest, true
			}
		}
		if !found {
			return fmt.Errorf("the variable %s is not set here, write %s=value", name, name)
		}
	}
	put(&r.spec.Env, name, content)
	put(&r.named, name, true)
	return nil
}

// setExport sets the variables that go along. What the same place sets one by one stays,
// be it before or after.
func setExport(r *reading, value string) error {
	for part := range strings.SplitSeq(value, ",") {
		switch strings.ToUpper(part) {
		case "ALL":
			r.exportAll()
		case "NONE", "NIL":
			env := maps.Clone(r.spec.Env)
			maps.DeleteFunc(env, func(name, _ string) bool { return !r.named[name] })
			r.spec.Env = env
		default:
			if err := setEnv(r, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportAll sets all variables of who submits but those that no job may set, which it
// names. Those that an agent has set, for a job that submits jobs, the next one sets
// anew.
func (r *reading) exportAll() {
	inJob := slices.ContainsFunc(r.Environ, func(v string) bool { return strings.HasPrefix(v, "BERTH_JOB_ID=") })
	var left []string
	for _, v := range r.Environ {
		name, content, _ := strings.Cut(v, "=")
		switch {
		case r.named[name]:
		case job.CheckVariable(name) == nil:
			put(&r.spec.Env, name, content)
			put(&r.job.exported, name, content)
		case !inJob || !job.ReservedVariable(name):
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		r.warn("export", "what has these names does not go along: %s", shortList(left))
	}
}

// shortList is the beginning of a list for people.
func shortList(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// takeUmask has the job run with the umask of where it is submitted, unless it says
// otherwise. The default is not written down: older servers know no other.
func (j *Job) takeUmask(o Origin) {
	if j.Spec.Umask != "" || o.Umask == "" || o.Umask == job.DefaultUmask {
		return
	}
	if _, err := job.ParseUmask(o.Umask); err != nil {
		j.Warnings = append(j.Warnings, job.Problem{Field: "umask", Message: fmt.Sprintf("that of this shell does not go along: %v; the job has %s", err, job.DefaultUmask)})
		return
	}
	j.Spec.Umask = o.Umask
}

// ofAccount are the variables that say whose a session is.
var ofAccount = []string{"HOME", "LOGNAME", "MAIL", "SHELL", "USER"}

// leaveAccount takes back what came with --export=ALL and says whose the submitter's session
// is, where the job runs under another account: agents set what is right for that one.
func (j *Job) leaveAccount() {
	if j.Spec.User == "" || j.Spec.User == j.exported["USER"] {
		return
	}
	for _, name := range ofAccount {
		if value, ok := j.exported[name]; ok && j.Spec.Env[name] == value {
			delete(j.Spec.Env, name)
		}
	}
}
