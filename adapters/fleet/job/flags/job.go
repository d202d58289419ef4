package flags

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// Job is a job as options fill it, and what else they ask for. Set.Apply completes
// it.
type Job struct {
	Spec job.Spec // what the flags and the lines of the script say
	// Wait: the command waits for the end of the job.
	Wait bool
	// Parsable: of what is printed only its number is wanted.
	Parsable bool
	// Warnings are about what was written and means nothing, or is not read at all.
	Warnings []job.Problem

	// What follows is for when all options of all places are read.

	// refusals are the options that it cannot be submitted with.
	refusals []refusal
	// nice is taken from the priority, wherever that is written.
	nice   int32
	niceAt job.Problem
	// perCPU is memory for each core.
	perCPU amount
	// tasksAt is where Slurm was told how many tasks there are, its line 0 where it
	// was not.
	tasksAt job.Problem
	// isFile: the lines of the script are those of the file that people wrote.
	isFile bool
	// exported are the variables that came with --export=ALL.
	exported map[string]string
	// places are where fields were filled, by their paths. The messages are to be completed.
	places map[string]job.Problem
	// slurmPaths are patterns of "#SBATCH" lines, by the name of their option.
	slurmPaths map[string]string
}

// refusal is an option that a job cannot have, unless a later one with the same key
// takes its place; one without a key stays.
type refusal struct {
	key     string
	problem job.Problem
	// several: only a job of several tasks cannot have it.
	several bool
}

// amount is an amount of bytes, and where it was written.
type amount struct {
	bytes job.Bytes
	at    job.Problem
}

// forget forgets what an option of the key was refused for.
func (j *Job) forget(key string) {
	j.refusals = slices.DeleteFunc(j.refusals, func(r refusal) bool { return r.key == key })
}

// complete does what needs all options. The error is a *job.ValidationError.
func (j *Job) complete(o Origin) error {
	var problems []job.Problem
	for _, r := range j.refusals {
		if !r.several || j.Spec.Tasks > 1 {
			problems = append(problems, r.problem)
		}
	}
	if j.perCPU.bytes > 0 {
		cores := max(1, (int64(j.Spec.Resources.CPU)+999)/1000)
		if int64(j.perCPU.bytes) > math.MaxInt64/cores {
			at := j.perCPU.at
			at.Message += fmt.Sprintf("is too large for %d cores", cores)
			problems = append(problems, at)
		} else {
			j.Spec.Resources.Memory = j.perCPU.bytes * job.Bytes(cores)
		}
	}
	problems = append(problems, j.takeNice()...)
	j.takeUmask(o)
	j.leaveAccount()
	j.Warnings = append(j.Warnings, j.scriptWarnings(o)...)
	for name, pattern := range j.slurmPaths {
		*pathFields[name](&j.Spec) = plainPattern(pattern, !j.Spec.Array.IsZero())
	}
	if o.Dir != "" {
		j.inDir(o)
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b job.Problem) int { return cmp.Compare(a.Line, b.Line) })
		return &job.ValidationError{Problems: problems}
	}
	return nil
}

// takeNice takes what --nice says from the priority, and says if that cannot be.
func (j *Job) takeNice() []job.Problem {
	priority := int64(j.Spec.Priority) - int64(j.nice)
	if j.nice != 0 && (priority < job.MinPriority || priority > job.MaxPriority) {
		at := j.niceAt
		at.Message += fmt.Sprintf("the priority, %d, less %d is not between %d and %d", j.Spec.Priority, j.nice, job.MinPriority, job.MaxPriority)
		return []job.Problem{at}
	}
	j.Spec.Priority, j.nice = int32(priority), 0
	return nil
}

// inDir has the job run where it is submitted, unless it says otherwise.
func (j *Job) inDir(o Origin) {
	s := &j.Spec
	switch {
	case s.Dir == "":
		s.Dir = o.Dir
	case s.Dir != job.OwnDir && !path.IsAbs(s.Dir):
		s.Dir = path.Join(o.Dir, s.Dir)
	}
	if s.SubmitDir == "" {
		s.SubmitDir, s.SubmitHost = o.Dir, o.Host
	}
}
