package flags

import (
	"fmt"
	"math"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// slurmOptions are the options of "#SBATCH" lines: those of Berth, but for these.
var slurmOptions = merged(berthOptions, []*option{
	{name: "output", short: "o", set: setPattern(func(s *job.Spec) *string { return &s.Output })},
	{name: "error", short: "e", set: setPattern(func(s *job.Spec) *string { return &s.Error })},
	{name: "gpus", short: "G", set: func(r *reading, value string) error {
		r.jobGPUs = value
		return setGPUs(r, value)
	}},
	{name: "gpus-per-task", aliases: []string{"gpus-per-node"}, set: setGPUs},
	{name: "mem-per-cpu", set: func(r *reading, value string) error {
		r.memoryPerCPU = value
		_, err := slurmBytes(value)
		return err
	}},
	{name: "nodes", short: "N", set: onlyOne},
	{name: "ntasks-per-node", set: onlyOne},
	{name: "account", short: "A", set: nothing},
	{name: "mail-type", set: nothing},
	{name: "mail-user", set: nothing},
	{name: "comment", set: nothing},
	{name: "wckey", set: nothing},
	{name: "profile", set: nothing},
	{name: "acctg-freq", set: nothing},
	{name: "quiet", short: "Q", isBool: true, set: nothing},
	{name: "verbose", short: "v", isBool: true, set: nothing},
	{name: "parsable", isBool: true, set: nothing},
	{name: "get-user-env", isBool: true, set: nothing},
	{name: "propagate", isBool: true, set: nothing},
})

// nothing reads an option that means nothing here.
func nothing(*reading, string) error { return nil }

// onlyOne reads an option that means nothing where it is 1, and would mean what
// Berth does not do where it is more.
func onlyOne(_ *reading, value string) error {
	if value == "1" || value == "1-1" {
		return nil
	}
	return fmt.Errorf("%q is not read: tasks go to any nodes that have room, --ntasks says how many there are", value)
}

// finish does what needs all options of the lines.
func (r *reading) finish() error {
	if r.jobGPUs != "" && r.spec.Tasks > 1 {
		return fmt.Errorf("--gpus=%s would be for all %d tasks together: write --gpus-per-task", r.jobGPUs, r.spec.Tasks)
	}
	if r.memoryPerCPU != "" {
		b, err := slurmBytes(r.memoryPerCPU)
		if err != nil {
			return err
		}
		cores := max(1, (int64(r.spec.Resources.CPU)+999)/1000)
		if int64(b) > math.MaxInt64/cores {
			return fmt.Errorf("--mem-per-cpu=%s is too large for %d cores", r.memoryPerCPU, cores)
		}
		r.spec.Resources.Memory = b * job.Bytes(cores)
	}
	return nil
}

// setBytes sets an amount of bytes.
func setBytes(field func(*job.Spec) *job.Bytes) func(*reading, string) error {
	return func(r *reading, value string) error {
		parse := job.ParseBytes
		if r.slurm {
			parse = slurmBytes
		}
		b, err := parse(value)
		if err == nil {
			*field(r.spec) = b
		}
		return err
	}
}

// slurmBytes reads an amount as Slurm does: megabytes where there is no unit, and
// powers of 1024.
func slurmBytes(value string) (job.Bytes, error) {
	if value == "0" {
		return 0, fmt.Errorf("0 would be all memory of a node: write how much is needed")
	}
	number := strings.TrimRight(value, "KMGTkmgt")
	unit := value[len(number):]
	if !isNumber(number) || len(unit) > 1 {
		return 0, fmt.Errorf("%q is no amount of memory: write megabytes, or a number with K, M, G or T", value)
	}
	if unit == "" {
		unit = "M"
	}
	return job.ParseBytes(number + unit + "i")
}

// setPattern sets the name of a file.
func setPattern(field func(*job.Spec) *string) func(*reading, string) error {
	return func(r *reading, value string) error {
		if r.slurm {
			// "%%" stands first, so that "%%A" is left alone.
			value = strings.NewReplacer("%%", "%%", "%A", "%j", "%N", "%n").Replace(value)
		}
		if _, err := job.ExpandPath(value, job.TaskID{}, job.PathNames{}); err != nil {
			return err
		}
		*field(r.spec) = value
		return nil
	}
}
