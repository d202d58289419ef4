package flags

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// slurmOptions are the options of "#SBATCH" lines: those of Berth, but for a short name
// that has another meaning on the command line, and for what is said about tasks.
var slurmOptions = merged(berthOptions, []*option{
	{name: "output", short: "o", set: setPattern("output")},
	{name: "tasks", short: "n", aliases: []string{"ntasks"}, set: setSlurmTasks},
})

// setMemory sets the memory of a task.
func setMemory(r *reading, value string) error {
	r.job.perCPU = amount{}
	b, err := r.memory(value)
	if err == nil {
		r.spec.Resources.Memory = b
	}
	return err
}

// setMemoryPerCPU notes what is to be counted when the number of cores is known.
func setMemoryPerCPU(r *reading, value string) error {
	r.job.forget("memory")
	b, err := r.memory(value)
	r.job.perCPU = amount{bytes: b, at: r.at("mem-per-cpu")}
	return err
}

// setDisk sets the disk of a task.
func setDisk(r *reading, value string) error {
	b, err := r.bytes(value)
	if err == nil {
		r.spec.Resources.Disk = b
	}
	return err
}

// memory reads an amount of memory. 0 would be none, and in Slurm it is all.
func (r *reading) memory(value string) (job.Bytes, error) {
	b, err := r.bytes(value)
	if err == nil && b == 0 {
		err = fmt.Errorf("%s would be all memory of a node: write how much is needed", value)
	}
	return b, err
}

// bytes reads an amount of bytes, in directives for Slurm as Slurm does. Elsewhere it
// needs its unit: Slurm's users take a number alone for megabytes.
func (r *reading) bytes(value string) (job.Bytes, error) {
	switch {
	case r.slurm:
		return slurmBytes(value)
	case value != "0" && value != "" && strings.Trim(value, "0123456789.") == "":
		return 0, fmt.Errorf(`the number %s has no unit: "%sMi" would be mebibytes, as Slurm counts, "%sGi" gibibytes and "%sB" bytes`,
			value, value, value, value)
	}
	return job.ParseBytes(value)
}

// slurmAmount is an amount as Slurm reads it, and as people write it.
var slurmAmount = regexp.MustCompile(`^(?i)([0-9]+(?:\.[0-9]+)?)(?:([KMGT])(?:I|B|IB)?)?$`)

// slurmBytes reads an amount as Slurm does: megabytes where there is no unit, and
// powers of 1024.
func slurmBytes(value string) (job.Bytes, error) {
	m := slurmAmount.FindStringSubmatch(value)
	if m == nil || m[2] == "" && !isNumber(m[1]) {
		return 0, fmt.Errorf("%q is no amount of bytes: write megabytes, or a number with K, M, G or T", value)
	}
	return job.ParseBytes(m[1] + cmp.Or(m[2], "M") + "i")
}

// setSlurmTasks sets how many tasks there are, and notes that it was said for Slurm.
func setSlurmTasks(r *reading, value string) error {
	r.job.tasksAt = r.at("ntasks")
	return setTasks(r, value)
}

// pathFields are where the options of paths put them.
var pathFields = map[string]func(*job.Spec) *string{
	"output": func(s *job.Spec) *string { return &s.Output },
	"error":  func(s *job.Spec) *string { return &s.Error },
}

// setPattern sets the path of a file, of the option of the name.
func setPattern(name string) func(*reading, string) error {
	return func(r *reading, value string) error {
		plain := value
		if r.slurm {
			plain = plainPattern(value, false)
			switch {
			case job.PathHas(value, 'n'):
				return errors.New("%n is the place of a node among those of the job, which Berth does not count: write %N for its name")
			case job.PathHas(value, 's'):
				return errors.New("%s is the number of a job step, which Berth does not have")
			}
		}
		// Whether the job's name can be part of it is not known yet.
		if _, err := job.ExpandPath(plain, job.TaskID{}, job.PathNames{}); err != nil {
			return err
		}
		*pathFields[name](r.spec) = plain
		delete(r.job.slurmPaths, name)
		if r.slurm {
			if r.job.slurmPaths == nil {
				r.job.slurmPaths = map[string]string{}
			}
			r.job.slurmPaths[name] = value
		}
		return nil
	}
}

// inPattern is what stands for something in a pattern.
var inPattern = regexp.MustCompile(`%([0-9]*)(.)`)

// plainPattern is a pattern of Slurm in Berth's words. Each element of an array has a
// number of its own there, %j, beside that of the array, %A. %J is %j with the number of
// a job step, and the script is none.
func plainPattern(pattern string, array bool) string {
	own := "%${1}j"
	if array {
		own += "_%a"
	}
	words := map[string]string{"A": "%${1}j", "j": own, "J": own, "N": "%n"}
	return inPattern.ReplaceAllStringFunc(pattern, func(part string) string {
		word, ok := words[part[len(part)-1:]]
		if !ok {
			return part
		}
		return inPattern.ReplaceAllString(part, word)
	})
}
