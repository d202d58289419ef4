package flags

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// here is where and when the options of the tests are read: a Friday afternoon.
var here = Origin{
	Now:     time.Date(2026, 1, 30, 15, 4, 5, 0, time.FixedZone("CET", 3600)),
	Environ: []string{"HOME=/home/eve", "BERTH_TOKEN=secret", "BASH_FUNC_f%%=() { :; }", "EMPTY=", "SLURM_JOB_ID=3"},
}

// parse is the spec, as JSON, that the arguments give.
func parse(args ...string) (string, error) {
	fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	fs.Usage = func() {}
	set := New(here)
	set.AddTo(fs)
	if err := fs.Parse(args); err != nil {
		return "", err
	}
	var j Job
	if err := set.Apply(&j); err != nil {
		return "", err
	}
	data, err := json.Marshal(j.Spec)
	return string(data), err
}

// script is the job of a script that is submitted without options.
func script(text string, o Origin) (*Job, error) {
	j, err := Script(text, o)
	if err != nil {
		return nil, err
	}
	return j, New(o).Apply(j)
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args string // with "|" between them
		want string
	}{
		{"--name=a b|-p|gpu", `{"name":"a b","queue":"gpu"}`},
		{"--job-name|x|--partition=q", `{"name":"x","queue":"q"}`},
		{"--label|a=1|--label|b=", `{"labels":{"a":"1","b":""}}`},
		{"--env|A=1=2|--env|HOME", `{"env":{"A":"1=2","HOME":"/home/eve"}}`},
		{"--export|NONE|--env|A=1", `{"env":{"A":"1"}}`},
		{"--env|HOME=/x|--export|ALL", `{"env":{"BASH_FUNC_f%%":"() { :; }","EMPTY":"","HOME":"/x"}}`},
		{"--export=ALL,X=1", `{"env":{"BASH_FUNC_f%%":"() { :; }","EMPTY":"","HOME":"/home/eve","X":"1"}}`},
		{"--env=A=1|--export=NONE", `{"env":{"A":"1"}}`},
		{"-D|/work|--uid=eve", `{"dir":"/work","user":"eve"}`},
		{"--output=%j.out|--open-mode=Append", `{"output":"%j.out","openMode":"append"}`},
		{"--output=%j.out|--open-mode=truncate", `{"output":"%j.out","openMode":"truncate"}`},
		{"--output=%j.out|--error=%j.err", `{"output":"%j.out","error":"%j.err"}`},
		{"-c|4|--mem=4G", `{"resources":{"cpu":"4","memory":"4G"}}`},
		{"--cpu=500m|--memory=512Mi|--tmp=1Gi", `{"resources":{"cpu":"0.5","memory":"512Mi","disk":"1Gi"}}`},
		{"-G2", `{"resources":{"gpus":{"count":2}}}`},
		{"--gpus=a100,h100:2", `{"resources":{"gpus":{"count":2,"models":["a100","h100"]}}}`},
		{"--gpus-per-task=a100", `{"resources":{"gpus":{"count":1,"models":["a100"]}}}`},
		{"--gpu-share=500", `{"resources":{"gpus":{"share":500}}}`},
		{"--gpus=2|--gpus=0", `{}`},
		{"--gres=gpu:a100:2,licence:3,tape", `{"resources":{"gpus":{"count":2,"models":["a100"]},"other":{"licence":3,"tape":1}}}`},
		{"--gres=gpu", `{"resources":{"gpus":{"count":1}}}`},
		{"--gpus=2|--gres=none|--gpus-per-task=1", `{"resources":{"gpus":{"count":1}}}`},
		{"--gpus=2|--gpus-per-node=2|--gres=gpu:2", `{"resources":{"gpus":{"count":2}}}`},
		{"--gres=none", `{}`},
		{"--gres=gpu:2,licence:3|--gres=none", `{}`},
		{"--resource=a=1|--resource=b=2", `{"resources":{"other":{"a":1,"b":2}}}`},
		{"-n|4|--same-label=rack|--keep-going", `{"tasks":4,"sameLabel":"rack","keepGoing":true}`},
		{"-a|0-9999:2%50", `{"array":"0-9998:2%50"}`},
		{"-w|a,n[01-03,7]-x|-x|b", `{"nodes":["a","n01-x","n02-x","n03-x","n7-x"],"excludeNodes":["b"]}`},
		{"--nodelist=a|--nodelist=b", `{"nodes":["a","b"]}`},
		{"-C|gpu&zone=a,b&rack!=7|-C|cores>16&!slow&mem<5", `{"constraints":[{"label":"gpu","operator":"Exists"},{"label":"zone","operator":"In","values":["a","b"]},` +
			`{"label":"rack","operator":"NotIn","values":["7"]},{"label":"cores","operator":"Gt","values":["16"]},{"label":"slow","operator":"NotExists"},{"label":"mem","operator":"Lt","values":["5"]}]}`},
		{"--prefer=50:zone=a|--spread=rack", `{"preferences":[{"label":"zone","operator":"In","values":["a"],"weight":50}],"spread":[{"label":"rack"}]}`},
		{"--priority=-5|-H", `{"priority":-5,"hold":true}`},
		{"--nice=10", `{"priority":-10}`},
		{"--nice=10|--priority=30", `{"priority":20}`},
		{"--priority=30|--nice=10", `{"priority":20}`},
		{"--nice=10|--nice=-5|--priority=-30", `{"priority":-25}`},
		{"--nice=10|--nice=0", `{}`},
		{"--hold|--hold=false", `{}`},
		{"-b|16:00", `{"begin":"2026-01-30T16:00:00+01:00"}`},
		{"-b|15:00:30|--deadline=now+2d", `{"begin":"2026-01-31T15:00:30+01:00","deadline":"2026-02-01T15:04:05+01:00"}`},
		{"-b|now+2hours|--deadline=2026-02-01T10:00", `{"begin":"2026-01-30T17:04:05+01:00","deadline":"2026-02-01T10:00:00+01:00"}`},
		{"-b|tomorrow|--deadline=2026-02-01T10:00:00Z", `{"begin":"2026-01-31T00:00:00+01:00","deadline":"2026-02-01T10:00:00Z"}`},
		{"-b|1h|--deadline=1d12h", `{"begin":"2026-01-30T16:04:05+01:00","deadline":"2026-02-01T03:04:05+01:00"}`},
		{"-b|01:30:00", `{"begin":"2026-01-31T01:30:00+01:00"}`},
		{"-t|infinite|--nice", `{"priority":-100,"timeLimit":"3650d"}`},
		{"-c2|--mem-per-cpu=1Gi", `{"resources":{"cpu":"2","memory":"2Gi"}}`},
		{"--kill-on-invalid-dep=yes", `{"killOnInvalidDep":true}`},
		{"--kill-on-invalid-dep=yes|--kill-on-invalid-dep=no", `{}`},
		{"-b|noon", `{"begin":"2026-01-31T12:00:00+01:00"}`},
		{"-d|afterok:12:13,afterany:@prepare,singleton", `{"after":[{"kind":"afterok","job":"12"},{"kind":"afterok","job":"13"},{"kind":"afterany","job":"@prepare"}],"singleton":true}`},
		{"-t|2h|--signal=SIGUSR1@5m|--kill-grace=0", `{"timeLimit":"2h","warn":{"signal":"USR1","before":"5m"},"killGrace":"0s"}`},
		{"-t|01:30:00", `{"timeLimit":"1h30m"}`},
		{"-t|2h|-t|0", `{"timeLimit":"3650d"}`},
		{"--tmp=1Gi|--tmp=0", `{}`},
		{"--retries=3|--retry-on=oom,exit:75|--retry-backoff=5s|--retry-max-backoff=1m|--retry-same-node",
			`{"retry":{"limit":3,"on":["oom","exit:75"],"backoff":"5s","maxBackoff":"1m","sameNode":true}}`},
		{"--no-requeue", `{"noRequeue":true}`},
		{"--no-requeue|--requeue", `{}`},
	} {
		got, err := parse(strings.Split(c.args, "|")...)
		if assert.NoError(t, err, c.args) {
			assert.Equal(t, c.want, got, c.args)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--gpus=", `invalid argument "" for "-G, --gpus" flag: it is empty: give it a value, or leave it out`},
		{"--queue=", `invalid argument "" for "-p, --queue" flag: it is empty`},
		{"--time=10", `invalid argument "10" for "-t, --time" flag: "10" is no duration: the number 10 has no unit`},
		{"--memory=4X", `"4X" is no amount of bytes`},
		{"--mem=100", `the number 100 has no unit: "100Mi" would be mebibytes, as Slurm counts, "100Gi" gibibytes and "100B" bytes`},
		{"--memory=1.5", `the number 1.5 has no unit`},
		{"--mem-per-cpu=100", `the number 100 has no unit`},
		{"--tmp=100", `the number 100 has no unit`},
		{"--gres=gpu:a100:1,gpu:h100:1", `it has gpu twice, and a task gets devices of one kind: write --gpus-per-task=a100,h100:2 where either model will do`},
		{"--gres=gpu:a100:1,gpu", `it has gpu twice`},
		{"--gpus=2|--gres=gpu:1", `--gpus asks for other devices: write --gpus-per-task alone`},
		{"--gpus-per-task=2|--gpus-per-node=0", `--gpus-per-task asks for other devices`},
		{"--gres=gpu:2|--gpus=a100:2", `--gres asks for other devices`},
		{"--gres=licence:2,licence:1", `it has licence twice: write it once, with the sum`},
		{"--mem=0", `0 would be all memory of a node: write how much is needed`},
		{"--memory=0Gi", `0Gi would be all memory of a node`},
		{"--mem-per-cpu=0", `0 would be all memory of a node`},
		{"-n0", `a job has more than 0 tasks`},
		{"-c0", `a task has more than 0 cores`},
		{"--array=9-0", `0 is smaller than 9`},
		{"--label=a", `"a" is not key=value`},
		{"--label=a b=1", `"a b" may only have`},
		{"--env=BERTH_JOB=1", `names that begin with BERTH_ are set by Berth`},
		{"--env=NOSUCH", `the variable NOSUCH is not set here`},
		{"--export=NOSUCH", `the variable NOSUCH is not set here`},
		{"--gpus=x:y", `is not a number of devices, nor model:number`},
		{"--gpus=-1", `is not a number of devices`},
		{"--requeue=expedited", `expedited: a job that is tried again waits in its old place, and its nodes are not kept for it: write --requeue`},
		{"--requeue=perhaps", `"perhaps" is neither true nor false`},
		{"--resource=a", `"a" is not name=number`},
		{"--tasks=99999999999", `is no whole number, or too large`},
		{"--nodelist=n[1-3", `has a "[" without its "]"`},
		{"--nodelist=n[3-1]", `"3-1" is no range of numbers`},
		{"--nodelist=n[0-2000000000]", `is no range of numbers, or too long`},
		{"--nodelist=n[1-2][3-4]", `more than one pair of brackets`},
		{"--nodelist=" + strings.Repeat("n[0-9998],", 2), `stands for more than 10000 nodes`},
		{"--constraint=a|b", ``},
		{"--constraint=a]", `conditions are key=a,b`},
		{"--constraint=a=1&", `"" is no condition`},
		{"--constraint=a>x", `"x" is no whole number`},
		{"--constraint=a!b", `is no condition`},
		{"--prefer=zone=a", `is not weight:condition`},
		{"--dependency=afterok:1?afterok:2", `all of which must hold`},
		{"--dependency=after:1+5", `all of which must hold`},
		{"--dependency=12", `is not kind:job`},
		{"--begin=soon", `"soon" is no time`},
		{"--begin=now+1fortnight", `is no duration`},
		{"--begin=60", `"60" is no time`},
		{"--begin=0s", `"0s" is no time`},
		{"--deadline=1-12:00:00", `"1-12:00:00" is no time`},
		{"--partition=a,b", `a job waits in one queue, and "a,b" are several`},
		{"--env=SLURM_JOB_ID=1", `names that begin with SLURM_ are set by Berth`},
		{"--kill-on-invalid-dep=true", `"true" is neither yes nor no`},
		{"--signal=USR1", `is not signal@duration`},
		{"--signal=FOO@5m", `"FOO" is no signal`},
		{"--output=%b", `has "%b"`},
		{"--open-mode=w", `"w" is neither truncate nor append`},
		{"--hold=perhaps", `"perhaps" is neither true nor false`},
		{"--nosuch", `unknown flag: --nosuch`},
	} {
		args := strings.Split(c.args, "|")
		if c.want == "" { // the "|" is the value's own
			args, c.want = []string{c.args}, "conditions are key=a,b"
		}
		_, err := parse(args...)
		assert.ErrorContains(t, err, c.want, c.args)
	}
}

// What the command line says goes before what is there.
func TestApplyOver(t *testing.T) {
	s := job.Spec{Name: "old", Nodes: []string{"a"}, Labels: map[string]string{"a": "1"}, Env: map[string]string{"A": "1"}}
	labels := s.Labels
	fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	set := New(here)
	set.AddTo(fs)
	require.NoError(t, fs.Parse([]string{"--name=new", "--nodelist=b", "-w", "c", "--label=b=2"}))
	j := &Job{Spec: s}
	require.NoError(t, set.Apply(j))
	s = j.Spec
	assert.Equal(t, "new", s.Name)
	assert.Equal(t, []string{"b", "c"}, s.Nodes)
	assert.Equal(t, map[string]string{"a": "1", "b": "2"}, s.Labels)
	assert.Equal(t, map[string]string{"a": "1"}, labels, "the map of before is not changed")
}

// Every option has a usage that names its value, and no name is there twice.
func TestUsage(t *testing.T) {
	fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	New(here).AddTo(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.NoOptDefVal != "" {
			return
		}
		assert.Contains(t, f.Usage, "`", f.Name)
	})
	assert.Contains(t, fs.FlagUsages(), "name of the job, for people (also --job-name)", "other names stand there")
	assert.NotContains(t, fs.FlagUsages(), "--job-name name", "and have no line of their own")
}

func TestScript(t *testing.T) {
	const text = `#!/bin/bash
# An ordinary comment.
#BERTH --name 'my job' --array=0-99%10   # ten at once
##BERTH --name=no
#BERTHA --name=no

#BERTH	-c 4 --memory 8Gi --label "a=b c"
  # indented
#SBATCH --time=90 --mem=4000 --name=slurm --chdir=/work
#SBATCH -o out-%A_%a.%N -e err-%%A
echo
#BERTH --name=late
`
	j, err := script(text, here)
	require.NoError(t, err)
	s := j.Spec
	assert.Equal(t, text, s.Script)
	assert.Equal(t, "my job", s.Name)
	assert.Equal(t, "0-99%10", s.Array.String())
	assert.Equal(t, job.MilliCPU(4000), s.Resources.CPU)
	assert.Equal(t, job.Bytes(8<<30), s.Resources.Memory, "#BERTH goes before #SBATCH")
	assert.Equal(t, map[string]string{"a": "b c"}, s.Labels)
	assert.Equal(t, job.Duration(90*time.Minute), s.TimeLimit)
	assert.Equal(t, "out-%j_%a.%n", s.Output)
	assert.Equal(t, "err-%%A", s.Error)
	assert.NoError(t, s.Validate())
}

func TestSlurmScript(t *testing.T) {
	for _, c := range []struct{ lines, want string }{
		{"--mem=4G", `{"resources":{"memory":"4Gi"}}`},
		{"--mem=4000", `{"resources":{"memory":"4000Mi"}}`},
		{"--mem=4GB --tmp=1.5g", `{"resources":{"memory":"4Gi","disk":"1536Mi"}}`},
		{"--tmp=1G --tmp=0", `{}`},
		{"--mem-per-cpu=512MiB", `{"resources":{"memory":"512Mi"}}`},
		{"--mem-per-cpu=2G -c 3", `{"resources":{"cpu":"3","memory":"6Gi"}}`},
		{"--mem-per-cpu=2G", `{"resources":{"memory":"2Gi"}}`},
		{"--time=10", `{"timeLimit":"10m"}`},
		{"--time=1-12", `{"timeLimit":"1d12h"}`},
		{"--signal=USR1@120 ", `{"warn":{"signal":"USR1","before":"2m"}}`},
		{"--signal=B:USR1@120 ", `{"warn":{"signal":"USR1","before":"2m","shell":true}}`},
		{"--signal=R:SIGUSR1@120 ", `{"warn":{"signal":"USR1","before":"2m"}}`},
		{"--signal=10", `{"warn":{"signal":"USR1","before":"1m"}}`},
		{"--gpus=a100:2 --ntasks=1", `{"resources":{"gpus":{"count":2,"models":["a100"]}},"tasks":1}`},
		{"--gpus-per-task=2 --ntasks=4", `{"resources":{"gpus":{"count":2}},"tasks":4}`},
		{"--gpus-per-node=2", `{"resources":{"gpus":{"count":2}}}`},
		{"--begin=now+60", `{"begin":"2026-01-30T15:05:05+01:00"}`},
		{"-A me --mail-type=NONE --mail-user=a@b.c --nodes=1 -N1 --ntasks-per-node=1 --comment='a b' -Q --parsable", `{}`},
		{"--time=UNLIMITED", `{"timeLimit":"3650d"}`},
		{"--time=0", `{"timeLimit":"3650d"}`},
		{"--time=00", `{"timeLimit":"3650d"}`},
		{"--time=0:00", `{"timeLimit":"3650d"}`},
		{"--time=0-00:00:00", `{"timeLimit":"3650d"}`},
		{"--nice", `{"priority":-100}`},
		{"--nice=5 --open-mode=append", `{"openMode":"append","priority":-5}`},
		{"--nice=5 --priority=20", `{"priority":15}`},
		{"-o %x-%j.out -D /w", `{"dir":"/w","output":"%x-%j.out"}`},
		{"-a 0-9 -o %A-%j.%%j -D /w", `{"dir":"/w","output":"%j-%j_%a.%%j","array":"0-9"}`},
		{"-a 0-9 -o %4A_%4a.%N -e %6J.%%%A -D /w", `{"dir":"/w","output":"%4j_%4a.%n","error":"%6j_%a.%%%j","array":"0-9"}`},
		{"-o ../logs/%J.out -D /w", `{"dir":"/w","output":"../logs/%j.out"}`},
		{"-w a,b", `{"nodes":["a","b"]}`},
		{"--prefer=ib", `{"preferences":[{"label":"ib","operator":"Exists","weight":100}]}`},
		{"--kill-on-invalid-dep=yes -d afterok:1", `{"after":[{"kind":"afterok","job":"1"}],"killOnInvalidDep":true}`},
		{"--mem=4G --mem-per-cpu=1G -c 2", `{"resources":{"cpu":"2","memory":"2Gi"}}`},
		{"--mem-per-cpu=1G --mem=4G -c 2", `{"resources":{"cpu":"2","memory":"4Gi"}}`},
	} {
		j, err := script("#!/bin/sh\n#SBATCH "+c.lines+"\n", here)
		if !assert.NoError(t, err, c.lines) {
			continue
		}
		s := j.Spec
		s.Script = ""
		data, err := json.Marshal(s)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(data), c.lines)
	}
}

func TestScriptErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"#!/bin/sh\n#BERTH --nosuch\n#BERTH --time=x\n", `invalid job: line 2: #BERTH: unknown flag: --nosuch; line 3: #BERTH: --time: "x"`},
		{"#SBATCH --exclusive\n", `line 1: #SBATCH: --exclusive: Berth gives no whole nodes`},
		{"#SBATCH --nodes=4\n", `line 1: #SBATCH: --nodes: tasks go to any nodes that have room: --ntasks says`},
		{"#SBATCH --requeue=expedited\n", `line 1: #SBATCH: --requeue: expedited: a job that is tried again waits in its old place`},
		{"#SBATCH -p a,b\n", `a job waits in one queue, and "a,b" are several`},
		{"#SBATCH -o out-%n\n", `%n is the place of a node among those of the job, which Berth does not count: write %N`},
		{"#SBATCH -o out-%4n\n", `%n is the place of a node`},
		{"#SBATCH -o %j.%s\n", `%s is the number of a job step, which Berth does not have`},
		{"#SBATCH hetjob\n", `line 1: #SBATCH: heterogeneous jobs are not known`},
		{"#SBATCH --kill-on-invalid-dep=perhaps\n", `"perhaps" is neither yes nor no`},
		{"#BERTH --mem=100\n", `line 1: #BERTH: --mem: the number 100 has no unit: "100Mi"`},
		{"#SBATCH --cpus-per-task=0\n", `a task has more than 0 cores`},
		{"#SBATCH --nice=10000\n", `line 1: #SBATCH: --nice: the priority, 0, less 10000 is not between -1000 and 1000`},
		{"#SBATCH --nice=-2147483648 --priority=1000\n", `--nice: the priority, 1000, less -2147483648 is not between -1000 and 1000`},
		{"#SBATCH --nice=-9999999999\n", `"-9999999999" is no whole number, or too large`},
		{"#SBATCH --mem=0\n", `0 would be all memory of a node`},
		{"#SBATCH --mem=0G\n", `0G would be all memory of a node`},
		{"#SBATCH --mem=1.5\n", `"1.5" is no amount of bytes`},
		{"#SBATCH --mem=100B\n", `"100B" is no amount of bytes`},
		{"#SBATCH --mem=0.3K\n", `it is no whole number`},
		{"#SBATCH -n 0\n", `line 1: #SBATCH: --tasks: a job has more than 0 tasks`},
		{"#SBATCH --mem=0 --gpus=x:y --qos=high\n", `line 1: #SBATCH: --mem: 0 would be all memory of a node: write how much is needed; ` +
			`line 1: #SBATCH: --gpus: "x:y" is not a number of devices, nor model:number; line 1: #SBATCH: --qos: Berth has no QOS`},
		{"#SBATCH --gpus=4 -n 2\n", `line 1: #SBATCH: --gpus: the job has several tasks; Slurm counts it for all tasks together, and Berth for each: write --gpus-per-task`},
		{"#SBATCH --mem-per-cpu=8000000T -c 2\n", `line 1: #SBATCH: --mem-per-cpu: is too large for 2 cores`},
		{"#SBATCH -o slurm-%b.out\n", `has "%b"`},
		{"#BERTH sleep 10\n", `line 1: #BERTH: "sleep" is no option`},
		{"#BERTH --name 'a\n", `line 1: #BERTH: the quote ' has no end`},
		{"#BERTH --help\n", `line 1: #BERTH: unknown flag: --help`},
		{"#BERTH --name\n", `line 1: #BERTH: flag needs an argument: --name`},
		{"#!" + strings.Repeat("x", job.MaxScript), `script: it has 262146 bytes, at most 262144 are allowed`},
	} {
		_, err := script(c.text, here)
		require.ErrorIs(t, err, job.ErrInvalid, c.want)
		assert.ErrorContains(t, err, c.want)
	}
}

func ExampleScript() {
	j, err := Script(`#!/bin/sh
#BERTH --name=align --array=0-99%10 --cpu 4
#SBATCH --mem=4000 --time=90 --account=biology
./align "$BERTH_ARRAY_INDEX"
`, Origin{Now: time.Now()})
	fmt.Println(j.Spec.Name, j.Spec.Array, j.Spec.Resources.CPU, j.Spec.Resources.Memory, j.Spec.TimeLimit, err)
	fmt.Println(j.Warnings)

	j, _ = Script("#!/bin/sh\n#BERTH --tme=2h\n#BERTH --mem=4\n", Origin{Now: time.Now()})
	fmt.Println(New(Origin{}).Apply(j))
	// Output:
	// align 0-99%10 4 4000Mi 1h30m <nil>
	// [line 3: #SBATCH: --account: means nothing: operators say which account a user belongs to]
	// invalid job: line 2: #BERTH: unknown flag: --tme; line 3: #BERTH: --mem: the number 4 has no unit: "4Mi" would be mebibytes, as Slurm counts, "4Gi" gibibytes and "4B" bytes
}

func FuzzScript(f *testing.F) {
	f.Add("#!/bin/sh\n#BERTH --name='a b' -n 4 # x\n#SBATCH --mem=4G -t 10\necho\n")
	f.Add("#BERTH -w n[01-20],b --constraint=a&!b --dependency=afterok:1:2 -b now+1h\n")
	f.Add("#SBATCH --gres=gpu:a:2,b --signal=B:9@60 --export=ALL,A=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		j, err := script(text, here)
		if err != nil {
			require.ErrorIs(t, err, job.ErrInvalid)
			return
		}
		s := j.Spec
		require.Equal(t, text, s.Script)
		if s.Validate() == nil {
			full := s.WithDefaults()
			require.NoError(t, full.Validate())
			_, err := json.Marshal(full)
			require.NoError(t, err)
		}
	})
}
