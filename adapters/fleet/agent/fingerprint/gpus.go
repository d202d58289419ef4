package fingerprint

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// nvidiaLimit is how long nvidia-smi may take; without its daemon it wakes up every
// device first.
const nvidiaLimit = 30 * time.Second

// nvidiaBytes is how much of its answer is read: a device has about 80 bytes.
const nvidiaBytes = 1 << 20

// readGPUs asks nvidia-smi, and the PCI bus for what it does not know.
func readGPUs(ctx context.Context, m *api.Machine, o Options) {
	onBus := readPCI(filepath.Join(o.Sys, "bus/pci/devices"))
	fromSMI, err := askNvidia(ctx, o.NvidiaSMI)
	installed := !errors.Is(err, exec.ErrNotFound)
	if err != nil && installed {
		m.Warnings = append(m.Warnings, fmt.Sprintf("nvidia-smi: %v", err))
	}
	m.GPUs = fromSMI
	for _, d := range onBus {
		if d.vendor != nvidia {
			m.GPUs = append(m.GPUs, d.gpu)
			continue
		}
		// Without its driver a device is of no use to programs.
		if !installed {
			m.Warnings = append(m.Warnings, fmt.Sprintf("the device %s (%s) is left out: there is no %s", d.address, d.gpu.Model, o.NvidiaSMI))
		}
	}
}

func askNvidia(ctx context.Context, program string) ([]api.GPU, error) {
	ctx, cancel := context.WithTimeout(ctx, nvidiaLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program,
		"--query-gpu=index,name,uuid,memory.total", "--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second
	out := &capped{limit: nvidiaBytes}
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || filepath.IsAbs(program) && errors.Is(err, fs.ErrNotExist) {
			return nil, exec.ErrNotFound
		}
		return nil, err
	}
	return ParseNvidia(out.text.String())
}

// ParseNvidia reads the answer of nvidia-smi --query-gpu=index,name,uuid,memory.total
// --format=csv,noheader,nounits: memory is in MiB, or "[N/A]".
func ParseNvidia(text string) ([]api.GPU, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = 4
	r.TrimLeadingSpace = true
	type numbered struct {
		index int
		gpu   api.GPU
	}
	var found []numbered
	for {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(strings.TrimSpace(f[0]))
		if err != nil || index < 0 || f[1] == "" {
			return nil, fmt.Errorf("not a device: %q", f)
		}
		mib, err := strconv.ParseInt(strings.TrimSpace(f[3]), 10, 64)
		if err != nil || mib < 0 || mib > 1<<40 {
			mib = 0 // some devices share the memory of the machine, and do not say
		}
		found = append(found, numbered{index, api.GPU{
			Model: strings.TrimSpace(f[1]), UUID: strings.TrimSpace(f[2]), Memory: job.Bytes(mib << 20),
		}})
	}
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(a.index, b.index) })
	var gpus []api.GPU
	for i, n := range found {
		if n.index != i {
			return nil, fmt.Errorf("the devices are not numbered from 0 without gaps: there is no %d", i)
		}
		gpus = append(gpus, n.gpu)
	}
	return gpus, nil
}

// The vendors whose devices compute. Others on the bus only show pictures.
const (
	nvidia = "0x10de"
	amd    = "0x1002"
)

type pciDevice struct {
	address, vendor string
	gpu             api.GPU
}

// readPCI lists the devices of known vendors on the bus, in the order of their
// addresses: display controllers (class 0x03) and processing accelerators (0x12).
func readPCI(base string) []pciDevice {
	folders, err := filepath.Glob(filepath.Join(base, "*"))
	if err != nil {
		return nil
	}
	slices.Sort(folders)
	var devices []pciDevice
	for _, folder := range folders {
		class := readLine(filepath.Join(folder, "class"))
		if !strings.HasPrefix(class, "0x03") && !strings.HasPrefix(class, "0x12") {
			continue
		}
		vendor := readLine(filepath.Join(folder, "vendor"))
		name := map[string]string{nvidia: "NVIDIA", amd: "AMD"}[vendor]
		if name == "" {
			continue
		}
		d := pciDevice{address: filepath.Base(folder), vendor: vendor}
		d.gpu.Model = name + " " + readLine(filepath.Join(folder, "device"))
		d.gpu.UUID = readLine(filepath.Join(folder, "unique_id"))
		vram, err := strconv.ParseInt(readLine(filepath.Join(folder, "mem_info_vram_total")), 10, 64)
		if err == nil && vram > 0 {
			d.gpu.Memory = job.Bytes(vram)
		}
		devices = append(devices, d)
	}
	return devices
}

// capped keeps the beginning of what is written to it.
type capped struct {
	text  strings.Builder
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	if c.text.Len()+len(p) > c.limit {
		return 0, fmt.Errorf("it says more than %d bytes", c.limit)
	}
	return c.text.Write(p)
}
