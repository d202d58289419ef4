package flags

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// sbatch are the options of Slurm's sbatch, from its manual, without those that print
// its version and its help.
const sbatch = `account acctg-freq array batch bb bbf begin chdir cluster-constraint clusters comment consolidate-segments constraint container
container-id contiguous core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency
distribution error exclude exclusive export export-file extra extra-node-info get-user-env gid gpu-bind gpu-freq gpus
gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint hold ignore-pbs input job-name kill-on-invalid-dep
licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus network nice no-kill no-requeue
nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket oom-kill-step open-mode output
overcommit oversubscribe parsable partition power prefer priority profile propagate qos quiet reboot requeue reservation
resources resv-ports segment signal sockets-per-node spread-job spread-segments stepmgr switches test-only thread-spec threads-per-core time
time-min tmp tres-bind tres-per-task uid use-min-nodes verbose wait wait-all-nodes wckey wrap x11`

// Each option of sbatch is known in all places, and what is no option of Berth has a
// text that says what to do.
func TestEveryOptionOfSlurm(t *testing.T) {
	ours := map[string]bool{}
	for _, o := range berthOptions {
		for _, name := range o.names() {
			ours[name] = true
		}
	}
	for _, options := range [][]*option{berthOptions, slurmOptions} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		addAll(fs, options, func(*option, string, string) error { return nil })
		for name := range strings.FieldsSeq(sbatch) {
			f := fs.Lookup(name)
			if assert.NotNil(t, f, name) && !ours[name] {
				assert.True(t, f.Hidden, name)
			}
		}
	}
	for _, w := range words {
		assert.Subset(t, strings.Fields(sbatch), w.names())
		assert.Equal(t, w.verdict == fine && w.judge == nil, w.text == "", w.name)
	}
}

// told is what is said about options in a "#SBATCH" line, about the same in a "#BERTH"
// line, and about the same on the command line.
func told(t *testing.T, args string) (slurm, berth, line string) {
	t.Helper()
	say := func(j *Job, err error) string {
		var problems []job.Problem
		if err != nil {
			var invalid *job.ValidationError
			require.ErrorAs(t, err, &invalid, args)
			problems = invalid.Problems
		} else {
			problems = j.Warnings
		}
		var out []string
		for _, p := range problems {
			if strings.Contains(p.Message, "the script runs in each of the") { // see TestSeveralRuns
				continue
			}
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(p.String(), "line 2: "+p.Field+": "), "line 1: "))
		}
		if err != nil {
			out = append(out, "refused")
		}
		return strings.Join(out, "\n")
	}
	j, err := script("#!/bin/sh\n#SBATCH "+args+"\n", here)
	slurm = say(j, err)
	j, err = script("#!/bin/sh\n#BERTH "+args+"\n", here)
	berth = say(j, err)
	fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	set := New(here)
	set.AddTo(fs)
	require.NoError(t, fs.Parse(strings.Fields(args)), args)
	j = &Job{}
	line = say(j, set.Apply(j))
	return slurm, berth, line
}

// The words are the same in all places.
func TestWords(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--mem=4G", ""},
		{"--mem=4G -n1", ""},
		{"--mem=4G -n2", "--mem: the job has several tasks; Slurm counts it for a node, and Berth for each task: write --memory or --mem-per-cpu\nrefused"},
		{"--mem=4G -n2 --memory=2G", ""},
		{"--mem=4G -n2 --mem-per-cpu=2G", ""},
		{"--memory=2G -n2 --mem=4G", "--mem: the job has several tasks; Slurm counts it for a node, and Berth for each task: write --memory or --mem-per-cpu\nrefused"},
		{"--tmp=1G -n2", "--tmp: the job has several tasks; Slurm counts it for a node, and Berth for each task: write --disk\nrefused"},
		{"--gres=gpu:2", ""},
		{"--gres=gpu:2 -n2", "--gres: the job has several tasks; Slurm counts it for a node, and Berth for each task: write --gpus-per-task and --resource\nrefused"},
		{"--gpus-per-node=2 -n2", "--gpus-per-node: the job has several tasks; Slurm counts it for a node, and Berth for each task: write --gpus-per-task\nrefused"},
		{"-G2 -n2", "--gpus: the job has several tasks; Slurm counts it for all tasks together, and Berth for each: write --gpus-per-task\nrefused"},
		{"--gpus-per-task=2 -n2", ""},
		{"-N1 --ntasks-per-node=1", ""},
		{"-N1 -n2", "--nodes: the job has several tasks; tasks go to any nodes that have room: --ntasks says how many tasks there are, --same-label=node puts all on one node, --spread=node spreads them\nrefused"},
		{"-N2", "--nodes: tasks go to any nodes that have room: --ntasks says how many tasks there are, --same-label=node puts all on one node, --spread=node spreads them\nrefused"},
		{"--mail-type=END,FAIL --mail-user=a@b", "--mail-type: Berth sends no mail: wait with --wait or \"berth wait\", or follow \"berth events\"; --mail-type=NONE on the command line submits the script as it is\nrefused"},
		{"--mail-type=END --mail-type=NONE", ""},
		{"--mail-user=a@b", "--mail-user: means nothing: Berth sends no mail"},
		{"-A bio --wckey=x", "--account: means nothing: operators say which account a user belongs to\n--wckey: is not kept: --label=key=value is"},
		{"--profile=all -Q -v --get-user-env --propagate --acctg-freq=30 --comment=c", strings.Join([]string{
			"--profile: means nothing: \"berth job\" shows what was used",
			"--quiet: means nothing: -o name prints the number alone",
			"--verbose: means nothing: \"berth explain\" says why a job waits",
			"--get-user-env: means nothing: begin the script with \"#!/bin/bash -l\" for the environment of a login",
			"--propagate: means nothing: limits of this shell do not go along",
			"--acctg-freq: means nothing: usage is measured all the time",
			"--comment: is not kept: --label=key=value is"}, "\n")},
		{"--signal=R:USR1@60s -t 1h", "--signal: R: means nothing: reservations do not wait for jobs"},
		{"--open-mode=append", ""},
		{"--open-mode=truncate", ""},
		{"--resources=power:3", "--resources: Berth has no resources of a hierarchy, such as a rack's: write --resource=name=number for what nodes offer\nrefused"},
		{"--oom-kill-step", "--oom-kill-step: means nothing: a task that is out of memory is always killed as a whole"},
		{"--oom-kill-step=0", "--oom-kill-step: means nothing: a task that is out of memory is always killed as a whole"},
		{"--segment=2 --spread-segments --consolidate-segments -J x", strings.Join([]string{
			"--segment: write --same-label with the label of a rack or a switch",
			"--spread-segments: Berth has no segments: write --spread with the label of a rack or a block",
			"--consolidate-segments: Berth has no segments: write --same-label with the label of what all tasks are to be in", "refused"}, "\n")},
		{"--exclusive --qos=high -L matlab:2 --switches=1 --test-only", strings.Join([]string{
			"--exclusive: Berth gives no whole nodes: --cpus-per-task gives as many cores to the task alone",
			"--qos: Berth has no QOS: priorities and limits are those of a queue, --queue",
			"--licenses: write --resource=name=number, which nodes offer",
			"--switches: write --same-label with the label of a rack or a switch",
			"--test-only: write --check on the command line", "refused"}, "\n")},
	} {
		slurm, berth, line := told(t, c.args)
		assert.Equal(t, c.want, slurm, "#SBATCH %s", c.args)
		assert.Equal(t, c.want, berth, "#BERTH %s", c.args)
		assert.Equal(t, c.want, line, "berth submit %s", c.args)
	}
}

// What the command line says takes the place of what the script says, and is added to
// it: only then is it known how many tasks there are.
func TestWordsOverScript(t *testing.T) {
	for _, c := range []struct{ lines, args, want string }{
		{"--mem=4G", "-n2", `invalid job: line 2: #SBATCH: --mem: the job has several tasks`},
		{"--mem=4G -n8", "--tasks=1", ""},
		{"--mem=4G -n8", "--memory=1G", ""},
		{"--mem-per-cpu=1G", "-c3", ""},
		{"--mail-type=END", "--mail-type=NONE", ""},
		{"-n2", "--mem=4G", "invalid job: --mem: the job has several tasks"},
		{"--gpus=2", "-n2", "invalid job: line 2: #SBATCH: --gpus: the job has several tasks"},
	} {
		j, err := Script("#!/bin/sh\n#SBATCH "+c.lines+"\n", here)
		require.NoError(t, err, c.lines)
		fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
		set := New(here)
		set.AddTo(fs)
		require.NoError(t, fs.Parse([]string{c.args}))
		if err = set.Apply(j); c.want == "" {
			require.NoError(t, err, c.lines)
		} else {
			require.ErrorContains(t, err, c.want, c.lines)
		}
		if c.args == "-c3" {
			require.Equal(t, job.Bytes(3<<30), j.Spec.Resources.Memory)
		}
	}
}

// Lines that look like directives and are not read are named.
func TestUnread(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"directives": {"#!/bin/sh\n#SBATCH -n1\n#BERTH -c1\n#SBATCH\n", nil},
		"on purpose": {"#!/bin/sh\n##SBATCH -n1\n# ##SBATCH -n1\n", nil},
		"prose":      {"#!/bin/sh\n# Berth runs this\n# SBATCH lines follow\n#SBATCHED -n\necho\n", nil},
		"spaces": {"#!/bin/sh\n# SBATCH -n1\n  #BERTH -c1\n#sbatch --mem=1G\n", []string{
			`line 2: this is not read: a directive is "#SBATCH" or "#BERTH" at the beginning of the line, and a space; nor are 2 lines more, up to line 4`}},
		"late":       {"#!/bin/sh\n\ncd /tmp\n#SBATCH -n1\n#SBATCH -c2\n", []string{"line 4: a directive after the first command, in line 3, is not read; nor is line 5"}},
		"late space": {"#!/bin/sh\ncd /tmp\n # BERTH --cpu=1\n", []string{"line 3: a directive after the first command, in line 2, is not read"}},
		"PBS":        {"#!/bin/sh\n#PBS -l nodes=1\n#PBS -N x\necho\n#PBS -q y\n", []string{"line 2: directives for PBS are not read: write #BERTH or #SBATCH; nor are 2 lines more, up to line 5"}},
		"here-document": {"#!/bin/sh\ncat > job.sh <<EOF\n#!/bin/sh\n#SBATCH -n1\nEOF\ncat <<-'END'\n#SBATCH -n2\n\tEND\n#SBATCH -n3\n",
			[]string{"line 9: a directive after the first command, in line 2, is not read"}},
		"here-string": {"#!/bin/sh\ncat <<<EOF\n#SBATCH -n1\n", []string{"line 3: a directive after the first command, in line 2, is not read"}},
	} {
		j, err := script(c.text, here)
		require.NoError(t, err, name)
		var got []string
		for _, p := range j.Warnings {
			got = append(got, p.String())
		}
		assert.Equal(t, c.want, got, name)
	}
}

// Jobs run where they are submitted, unless they say otherwise.
func TestDir(t *testing.T) {
	o := here
	o.Dir, o.Host = "/home/eve/work", "login"
	for _, c := range []struct{ directives, want string }{
		{"", "/home/eve/work"},
		{"#SBATCH -D /data\n", "/data"},
		{"#SBATCH --chdir=sub/dir\n", "/home/eve/work/sub/dir"},
		{"#SBATCH --chdir=..\n", "/home/eve"},
		{"#SBATCH --chdir=./own\n", "/home/eve/work/own"},
		{"#BERTH --dir=own\n", job.OwnDir},
	} {
		j, err := script("#!/bin/sh\n"+c.directives, o)
		require.NoError(t, err)
		assert.Equal(t, c.want, j.Spec.Dir, c.directives)
		assert.Equal(t, "/home/eve/work", j.Spec.SubmitDir)
		assert.Equal(t, "login", j.Spec.SubmitHost)
		assert.NoError(t, j.Spec.Validate())
	}
	j, err := script("#!/bin/sh\n", here)
	require.NoError(t, err)
	assert.Empty(t, j.Spec.Dir, "where nobody knows it")
}

// What is asked for besides the job itself.
func TestWaitAndParsable(t *testing.T) {
	j, err := script("#!/bin/sh\n#SBATCH --wait --parsable\n", here)
	require.NoError(t, err)
	assert.True(t, j.Wait && j.Parsable)
	j, err = script("#!/bin/sh\n#SBATCH -W\n#BERTH --wait=false\n", here)
	require.NoError(t, err)
	assert.False(t, j.Wait || j.Parsable)
}

func TestMoments(t *testing.T) {
	for value, want := range map[string]string{
		"1h": "16:04:05 14:04:05", "90m": "16:34:05 13:34:05", "now+1h": "16:04:05 16:04:05", "now": "15:04:05 15:04:05",
	} {
		next, err := Moment(value, here.Now)
		require.NoError(t, err)
		past, err := PastMoment(value, here.Now)
		require.NoError(t, err)
		assert.Equal(t, want, next.Format("15:04:05")+" "+past.Format("15:04:05"), value)
	}
	_, err := PastMoment("60", here.Now)
	require.EqualError(t, err, `"60" is no time, write "16:00", "2026-01-31T18:00" or "2026-01-31T18:00:00Z", or "2h" for two hours ago`)
	_, err = Moment("60", here.Now)
	require.EqualError(t, err, `"60" is no time, write "16:00", "2026-01-31T18:00" or "2026-01-31T18:00:00Z", or "2h" for two hours from now`)
}

// The names of words are there once.
func TestWordsAreThereOnce(t *testing.T) {
	var names []string
	for i := range words {
		names = append(names, words[i].names()...)
	}
	slices.Sort(names)
	assert.Equal(t, len(names), len(slices.Compact(slices.Clone(names))))
}
