package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// What a job says of its environment is its own: the operator's programs, which may run
// as root, get only what Berth says, and no job can say that. The job's own program gets
// all of it, a library to preload too: it runs as its user, who may run what she likes.
func TestJobsEnvironmentStaysTheirs(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	n := newNode(t, func(c *Config) {
		c.Prolog.Command = []string{"/bin/sh", "-c", "env > " + seen}
	})
	o := script(1, `echo "$BERTH_RANK|$BERTH_NEW|$CUDA_VISIBLE_DEVICES|$NAME"`)
	o.Run.Spec.Name = "$(touch " + filepath.Join(dir, "pwned") + ")"
	o.Run.Spec.Env = map[string]string{
		"LD_PRELOAD": "/there/is/none.so", "LD_LIBRARY_PATH": dir, "BASH_ENV": "/x", "ENV": "/x", "PATH": dir + ":/bin:/usr/bin",
		"IFS": "x", "GODEBUG": "x", "GOTRACEBACK": "crash", "NAME": "mine",
		"BERTH_RANK": "7", "BERTH_NEW": "x", "BERTH_TASK_DIR": "/etc", "A=B": "c", "": "x",
	}
	r := n.run(o)
	require.Equal(t, job.Completed, r.State, asJSON(t, r))
	require.Equal(t, "0|||mine\n", n.log(o.Task, "stdout"))
	for _, line := range strings.Split(strings.TrimSpace(file(t, seen)), "\n") {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case name == "PATH":
			require.NotContains(t, value, dir)
		case strings.HasPrefix(name, "BERTH_"):
			require.NotEqual(t, "BERTH_NEW", name)
		default:
			require.Contains(t, []string{"HOME", "PWD", "SHLVL", "_", "OLDPWD"}, name)
		}
	}
	require.Contains(t, file(t, seen), "BERTH_JOB_NAME="+o.Run.Spec.Name+"\n")
	require.Contains(t, file(t, seen), "BERTH_TASK_DIR="+filepath.Join(n.dir, "work"))
	require.NoFileExists(t, filepath.Join(dir, "pwned"))
}
