package flags

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// berthOptions are the options of "berth submit" and of "#BERTH" lines, in the
// order of the fields of job.Spec; the last ones are about submitting it. Near and
// Apart have none: they need a job file.
var berthOptions = []*option{
	{name: "name", short: "J", aliases: []string{"job-name"}, usage: "`name` of the job, for people",
		set: text(func(s *job.Spec) *string { return &s.Name })},
	{name: "queue", short: "p", aliases: []string{"partition"}, usage: "`queue` that the job waits in", set: setQueue},
	{name: "label", usage: "label of the job, `key=value`; may be repeated", set: setLabel},
	{name: "env", usage: "environment variable, `NAME=value`, or NAME for the one that is set here; may be repeated", set: setEnv},
	{name: "export", usage: "environment variables that go along: `ALL`, NONE, or a list as --env has them; --env stays", set: setExport},
	{name: "dir", short: "D", aliases: []string{"chdir"}, usage: "working directory on the node, a `path`; default: the present one; \"own\": a folder that is made for the task and removed with it",
		set: text(func(s *job.Spec) *string { return &s.Dir })},
	{name: "user", aliases: []string{"uid"}, usage: "`account` on the node that the job runs as",
		set: text(func(s *job.Spec) *string { return &s.User })},
	{name: "output", usage: "`file` on the node for the output, relative to the working directory; %j, %x, %a, %t, %n, %u stand for job, its name, element, rank, node, user",
		set: setPattern("output")},
	{name: "error", short: "e", usage: "`file` on the node for the error output, as --output has it; default: the file of --output", set: setPattern("error")},
	{name: "open-mode", usage: "`mode` of these files: truncate, the default, removes what is in them before the job; append keeps it", set: setOpenMode},

	{name: "cpu", short: "c", aliases: []string{"cpus-per-task"}, usage: "`cores` for each task: 2, 0.5 or 500m",
		set: parsed(parseCores, func(s *job.Spec) *job.MilliCPU { return &s.Resources.CPU })},
	{name: "memory", aliases: []string{"mem"}, usage: "memory for each task, an `amount` with its unit: 512Mi, 4Gi",
		set: setMemory},
	{name: "mem-per-cpu", usage: "memory for each core of a task, an `amount` with its unit", set: setMemoryPerCPU},
	{name: "disk", aliases: []string{"tmp"}, usage: "disk for each task, an `amount` with its unit", set: setDisk},
	{name: "gpus", short: "G", aliases: []string{"gpus-per-task", "gpus-per-node"}, usage: "devices for each task: a number, or `model:number`", set: setGPUs},
	{name: "gpu-share", usage: "part of one device, in `thousandths`",
		set: number(func(s *job.Spec) *int64 { return &gpus(s).Share })},
	{name: "gres", usage: "resources in Slurm's words, `gpu:model:number` or name:number, with commas", set: setGres},
	{name: "resource", usage: "amount of another resource for each task, `name=number`; may be repeated", set: setResource},

	{name: "tasks", short: "n", aliases: []string{"ntasks"}, usage: "`number` of tasks that run together, all or none",
		set: setTasks},
	{name: "same-label", usage: "all tasks go to nodes with the same value of this node `label`",
		set: text(func(s *job.Spec) *string { return &s.SameLabel })},
	{name: "keep-going", isBool: true, usage: "the failure of one task does not end the others",
		set: yes(func(s *job.Spec) *bool { return &s.KeepGoing })},
	{name: "array", short: "a", usage: "elements, `indices`: 0-99, 1,3,5-9:2, and %10 for at most ten at once",
		set: parsed(job.ParseArray, func(s *job.Spec) *job.Array { return &s.Array })},

	{name: "nodelist", short: "w", usage: "the only `nodes` that will do, with commas: a,b or n[01-20]",
		set: nodes("nodes", func(s *job.Spec) *[]string { return &s.Nodes })},
	{name: "exclude", short: "x", usage: "`nodes` that will not do",
		set: nodes("excludeNodes", func(s *job.Spec) *[]string { return &s.ExcludeNodes })},
	{name: "constraint", short: "C", usage: "`condition` on labels of the node: key=a,b key!=a key>5 key<5 key !key, with & between; may be repeated", set: setConstraint},
	{name: "prefer", usage: "`weight:condition` that should hold, weight from 1 to 100; may be repeated", set: setPrefer},
	{name: "spread", usage: "spread evenly over the values of this node `label`; may be repeated", set: setSpread},

	{name: "reservation", usage: "run on the nodes of this reservation, while it is on, a `name`",
		set: text(func(s *job.Spec) *string { return &s.Reservation })},
	{name: "priority", usage: "`number`, higher goes first",
		set: number(func(s *job.Spec) *int32 { return &s.Priority })},
	{name: "nice", bare: "100", usage: "`number` that is taken from the priority, as Slurm has it: --nice=10, with \"=\"", set: setNice},
	{name: "hold", short: "H", isBool: true, usage: "wait until released",
		set: yes(func(s *job.Spec) *bool { return &s.Hold })},
	{name: "begin", short: "b", usage: "earliest `time` to start: 16:00, 2026-01-31T18:00, or 2h from now", set: setBegin},
	{name: "deadline", usage: "`time` at which the job is ended, whatever it is doing", set: setDeadline},
	{name: "dependency", short: "d", aliases: []string{"after"}, usage: "`jobs` to wait for: afterok:12:13,singleton; afterany:@name for a job of the same file", set: setDependency},
	{name: "singleton", isBool: true, usage: "wait for earlier jobs of the same name and user",
		set: yes(func(s *job.Spec) *bool { return &s.Singleton })},
	{name: "kill-on-invalid-dep", usage: "`yes` cancels the job when a dependency can never be met; no, the default, lets it wait", set: setKillOnInvalidDep},

	{name: "time", short: "t", usage: "time limit of an attempt, a `duration`: 90s, 1h30m, 2d, 01:30:00, or UNLIMITED", set: setTimeLimit},
	{name: "signal", usage: "`signal@duration`: send it that long before the time limit to what the script has started; B:signal@duration: to its shell alone", set: setSignal},
	{name: "kill-grace", usage: "`duration` between TERM and KILL",
		set: setDuration(func(s *job.Spec) *job.Duration { s.KillGrace = new(job.Duration); return s.KillGrace })},

	{name: "retries", usage: "`number` of further attempts after one that failed",
		set: number(func(s *job.Spec) *int32 { return &s.Retry.Limit })},
	{name: "retry-on", usage: "`ends` that are retried: failed, exit:N-M, signal:NAME, oom, timeout, with commas", set: setRetryOn},
	{name: "retry-backoff", usage: "`duration` before the first retry, which doubles with each",
		set: setDuration(func(s *job.Spec) *job.Duration { s.Retry.Backoff = new(job.Duration); return s.Retry.Backoff })},
	{name: "retry-max-backoff", usage: "longest `duration` before a retry",
		set: setDuration(func(s *job.Spec) *job.Duration { s.Retry.MaxBackoff = new(job.Duration); return s.Retry.MaxBackoff })},
	{name: "retry-same-node", isBool: true, usage: "a retry may go to the node of the last attempt",
		set: yes(func(s *job.Spec) *bool { return &s.Retry.SameNode })},
	{name: "no-requeue", isBool: true, usage: "what loses its node, cannot be started by it, or has to make room, is not tried again",
		set: yes(func(s *job.Spec) *bool { return &s.NoRequeue })},
	{name: "requeue", isBool: true, usage: "undo --no-requeue", set: setRequeue},

	{name: "wait", short: "W", isBool: true, usage: "wait for the end, and exit with the job's code",
		set: flag(func(j *Job) *bool { return &j.Wait })},
	{name: "parsable", isBool: true, usage: "print the job's number alone, as -o name does", set: flag(func(j *Job) *bool { return &j.Parsable })},
}

// text sets a text.
func text(field func(*job.Spec) *string) func(*reading, string) error {
	return func(r *reading, value string) error {
		*field(r.spec) = value
		return nil
	}
}

// yes sets a bool.
func yes(field func(*job.Spec) *bool) func(*reading, string) error {
	return flag(func(j *Job) *bool { return field(&j.Spec) })
}

// flag sets a bool that may be none of the job itself.
func flag(field func(*Job) *bool) func(*reading, string) error {
	return func(r *reading, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		*field(r.job) = on
		return nil
	}
}

// number sets a whole number.
func number[T int32 | int64](field func(*job.Spec) *T) func(*reading, string) error {
	return func(r *reading, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || int64(T(n)) != n {
			return fmt.Errorf("%q is no whole number, or too large", value)
		}
		*field(r.spec) = T(n)
		return nil
	}
}

// parsed sets what has a parser.
func parsed[T any](parse func(string) (T, error), field func(*job.Spec) *T) func(*reading, string) error {
	return func(r *reading, value string) error {
		v, err := parse(value)
		if err == nil {
			*field(r.spec) = v
		}
		return err
	}
}

// parseCores reads the cores of a task. In a spec 0 stands for the default.
func parseCores(value string) (job.MilliCPU, error) {
	cores, err := job.ParseMilliCPU(value)
	if err == nil && cores == 0 {
		err = errors.New("a task has more than 0 cores: 0.5 or 500m is half of one; without the option it has 1")
	}
	return cores, err
}

// setTasks sets how many tasks there are. In a spec 0 stands for the default.
func setTasks(r *reading, value string) error {
	if err := number(func(s *job.Spec) *int32 { return &s.Tasks })(r, value); err != nil {
		return err
	}
	if r.spec.Tasks == 0 {
		return errors.New("a job has more than 0 tasks; without the option it has 1")
	}
	return nil
}

// gpus is where the devices of the job are.
func gpus(s *job.Spec) *job.GPUs {
	if s.Resources.GPUs == nil {
		s.Resources.GPUs = &job.GPUs{}
	}
	return s.Resources.GPUs
}

// setQueue sets the queue. Slurm takes several, and chooses one.
func setQueue(r *reading, value string) error {
	if strings.Contains(value, ",") {
		return fmt.Errorf("a job waits in one queue, and %q are several", value)
	}
	r.spec.Queue = value
	return nil
}

func setOpenMode(r *reading, value string) error {
	mode := job.OpenMode(strings.ToLower(value))
	if mode != job.OpenTruncate && mode != job.OpenAppend {
		return fmt.Errorf("%q is neither truncate nor append", value)
	}
	r.spec.OpenMode = mode
	return nil
}

// setRequeue undoes --no-requeue. Slurm can have what is tried again go before all else.
func setRequeue(r *reading, value string) error {
	if strings.HasPrefix(value, "expedite") {
		return fmt.Errorf("%s: a job that is tried again waits in its old place, and its nodes are not kept for it: write --requeue", value)
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", value)
	}
	r.spec.NoRequeue = !on
	return nil
}

func setKillOnInvalidDep(r *reading, value string) error {
	if value != "yes" && value != "no" {
		return fmt.Errorf("%q is neither yes nor no", value)
	}
	r.spec.KillOnInvalidDep = value == "yes"
	return nil
}

func setLabel(r *reading, value string) error {
	key, label, ok := strings.Cut(value, "=")
	if !ok {
		return fmt.Errorf("%q is not key=value", value)
	}
	put(&r.spec.Labels, key, label)
	return job.CheckLabel(key, label)
}

func setResource(r *reading, value string) error {
	name, amount, ok := strings.Cut(value, "=")
	n, err := strconv.ParseInt(amount, 10, 64)
	if !ok || err != nil {
		return fmt.Errorf("%q is not name=number", value)
	}
	if err := job.CheckName(name); err != nil {
		return err
	}
	r.fills("resources.other." + name)
	put(&r.spec.Resources.Other, name, n)
	return nil
}

// put sets an entry in a copy of the map: the old one may be that of another spec.
func put[V any](m *map[string]V, key string, value V) {
	next := maps.Clone(*m)
	if next == nil {
		next = map[string]V{}
	}
	next[key] = value
	*m = next
}
