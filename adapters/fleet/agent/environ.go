package agent

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// place is where a task runs, for its environment.
type place struct {
	node string
	gpus []api.GPU // all of the node
	who  person
	work string // its folder below work/
}

// environment is all of a task's environment: what Berth says of the task, what the
// user sets, and what is usual. A user's variable replaces what is usual, but never
// what Berth says: names that begin with BERTH_ or SLURM_, and those that say which
// devices the task has.
func environment(o api.Order, p place) []string {
	env := usual(o, p)
	maps.Copy(env, o.Run.Spec.Env)
	maps.DeleteFunc(env, func(name, _ string) bool {
		return name == "" || strings.Contains(name, "=") || job.ReservedVariable(name)
	})
	maps.Copy(env, facts(o, p))
	maps.Copy(env, slurmFacts(o, p))
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		lines = append(lines, name+"="+env[name])
	}
	return lines
}

// usual is what programs find in any session, and, for a gang, what the launchers of
// distributed training look for.
func usual(o api.Order, p place) map[string]string {
	env := map[string]string{
		"HOME": p.who.Home, "USER": p.who.Name, "LOGNAME": p.who.Name, "SHELL": cmp.Or(p.who.Shell, defaultShell),
		"PATH":   "/usr/local/bin:/usr/bin:/bin",
		"TMPDIR": p.work + "/tmp",
	}
	maps.Copy(env, launchers(len(o.Run.Hosts)))
	if p.who.UID == 0 {
		env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	if size := len(o.Run.Hosts); size > 1 {
		env["RANK"] = strconv.Itoa(int(o.Task.Rank))
		env["WORLD_SIZE"] = strconv.Itoa(size)
		env["MASTER_ADDR"] = o.Run.Hosts[0]
		env["MASTER_PORT"] = strconv.Itoa(leaderPort(o.Task))
	}
	return env
}

// leaderPort is the same for all tasks of an attempt, and most likely another one for
// other attempts that have their leader on the same node. It is below the ports that
// kernels give out by themselves.
func leaderPort(t job.TaskID) int {
	const first, count = 20000, 10000
	mixed := uint64(t.Job)*7919 + uint64(t.Element)*31 + uint64(t.Attempt)
	return first + int(mixed%count)
}

// try is which of the element's attempts this is. After a restore from a backup the
// numbers in IDs have a gap; older servers send nothing else.
func try(o api.Order) int { return int(cmp.Or(o.Run.Try, o.Task.Attempt)) }

// facts are what Berth says of the task.
func facts(o api.Order, p place) map[string]string {
	r := o.Run.Spec.Resources
	env := map[string]string{
		"BERTH_JOB_ID":   o.Task.Job.String(),
		"BERTH_TASK_ID":  o.Task.String(),
		"BERTH_ATTEMPT":  strconv.Itoa(try(o)),
		"BERTH_RANK":     strconv.Itoa(int(o.Task.Rank)),
		"BERTH_SIZE":     strconv.Itoa(max(1, len(o.Run.Hosts))),
		"BERTH_HOSTS":    strings.Join(o.Run.Hosts, ","),
		"BERTH_NODES":    strings.Join(o.Run.Names, ","),
		"BERTH_NODE":     p.node,
		"BERTH_CPUS":     strconv.FormatInt(wholeCPUs(r.CPU), 10),
		"BERTH_MEMORY":   strconv.FormatInt(int64(r.Memory), 10),
		"BERTH_JOB_NAME": o.Run.Spec.Name,
		"BERTH_OWNER":    o.Run.Owner,
		"BERTH_USER":     p.who.Name,
		"BERTH_TASK_DIR": p.work,
	}
	if len(o.Run.Hosts) > 0 {
		env["BERTH_LEADER_ADDRESS"] = o.Run.Hosts[0]
	}
	if o.Run.Array > 0 {
		env["BERTH_ARRAY_INDEX"] = strconv.Itoa(int(o.Task.Element))
		env["BERTH_ARRAY_COUNT"] = strconv.Itoa(int(o.Run.Array))
	}
	maps.Copy(env, devices(o.Run.GPUs, p.gpus))
	return env
}

// wholeCPUs is how many threads make sense: programs take it for their pools.
func wholeCPUs(cpu job.MilliCPU) int64 { return max(1, (int64(cpu)+999)/1000) }

// devices says which devices a task has, in the words of CUDA and of ROCm. On a node
// with devices a task without sees none; on one without, nothing is said.
func devices(shares []api.GPUShare, all []api.GPU) map[string]string {
	list := strings.Join(deviceNumbers(shares), ",")
	env := map[string]string{"BERTH_GPUS": list}
	if len(all) > 0 {
		env["CUDA_VISIBLE_DEVICES"] = list
		env["ROCR_VISIBLE_DEVICES"] = list
		// Without it CUDA numbers devices by their speed, and not as nvidia-smi does.
		env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
	}
	return env
}

// deviceNumbers are the numbers of devices on their node.
func deviceNumbers(shares []api.GPUShare) []string {
	var numbers []string
	for _, s := range shares {
		numbers = append(numbers, strconv.Itoa(s.GPU))
	}
	return numbers
}

// hookEnvironment is what a prolog or epilog gets: the facts of a task's environment.
func hookEnvironment(taskEnv []string) []string {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/"}
	for _, line := range taskEnv {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, job.EnvPrefix) && job.ReservedVariable(name) { // others are the user's
			env = append(env, line)
		}
	}
	return env
}

// checkDevices: an order must not name a device that the node does not have.
func checkDevices(shares []api.GPUShare, all []api.GPU) error {
	for _, s := range shares {
		if s.GPU < 0 || s.GPU >= len(all) {
			return fmt.Errorf("the order names the device %d, and the node has %d", s.GPU, len(all))
		}
	}
	return nil
}
