package agent

import (
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// one is a batch of one script.
func one(text string) []string { return []string{text} }

// batches are those of TestBatchScripts.
var batches = []batch{
	{name: "output that names no file", scripts: one("#!/bin/bash\necho hello\n"), want: map[string]string{"": "hello\n"}},
	{name: "both streams in one file", scripts: one(`#!/bin/bash
#SBATCH --job-name=both
#SBATCH --output=%x-%j.out
echo one; echo two >&2; echo three
`), want: map[string]string{"both-@JOB.out": "one\ntwo\nthree\n"}},
	{name: "each stream in a file of its own", scripts: one(`#!/bin/bash
#SBATCH -J apart -o logs/%x.%j.out -e logs/%x.%j.err
echo out; echo err >&2
`), files: map[string]string{"logs/.keep": ""}, want: map[string]string{"logs/apart.@JOB.out": "out\n", "logs/apart.@JOB.err": "err\n"}},
	{name: "a file that is written anew", scripts: []string{
		"#!/bin/sh\n#SBATCH -o same.txt\necho first; echo more\n", "#!/bin/sh\n#SBATCH -o same.txt\necho second\n",
	}, want: map[string]string{"same.txt": "second\n"}},
	{name: "a file that is appended to", scripts: []string{
		"#!/bin/sh\n#SBATCH -o same.txt --open-mode=append\necho first\n", "#!/bin/sh\n#SBATCH -o same.txt --open-mode=append\necho second\n",
	}, want: map[string]string{"same.txt": "first\nsecond\n"}},
	{name: "the directory of the submission", scripts: one(`#!/bin/bash
#SBATCH -o out
cd "$TMPDIR" && cd "$SLURM_SUBMIT_DIR" && cat input.txt && pwd && echo $SLURM_SUBMIT_HOST
`), files: map[string]string{"input.txt": "data\n"}, want: map[string]string{"out": "data\n@DIR\nlogin\n"}},
	{name: "another directory", scripts: one("#!/bin/bash\n#SBATCH -D sub\n#SBATCH -o out\nls; pwd\n"),
		files: map[string]string{"sub/a": "", "sub/b": ""}, want: map[string]string{"sub/out": "a\nb\nout\n@DIR/sub\n"}},
	{name: "names of the job", scripts: one(`#!/bin/bash
#SBATCH -J align
#SBATCH -p long
#SBATCH -o out
echo $SLURM_JOB_ID $SLURM_JOBID $SLURM_JOB_NAME $SLURM_JOB_PARTITION $SLURM_JOB_NUM_NODES $SLURM_JOB_NODELIST $SLURMD_NODENAME ${SLURM_ARRAY_TASK_ID-no}
`), want: map[string]string{"out": "@JOB @JOB align long 1 n1 n1 no\n"}},
	{name: "arguments", scripts: one("#!/bin/bash\n#SBATCH -o out\nprintf '<%s>' \"$0\" \"$@\" | sed 's/<[^>]*script>//'\n"),
		args: []string{"a", "b c", ""}, want: map[string]string{"out": "<a><b c><>"}},

	{name: "threads", scripts: one(`#!/bin/bash
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --time=1:00:00
#SBATCH -o out
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
echo threads $OMP_NUM_THREADS of $SLURM_CPUS_ON_NODE, $SLURM_JOB_CPUS_PER_NODE, tasks $SLURM_NTASKS
`), want: map[string]string{"out": "threads 4 of 4, 4, tasks 1\n"}},
	{name: "memory of the node", scripts: one("#!/bin/bash\n#SBATCH --mem=2G\n#SBATCH -o out\necho java -Xmx${SLURM_MEM_PER_NODE}m\n"),
		want: map[string]string{"out": "java -Xmx2048m\n"}},
	{name: "tasks of a gang", scripts: one(`#!/bin/bash
#SBATCH --ntasks=3
#SBATCH --output=rank-%t.txt
echo $SLURM_PROCID of $SLURM_NTASKS, $SLURM_LOCALID on $SLURM_NODEID, $SLURM_TASKS_PER_NODE
`), want: map[string]string{"rank-0.txt": "0 of 3, 0 on 0, 3\n", "rank-1.txt": "1 of 3, 1 on 0, 3\n", "rank-2.txt": "2 of 3, 2 on 0, 3\n"}},
	{name: "distributed training", scripts: one(`#!/bin/bash
#SBATCH --ntasks=2 --gpus-per-task=1 --cpus-per-task=2
#SBATCH --output=train-%t.log
echo rank=$RANK world=$WORLD_SIZE master=$MASTER_ADDR port=${MASTER_PORT:+yes} gpu=$CUDA_VISIBLE_DEVICES
`), gpus: []api.GPUShare{{GPU: 3, Share: 1000}}, want: map[string]string{
		"train-0.log": "rank=0 world=2 master=10.0.0.1 port=yes gpu=3\n", "train-1.log": "rank=1 world=2 master=10.0.0.1 port=yes gpu=3\n"}},
	{name: "two GPUs", scripts: one("#!/bin/bash\n#SBATCH --gpus=2\n#SBATCH -o out\nIFS=, read -ra gpu <<< \"$CUDA_VISIBLE_DEVICES\"\necho ${#gpu[@]}: ${gpu[*]}\n"),
		gpus: []api.GPUShare{{GPU: 1, Share: 1000}, {GPU: 2, Share: 1000}}, want: map[string]string{"out": "2: 1 2\n"}},
	{name: "a GPU as a generic resource", scripts: one("#!/bin/bash\n#SBATCH --gres=gpu:1\n#SBATCH -o out\npython3() { echo \"$@\" on $CUDA_VISIBLE_DEVICES; }\npython3 train.py\n"),
		gpus: []api.GPUShare{{GPU: 0, Share: 1000}}, want: map[string]string{"out": "train.py on 0\n"}},
	{name: "no GPU", scripts: one("#!/bin/bash\n#SBATCH -o out\necho \"<$CUDA_VISIBLE_DEVICES>\"\n"), want: map[string]string{"out": "<>\n"}},

	{name: "a line of a list for each element", scripts: one(`#!/bin/bash
#SBATCH --array=1-3
#SBATCH --output=%A_%a.out
sample=$(sed -n "${SLURM_ARRAY_TASK_ID}p" samples.txt)
echo "$SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID: $sample"
`), files: map[string]string{"samples.txt": "liver\nheart rate\nbrain\n"}, want: map[string]string{
		"@JOB_1.out": "@JOB 1: liver\n", "@JOB_2.out": "@JOB 2: heart rate\n", "@JOB_3.out": "@JOB 3: brain\n"}},
	{name: "an array with steps", scripts: one(`#!/bin/bash
#SBATCH -a 0-9:4
#SBATCH -o chunk-%a
echo $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX by $SLURM_ARRAY_TASK_STEP, $SLURM_ARRAY_TASK_COUNT
`), want: map[string]string{"chunk-0": "0 of 0-8 by 4, 3\n", "chunk-4": "4 of 0-8 by 4, 3\n", "chunk-8": "8 of 0-8 by 4, 3\n"}},
	{name: "parameters by index, a few at once", scripts: one(`#!/bin/bash
#SBATCH --array=0-2%2
#SBATCH --output=/dev/null
rates=(0.1 0.01 0.001)
mkdir -p run && echo "rate ${rates[$SLURM_ARRAY_TASK_ID]}" > run/$SLURM_ARRAY_TASK_ID.txt
`), want: map[string]string{"run/0.txt": "rate 0.1\n", "run/1.txt": "rate 0.01\n", "run/2.txt": "rate 0.001\n"}},

	{name: "a checkpoint by the shell's trap", scripts: one(`#!/bin/bash
#SBATCH --time=10:00
#SBATCH --signal=B:USR1@597
#SBATCH -o out
trap 'echo step $i > checkpoint; echo saved; exit 0' USR1
for ((i = 1; ; i++)); do sleep 0.05; done
`), want: map[string]string{"out": "saved\n", "checkpoint": "step [0-9]+\n"}},
	{name: "a checkpoint by the program", scripts: one(`#!/bin/bash
#SBATCH -t 10:00 --signal=USR2@597
#SBATCH -o out
bash ./solver
echo "solver ended with $?"
`), files: map[string]string{"solver": "trap 'echo state > checkpoint; exit 85' USR2\nwhile :; do sleep 0.05; done\n"},
		want: map[string]string{"out": "(?:User defined signal 2\n)?solver ended with 85\n", "checkpoint": "state\n"}},
	{name: "the time limit", scripts: one("#!/bin/bash\n#SBATCH -t 0:03\n#SBATCH -o out\ntrap 'echo cleaning up; exit 3' TERM\nwhile :; do sleep 0.05; done\n"),
		ends: job.Timeout, exit: 3, want: map[string]string{"out": "(?:Terminated\n)?cleaning up\n"}},
	{name: "a requeue that goes on at the checkpoint", again: true, scripts: one(`#!/bin/bash
#SBATCH --requeue --open-mode=append -o out
step=$(cat checkpoint 2>/dev/null || echo 0)
echo "restart ${SLURM_RESTART_COUNT:-0} at step $step"
echo $((step + 10)) > checkpoint
`), want: map[string]string{"out": "restart 0 at step 0\nrestart 1 at step 10\n", "checkpoint": "20\n"}},

	{name: "the first error ends the script", scripts: one("#!/bin/bash\n#SBATCH -o out\nset -euo pipefail\necho begins\nfalse | cat\necho never\n"),
		ends: job.Failed, exit: 1, want: map[string]string{"out": "begins\n"}},
	{name: "an exit code", scripts: one("#!/bin/bash\n#SBATCH -o out\n./check.sh || exit $?\n"), files: map[string]string{"check.sh": "#!/bin/sh\nexit 42\n"},
		ends: job.Failed, exit: 42, want: map[string]string{"out": ""}},
	{name: "a program that is not there", scripts: one("#!/bin/bash\n#SBATCH -o out\nnosuchtool --version\n"),
		ends: job.Failed, exit: 127, want: map[string]string{"out": ".*nosuchtool: command not found\n"}},

	{name: "an environment like conda's", environ: []string{conda, "PATH=/usr/bin:/bin"}, scripts: one(`#!/bin/bash
#SBATCH --export=ALL
#SBATCH -o out
conda activate biology
echo "environment $CONDA_DEFAULT_ENV"
`), want: map[string]string{"out": "environment biology\n", "conda.log": "activate biology\n"}},
	{name: "modules and variables of several lines", scripts: one(`#!/bin/bash
#SBATCH --export=ALL
#SBATCH -o out
module load gcc/13 && echo "$NOTES" && bash -c 'module list'
`), environ: []string{"BASH_FUNC_module%%=() {  echo \"module: $*\"\n}", "NOTES=a = 1\n\"b\"", "PATH=/usr/bin:/bin"},
		want: map[string]string{"out": "module: load gcc/13\na = 1\n\"b\"\nmodule: list\n"}},
	{name: "a few variables", environ: []string{"SEED=7", "SECRET=x", "PATH=/usr/bin:/bin"}, scripts: one(`#!/bin/bash
#SBATCH --export=SEED,MODE=fast
#SBATCH -o out
echo "$SEED $MODE ${SECRET-none}"
`), want: map[string]string{"out": "7 fast none\n"}},
	{name: "no variables", environ: []string{"SEED=7", "PATH=/nowhere"}, scripts: one("#!/bin/bash\n#SBATCH --export=NONE\n#SBATCH -o out\necho \"${SEED-none} $(basename $HOME)\"\n"),
		want: map[string]string{"out": "none [a-z]+\n"}},
	{name: "the umask of who submits", umask: "0077", private: true, scripts: one("#!/bin/bash\n#SBATCH -o out\numask; echo secret > result\n"),
		want: map[string]string{"out": "0077\n", "result": "secret\n"}},

	{name: "scratch space, and results that are brought back", scripts: one(`#!/bin/bash
#SBATCH -o out
set -e
work=$(mktemp -d "$TMPDIR/XXXXXX")
trap 'cp "$work"/*.csv "$SLURM_SUBMIT_DIR"; rm -r "$work"; echo copied' EXIT
cd "$work"
cat > config.ini <<END
[run]
job = $SLURM_JOB_ID
END
sed -n 's/job = //p' config.ini > table.csv
`), want: map[string]string{"out": "copied\n", "table.csv": "@JOB\n"}},
	{name: "programs side by side", scripts: one(`#!/bin/bash
#SBATCH --cpus-per-task=3
#SBATCH -o out
for i in 1 2 3; do (sleep 0.$i; echo part $i > part$i) & done
wait
cat part*
`), want: map[string]string{"out": "part 1\npart 2\npart 3\n", "part1": "part 1\n", "part2": "part 2\n", "part3": "part 3\n"}},
	{name: "a pipeline", scripts: []string{
		"#!/bin/bash\n#SBATCH -J prepare -o /dev/null\nseq 1 4 > numbers\n",
		"#!/bin/bash\n#SBATCH -J square --dependency=afterok:@JOB --kill-on-invalid-dep=yes -a 1-2 -o /dev/null\n" +
			"awk -v k=$SLURM_ARRAY_TASK_ID 'NR % 2 == k % 2 {print $1 * $1}' numbers > part$SLURM_ARRAY_TASK_ID\n",
		"#!/bin/bash\n#SBATCH -J report -d afterany:@NEXT -o report.txt\ncat part* | sort -n | paste -sd+ | bc 2>/dev/null || cat part* | awk '{s += $1} END {print s}'\n",
	}, want: map[string]string{"numbers": "1\n2\n3\n4\n", "part1": "1\n9\n", "part2": "4\n16\n", "report.txt": "30\n"}},
}
