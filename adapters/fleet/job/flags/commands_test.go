package flags

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// A script that calls a command of Slurm is told so when it is submitted.
func TestSrun(t *testing.T) {
	const want = "line 3: there is no srun, and nodes need not have one: the script itself runs in each task, write the program alone"
	for body, want := range map[string]string{
		"srun hostname":                         want,
		"  time /usr/bin/srun -n 4 ./a.out":     want,
		"cd /data && srun ./a.out":              want,
		"X=$(srun hostname)":                    want,
		"X=`srun hostname`":                     want,
		"LAUNCHER='srun -n 4'\n$LAUNCHER a.out": want,
		"for i in 1 2; do srun ./a; done":       want,
		"# srun hostname":                       "",
		"cat <<EOF\nsrun hostname\nEOF":         "",
		"./srun.sh; ./my-srun srunner":          "",
		"scontrol requeue $SLURM_JOB_ID":        "line 3: there is no scontrol, and nodes need not have one: berth job and berth node show what it shows, and berth requeue, hold and release do what it does",
		"sbatch next.sh":                        "line 3: there is no sbatch, and nodes need not have one: berth submit takes the same script",
		"n=$(squeue -h | wc -l)":                "line 3: there is no squeue, and nodes need not have one: berth jobs lists jobs",
		"which sbatch && sbatch next.sh":        "",
		"srun() { \"$@\"; }\nsrun hostname":     "",
		"alias srun=\nsrun hostname":            "",
		"if command -v srun; then srun a; fi":   "",
	} {
		_, got := warnings(t, "#!/bin/bash\n#SBATCH -J x\n"+body+"\n", here)
		assert.Equal(t, want, got, body)
	}
	j := &Job{Spec: job.Spec{Script: "#!/bin/sh\nsrun hostname\n"}}
	require.NoError(t, New(here).Apply(j))
	require.Len(t, j.Warnings, 1)
	assert.Equal(t, "script: its line 2: there is no srun", j.Warnings[0].String()[:len("script: its line 2: there is no srun")])
}

// In Slurm the script of a job of several tasks runs once.
func TestSeveralRuns(t *testing.T) {
	const want = "line 2: #SBATCH: --ntasks: the script runs in each of the 4 tasks; in Slurm it runs once, and starts the others: " +
		"for that, as with mpirun on one node, write --ntasks=1 and --cpus-per-task=4"
	for lines, want := range map[string]string{
		"#SBATCH -n 4":              want,
		"#SBATCH --ntasks=4":        want,
		"#SBATCH --ntasks=1":        "",
		"#BERTH -n 4":               "",
		"#SBATCH -n 4\n#BERTH -n 1": "",
	} {
		_, got := warnings(t, "#!/bin/bash\n"+lines+"\nmpirun ./a.out\n", here)
		assert.Equal(t, want, got, lines)
	}
}

// A trap that waits for a signal which goes to others is named.
func TestTraps(t *testing.T) {
	const want = "line 4: the shell does not get USR1 before the time limit, only what it has started does: --signal=B:USR1 is for the shell"
	for _, c := range []struct{ signal, body, want string }{
		{"USR1@60", "trap 'save; exit' USR1", want},
		{"10@60", "  trap save TERM SIGUSR1; sleep 1", want},
		{"USR1@60", "trap save 10", want},
		{"B:USR1@60", "trap save USR1", ""},
		{"USR2@60", "trap save USR1", ""},
		{"USR1@60", "# trap save USR1\ncat <<EOF\ntrap save USR1\nEOF", ""},
		{"USR1@60", "trap USR1", ""},
	} {
		_, got := warnings(t, "#!/bin/bash\n#SBATCH --signal="+c.signal+"\n\n"+c.body+"\n", here)
		assert.Equal(t, c.want, strings.TrimSpace(got), c.body)
	}
}
