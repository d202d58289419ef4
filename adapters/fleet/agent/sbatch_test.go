package agent

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

// batch are scripts as people write them for sbatch, submitted one after the other in a
// folder of their own, and what sbatch's manual promises: how the last of them ends, and
// which files are in the folder then. In texts, @JOB is the number of the first job, @NEXT
// that of the second; @DIR is the folder.
type batch struct {
	name    string
	scripts []string
	// files are in the folder before.
	files map[string]string
	// environ and umask are those of who submits, args follow the script's name.
	environ []string
	umask   string
	args    []string
	gpus    []api.GPUShare
	// again: the first script is requeued once it has run.
	again bool

	ends job.State // default: COMPLETED
	exit int
	// want are the new files, as regular expressions of all of their text; "" is what is
	// kept of the output of the last job that names no file.
	want map[string]string
	// private: the new files are for their owner alone.
	private bool
}

const conda = "BASH_FUNC_conda%%=() {  echo \"$1 $2\" >> conda.log;\n export CONDA_DEFAULT_ENV=$2\n}"

// TestBatchScripts: scripts for Slurm do here what its manual promises.
func TestBatchScripts(t *testing.T) {
	n := newNode(t, func(c *Config) { c.MachineEvery = time.Hour })
	n.run(script(1, "true"))
	m := *n.agent.machine.Load()
	m.GPUs = []api.GPU{{Model: "A"}, {Model: "A"}, {Model: "A"}, {Model: "A"}}
	n.agent.machine.Store(&m)
	number := 1
	for _, c := range batches {
		first := number + 1
		number += len(c.scripts)
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := submission{t: t, node: n, batch: c, dir: t.TempDir(), first: first}
			b.write()
			for i := range c.scripts {
				b.run(i)
			}
			b.compare()
		})
	}
}

// submission is a batch that runs on a node.
type submission struct {
	t    *testing.T
	node *node
	batch
	dir   string
	first int // number of its jobs
	last  api.Report
}

// fill puts in what is not known before.
func (b *submission) fill(text string) string {
	return strings.NewReplacer("@JOB", job.ID(b.first).String(), "@NEXT", job.ID(b.first+1).String(), "@DIR", b.dir).Replace(text)
}

func (b *submission) write() {
	for name, text := range b.files {
		path := filepath.Join(b.dir, name)
		require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b.t, os.WriteFile(path, []byte(text), 0o755))
	}
}

// spec is what the client makes of the i-th script.
func (b *submission) spec(i int) job.Spec {
	o := flags.Origin{Now: time.Now(), Environ: b.environ, Dir: b.dir, Host: "login", Umask: b.umask}
	j, err := flags.Script(b.fill(b.scripts[i]), o)
	require.NoError(b.t, err)
	require.NoError(b.t, flags.New(o).Apply(j))
	if j.Spec.Tasks <= 1 { // else it is said that the script runs in each task
		require.Empty(b.t, j.Warnings)
	}
	j.Spec.Args = b.args
	s := j.Spec.WithDefaults()
	require.NoError(b.t, job.Check([]job.Spec{s}))
	return s
}

// run runs all elements of the i-th job, one after the other, and all tasks of each
// together.
func (b *submission) run(i int) {
	s := b.spec(i)
	elements, count := []int32{0}, int32(0)
	if !s.Array.IsZero() {
		elements, count = slices.Collect(s.Array.All()), int32(s.Array.Len())
	}
	for _, element := range elements {
		b.attempt(i, 1, element, count, s)
		if b.again && i == 0 {
			b.attempt(i, 2, element, count, s)
		}
	}
}

func (b *submission) attempt(i int, attempt, element, count int32, s job.Spec) {
	run := api.Run{Spec: s, Owner: "tester", Try: attempt, Array: count, GPUs: b.gpus}
	for range s.Tasks {
		run.Hosts, run.Names = append(run.Hosts, "10.0.0.1"), append(run.Names, "n1")
	}
	id := job.TaskID{Job: job.ID(b.first + i), Element: element, Attempt: attempt}
	for id.Rank = range s.Tasks {
		b.node.server.order(api.Order{Task: id, Run: run})
	}
	for id.Rank = range s.Tasks {
		b.last = b.node.server.ended(b.t, id)
	}
}

func (b *submission) compare() {
	want := job.Completed
	if b.ends != "" {
		want = b.ends
	}
	require.Equal(b.t, want, b.last.State, "%s", asJSON(b.t, b.last))
	require.NotNil(b.t, b.last.Exit)
	require.Equal(b.t, b.exit, b.last.Exit.Code)
	found := map[string]string{}
	if _, ok := b.want[""]; ok {
		found[""] = b.node.log(b.last.Task, "stdout")
	}
	require.NoError(b.t, filepath.Walk(b.dir, func(path string, info os.FileInfo, err error) error {
		name := strings.TrimPrefix(path, b.dir+"/")
		if _, before := b.files[name]; err != nil || info.IsDir() || before {
			return err
		}
		require.True(b.t, !b.private || info.Mode().Perm()&0o077 == 0, "%s: %s", name, info.Mode())
		text, err := os.ReadFile(path)
		found[name] = string(text)
		return err
	}))
	names := slices.Collect(maps.Keys(found))
	for name, text := range b.want {
		require.Contains(b.t, names, b.fill(name))
		require.Regexp(b.t, regexp.MustCompile(`\A(?:`+b.fill(text)+`)\z`), found[b.fill(name)], name)
	}
	require.Len(b.t, names, len(b.want), "%v", names)
}
