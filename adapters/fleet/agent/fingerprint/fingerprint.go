package fingerprint

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Options say where to look, and what the operator adds.
type Options struct {
	// Labels of the node.
	Labels map[string]string
	// Reserved is left out of what tasks may use: it is for the system.
	Reserved Reserved
	// Other are amounts of resources that the operator gives names to.
	Other map[string]int64
	// MaxTasks is how many tasks may run at once. Default: four times the
	// processors, at least 64.
	MaxTasks int64

	// DataDir is a folder on the disk that tasks use.
	DataDir string
	// Proc and Sys are where these file systems are, and OSRelease the file that
	// names the system. Defaults: "/proc", "/sys", "/etc/os-release".
	Proc, Sys, OSRelease string
	// NvidiaSMI is the program that lists NVIDIA's devices. Default: "nvidia-smi",
	// in PATH.
	NvidiaSMI string
}

// Reserved are amounts that tasks do not get.
type Reserved struct {
	CPU    job.MilliCPU // thousandths of a core
	Memory job.Bytes    // bytes
	Disk   job.Bytes    // bytes of the file system of DataDir
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&o.Proc, "/proc"}, {&o.Sys, "/sys"},
		{&o.OSRelease, "/etc/os-release"}, {&o.NvidiaSMI, "nvidia-smi"},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	return o
}

// Read finds out. An error says that something is not known without which a node is
// none; what else is missing is in Machine.Warnings. Isolation is left to the caller.
func Read(ctx context.Context, o Options) (api.Machine, error) {
	o = o.withDefaults()
	m := api.Machine{
		Arch:   runtime.GOARCH,
		OS:     readOS(o.OSRelease),
		Kernel: readLine(filepath.Join(o.Proc, "sys/kernel/osrelease")),
		Labels: maps.Clone(o.Labels),
		Other:  maps.Clone(o.Other),
	}
	m.Hostname = readLine(filepath.Join(o.Proc, "sys/kernel/hostname"))
	memory, err := readMemory(filepath.Join(o.Proc, "meminfo"), "MemTotal:")
	if err != nil {
		return m, err
	}
	disk, err := diskSize(o.DataDir)
	if err != nil {
		return m, err
	}
	if err := countProcessors(&m, o); err != nil {
		return m, err
	}
	m.NUMA = readNUMA(filepath.Join(o.Sys, "devices/system/node"))
	readGPUs(ctx, &m, o)

	m.CPU = max(0, job.MilliCPU(m.Threads)*1000-o.Reserved.CPU)
	m.Memory = max(0, memory-o.Reserved.Memory)
	m.Disk = max(0, disk-o.Reserved.Disk)
	m.MaxTasks = o.MaxTasks
	if m.MaxTasks == 0 {
		m.MaxTasks = max(64, 4*int64(m.Threads))
	}
	return m, nil
}

// readOS is the name and version of the system, for example "debian 12".
func readOS(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return runtime.GOOS
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = strings.Trim(value, `"'`)
	}
	name := strings.TrimSpace(values["ID"] + " " + values["VERSION_ID"])
	if name == "" {
		return runtime.GOOS
	}
	return name
}

func readLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// readMemory finds the line that has key in a meminfo file, which counts in KiB.
func readMemory(path, key string) (job.Bytes, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		_, value, ok := strings.Cut(line, key)
		f := strings.Fields(value)
		if !ok || len(f) != 2 || f[1] != "kB" {
			continue
		}
		n, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil || n < 0 || n > 1<<50 {
			break
		}
		return job.Bytes(n * 1024), nil
	}
	return 0, fmt.Errorf("%s does not say %q", path, key)
}

// diskSize is the size of the disk and not what is free of it, which tasks change.
func diskSize(dir string) (job.Bytes, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return job.Bytes(int64(st.Blocks) * st.Bsize), nil
}
