package flags

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// refusedValues are values that options take and that job.Check refuses, with "|" between
// those of an option that is given several times.
var refusedValues = map[string]string{
	"name": "@x", "queue": "a/b", "dir": "/a/../b", "user": "1000", "output": "logs/", "error": "logs/",
	"cpu": "2000000", "memory": "1Pi", "mem-per-cpu": "1Pi", "disk": "1Pi",
	"gpus": "2000", "gpu-share": "1001", "gres": "gpu:2000", "tasks": "-1", "same-label": "a b",
	"nodelist": "a/b", "exclude": "a/b", "constraint": strings.Repeat("a&", job.MaxConditions) + "a", "prefer": "500:a", "spread": "a|a",
	"reservation": "a/b", "priority": "5000", "begin": "1900-01-01", "deadline": "1900-01-01", "dependency": "afterfoo:12",
	"time": "9999d", "signal": "USR1@9999d", "kill-grace": "2d",
	"retries": "-1", "retry-on": "foo", "retry-backoff": "9999d", "retry-max-backoff": "9999d", "resource": "a=0",
}

// What is refused when all options of a job are read is told by the option that asked for it.
func TestProblemsByTheirOptions(t *testing.T) {
	for name := range fields {
		require.Contains(t, refusedValues, name)
	}
	for _, name := range slices.Sorted(maps.Keys(refusedValues)) {
		t.Run(name, func(t *testing.T) {
			fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
			set := New(here)
			set.AddTo(fs)
			for value := range strings.SplitSeq(refusedValues[name], "|") {
				require.NoError(t, fs.Parse([]string{"--" + name + "=" + value}))
			}
			j := Job{Spec: job.Spec{Command: []string{"true"}}}
			require.NoError(t, set.Apply(&j))
			var invalid *job.ValidationError
			require.ErrorAs(t, j.Spec.Validate(), &invalid)
			for _, p := range invalid.Problems {
				written, ok := j.AsWritten(p)
				require.True(t, ok, "%v", p)
				require.Equal(t, job.Problem{Field: "--" + name, Message: p.Message}, written)
			}
		})
	}
}

// In a script the line is told, too, and the last place where it was said counts.
func TestProblemsByTheirLines(t *testing.T) {
	text := "#!/bin/sh\n#SBATCH --ntasks=-1\n#SBATCH --gres=gpu:2000,licence:0\n#BERTH --tasks=-2 --retries=-3\n"
	j, err := Script(text, here)
	require.NoError(t, err)
	set := New(here)
	fs := pflag.NewFlagSet("submit", pflag.ContinueOnError)
	set.AddTo(fs)
	require.NoError(t, fs.Parse([]string{"--retries=-4"}))
	require.NoError(t, set.Apply(j))
	j.Spec.Priority = 5000 // as of a job file
	var invalid *job.ValidationError
	require.ErrorAs(t, j.Spec.Validate(), &invalid)
	var got []string
	for _, p := range invalid.Problems {
		p, _ = j.AsWritten(p)
		got = append(got, p.String())
	}
	require.Equal(t, []string{
		"line 3: #SBATCH: --gres: 2000 is not between 0 and 1024",
		"line 3: #SBATCH: --gres: 0 is not between 1 and 1000000000000",
		"line 4: #BERTH: --tasks: -2 is not between 0 and 10000",
		"priority: 5000 is not between -1000 and 1000",
		"--retries: -4 is not between 0 and 1000",
	}, got)
}
