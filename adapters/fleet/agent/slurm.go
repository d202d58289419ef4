package agent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// slurmFacts are the variables that Slurm's manual of sbatch lists, where Berth has the
// same to say, for scripts that were written for Slurm. Those that could not be right
// are left out: steps and accounts, which Berth does not have, amounts of nodes where
// tasks have parts of cores, devices of nodes where tasks share a node, and
// SLURM_RESTART_COUNT in a first try.
//
// In Slurm each element of an array has a number of its own, which scripts name files
// and folders by. Here it is the name that commands take: "17_3".
func slurmFacts(o api.Order, p place) map[string]string {
	spec := &o.Run.Spec
	own := o.Task.Job.String()
	if o.Run.Array > 0 {
		own += "_" + strconv.Itoa(int(o.Task.Element))
	}
	env := map[string]string{
		"SLURM_JOB_ID": own, "SLURM_JOBID": own,
		"SLURM_JOB_NAME":      spec.Name,
		"SLURM_JOB_PARTITION": spec.Queue,
		"SLURM_JOB_USER":      p.who.Name,
		"SLURM_JOB_UID":       strconv.FormatUint(uint64(p.who.UID), 10),
		"SLURM_JOB_GID":       strconv.FormatUint(uint64(p.who.GID), 10),
		"SLURMD_NODENAME":     p.node,
	}
	if n := try(o); n > 1 {
		env["SLURM_RESTART_COUNT"] = strconv.Itoa(n - 1)
	}
	if spec.SubmitDir != "" {
		env["SLURM_SUBMIT_DIR"] = spec.SubmitDir
	}
	if spec.SubmitHost != "" {
		env["SLURM_SUBMIT_HOST"] = spec.SubmitHost
	}
	slurmArray(env, o)
	slurmTasks(env, o, p.node)
	return env
}

// slurmArray adds what an element of an array finds.
func slurmArray(env map[string]string, o api.Order) {
	x := o.Run.Spec.Array.Indexes
	first, ok := x.First()
	if o.Run.Array == 0 || !ok {
		return
	}
	last, _ := x.Last()
	env["SLURM_ARRAY_JOB_ID"] = o.Task.Job.String()
	env["SLURM_ARRAY_TASK_ID"] = strconv.Itoa(int(o.Task.Element))
	env["SLURM_ARRAY_TASK_COUNT"] = strconv.Itoa(int(o.Run.Array))
	env["SLURM_ARRAY_TASK_MIN"] = strconv.Itoa(int(first))
	env["SLURM_ARRAY_TASK_MAX"] = strconv.Itoa(int(last))
	if step, ok := x.Step(); ok {
		env["SLURM_ARRAY_TASK_STEP"] = strconv.Itoa(int(step))
	}
}

// slurmTasks adds what a task finds about all tasks and nodes of its attempt, as those
// find it that srun starts.
func slurmTasks(env map[string]string, o api.Order, node string) {
	names := o.Run.Names
	if len(names) == 0 {
		names = []string{node}
	}
	rank := min(int(o.Task.Rank), len(names)-1)
	var nodes []string
	var counts []int64
	places := map[string]int{} // of nodes
	local := 0
	for i, name := range names {
		at, seen := places[name]
		if !seen {
			at = len(nodes)
			places[name] = at
			nodes, counts = append(nodes, name), append(counts, 0)
		}
		counts[at]++
		if i < rank && name == names[rank] {
			local++
		}
	}
	mine := places[names[rank]]
	if gpus := deviceNumbers(o.Run.GPUs); len(gpus) > 0 && counts[mine] == 1 {
		env["SLURM_GPUS_ON_NODE"], env["SLURM_JOB_GPUS"] = strconv.Itoa(len(gpus)), strings.Join(gpus, ",")
	}
	size, nodeCount := strconv.Itoa(len(names)), strconv.Itoa(len(nodes))
	env["SLURM_NTASKS"], env["SLURM_NPROCS"] = size, size
	env["SLURM_PROCID"], env["SLURM_LOCALID"], env["SLURM_NODEID"] = strconv.Itoa(rank), strconv.Itoa(local), strconv.Itoa(mine)
	env["SLURM_NNODES"], env["SLURM_JOB_NUM_NODES"] = nodeCount, nodeCount
	list := strings.Join(nodes, ",")
	env["SLURM_JOB_NODELIST"], env["SLURM_NODELIST"] = list, list
	env["SLURM_TASKS_PER_NODE"] = counted(counts)
	if cpu := int64(o.Run.Spec.Resources.CPU); cpu > 0 && cpu%1000 == 0 {
		env["SLURM_CPUS_PER_TASK"] = strconv.FormatInt(cpu/1000, 10)
		for i := range counts {
			counts[i] *= cpu / 1000
		}
		env["SLURM_CPUS_ON_NODE"] = strconv.FormatInt(counts[mine], 10)
		env["SLURM_JOB_CPUS_PER_NODE"] = counted(counts)
	}
	slurmMemory(env, o.Run.Spec.Resources, len(names))
}

// slurmMemory adds what a task finds about its memory, in MiB. What it has is not known by
// how it was asked for, so it is said in both ways that scripts count by.
func slurmMemory(env map[string]string, r job.Resources, tasks int) {
	memory, cpu := int64(r.Memory)>>20, int64(r.CPU)
	if memory > 0 && tasks == 1 {
		env["SLURM_MEM_PER_NODE"] = strconv.FormatInt(memory, 10)
	}
	if cpu > 0 && cpu%1000 == 0 && memory >= cpu/1000 {
		env["SLURM_MEM_PER_CPU"] = strconv.FormatInt(memory/(cpu/1000), 10)
	}
}

// counted writes numbers of nodes as Slurm does, equal ones that follow each other only
// once: "4(x3),2".
func counted(numbers []int64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		end := i + 1
		for end < len(numbers) && numbers[end] == numbers[i] {
			end++
		}
		part := strconv.FormatInt(numbers[i], 10)
		if end-i > 1 {
			part += fmt.Sprintf("(x%d)", end-i)
		}
		parts = append(parts, part)
		i = end
	}
	return strings.Join(parts, ",")
}

// launchers are settings of the launchers of MPI. Where these find variables of Slurm
// they call its srun, which is not there, unless they are told not to.
func launchers(tasks int) map[string]string {
	env := map[string]string{
		"OMPI_MCA_plm": "^slurm", "OMPI_MCA_ras": "^slurm", // Open MPI, up to 4
		"PRTE_MCA_plm": "^slurm", "PRTE_MCA_ras": "^slurm", // from 5
	}
	if tasks <= 1 {
		env["HYDRA_LAUNCHER"] = "fork"        // MPICH
		env["I_MPI_HYDRA_BOOTSTRAP"] = "fork" // Intel MPI
	}
	return env
}
