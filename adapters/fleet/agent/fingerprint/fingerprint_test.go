package fingerprint

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/agent/cpuset"
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// recorded is a machine of testdata. The colons of PCI addresses are underscores there:
// Go modules take no file names with colons.
func recorded(t *testing.T, name string) Options {
	t.Helper()
	base, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return Options{
		DataDir: t.TempDir(), Proc: filepath.Join(base, "proc"), Sys: filepath.Join(base, "sys"),
		OSRelease: filepath.Join(base, "os-release"), NvidiaSMI: filepath.Join(base, "nvidia-smi"),
	}
}

// TestMachines is what is said of recorded machines. The disk is the real one's.
func TestMachines(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		name     string
		edit     func(*Options)
		want     api.Machine
		warnings []string
	}{
		{
			name: "twosocket",
			edit: func(o *Options) {
				o.Labels = map[string]string{"rack": "1"}
				o.Other = map[string]int64{"licence": 3}
				o.Reserved = Reserved{CPU: 1000, Memory: gib}
			},
			want: api.Machine{
				Hostname: "rack1-07", OS: "debian 12", Kernel: "6.1.0-18-amd64",
				Sockets: 2, Cores: 4, Threads: 8, CPU: 7000, Memory: 263844096*1024 - gib, MaxTasks: 64,
				NUMA: []api.NUMANode{
					{ID: 0, CPUs: "0-1,4-5", Memory: 131922048 * 1024},
					{ID: 1, CPUs: "2-3,6-7", Memory: 131922048 * 1024},
				},
				GPUs: []api.GPU{
					{Model: "NVIDIA A100-SXM4-80GB", UUID: "GPU-1f22a253-c329-dfb7-0db4-e005efb6a4c7", Memory: 80 * gib},
					{Model: "NVIDIA A100-SXM4-80GB", UUID: "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", Memory: 80 * gib},
				},
				Labels: map[string]string{"rack": "1"}, Other: map[string]int64{"licence": 3},
			},
		},
		{
			name: "amd",
			edit: func(o *Options) { o.MaxTasks = 5; o.Reserved.CPU = 99999 },
			want: api.Machine{
				Hostname: "mi", OS: "rocky 9.3", Kernel: "5.14.0",
				Sockets: 1, Cores: 2, Threads: 2, CPU: 0, Memory: 16 << 20, MaxTasks: 5,
				GPUs: []api.GPU{{Model: "AMD 0x740f", UUID: "18b3c5f0a1b2c3d4", Memory: 68702699520}},
			},
			warnings: []string{"0000_c5_00.0 (NVIDIA 0x1eb8) is left out: there is no"},
		},
		{
			name: "small",
			edit: func(*Options) {},
			want: api.Machine{
				OS: runtime.GOOS, Sockets: 1, Cores: 2, Threads: 2, CPU: 2000, Memory: 1 << 20, MaxTasks: 64,
			},
			warnings: []string{"which processors the agent may use", "nvidia-smi: exit status 9"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := recorded(t, c.name)
			c.edit(&o)
			got, err := Read(t.Context(), o)
			require.NoError(t, err)
			require.Positive(t, got.Disk)
			require.Len(t, got.Warnings, len(c.warnings), got.Warnings)
			for i, w := range c.warnings {
				require.Contains(t, got.Warnings[i], w)
			}
			got.Disk, got.Warnings = 0, nil
			c.want.Arch = runtime.GOARCH
			require.Equal(t, c.want, got)
		})
	}
}

// TestThisMachine: the real one has what every machine has, and says the same twice.
func TestThisMachine(t *testing.T) {
	o := Options{DataDir: t.TempDir()}
	m, err := Read(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, runtime.NumCPU(), m.Threads)
	require.Equal(t, job.MilliCPU(m.Threads*1000), m.CPU)
	require.Positive(t, m.Memory)
	require.Positive(t, m.Disk)
	require.NotEmpty(t, m.Kernel)
	hostname, err := os.Hostname()
	require.NoError(t, err)
	require.Equal(t, hostname, m.Hostname)
	again, err := Read(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, m, again, "a change would have the node registered again")
}

// TestNoMachine: without memory, disk or processors there is no node.
func TestNoMachine(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"memory":     func(o *Options) { o.Proc = t.TempDir() },
		"disk":       func(o *Options) { o.DataDir = "/berth/there/is/none" },
		"processors": func(o *Options) { o.Sys = t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			o := recorded(t, "twosocket")
			edit(&o)
			_, err := Read(t.Context(), o)
			require.Error(t, err)
		})
	}
}

// TestProcessors: those that may be used, and where they are.
func TestProcessors(t *testing.T) {
	for name, want := range map[string][]cpuset.Processor{
		"twosocket": {
			{ID: 0}, {ID: 1, Core: 1}, {ID: 2, Socket: 1, Node: 1}, {ID: 3, Socket: 1, Core: 1, Node: 1},
			{ID: 4}, {ID: 5, Core: 1}, {ID: 6, Socket: 1, Node: 1}, {ID: 7, Socket: 1, Core: 1, Node: 1},
		},
		"amd":   {{ID: 2, Core: 2}, {ID: 3, Core: 3}}, // 0 and 1 are not the agent's
		"small": {{ID: 0}, {ID: 1, Core: 1}},
	} {
		got, _, err := Processors(recorded(t, name))
		require.NoError(t, err, name)
		require.Equal(t, want, got, name)
	}
}

func TestParseNvidia(t *testing.T) {
	got, err := ParseNvidia("0, NVIDIA GB10, GPU-x, [N/A]\n")
	require.NoError(t, err)
	require.Equal(t, []api.GPU{{Model: "NVIDIA GB10", UUID: "GPU-x"}}, got, "memory that it shares with the machine")
	got, err = ParseNvidia("")
	require.NoError(t, err)
	require.Empty(t, got)
	for text, problem := range map[string]string{
		"1, A, GPU-x, 1\n":                     "there is no 0",
		"0, A, GPU-x, 1\n0, A, GPU-y, 1\n":     "there is no 1",
		"0, A, GPU-x\n":                        "wrong number of fields",
		"x, A, GPU-x, 1\n":                     "not a device",
		"No devices were found\n":              "wrong number of fields",
		"0, \"A, GPU-x, 1\n":                   "quote",
		strings.Repeat("-1, A, GPU-x, 1\n", 2): "not a device",
	} {
		_, err := ParseNvidia(text)
		require.ErrorContains(t, err, problem, text)
	}
}

func FuzzParseNvidia(f *testing.F) {
	f.Add("1, NVIDIA A100-SXM4-80GB, GPU-5d5ba0d6, 81920\n0, NVIDIA A100, GPU-1f22a253, [N/A]\n")
	f.Add("0, \"a \"\"b\"\"\", c, -1")
	f.Fuzz(func(t *testing.T, text string) {
		gpus, err := ParseNvidia(text)
		if err != nil {
			return
		}
		for _, g := range gpus {
			if g.Memory < 0 {
				t.Fatalf("%q: a device of %d bytes", text, g.Memory)
			}
		}
	})
}
