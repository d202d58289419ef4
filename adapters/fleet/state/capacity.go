package state

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// take returns what is used with one more task.
func (u *Used) take(r *job.Resources, gpus []GPUShare) *Used { return u.change(r, gpus, 1) }

// give returns what is used with one task less.
func (u *Used) give(r *job.Resources, gpus []GPUShare) *Used { return u.change(r, gpus, -1) }

func (u *Used) change(r *job.Resources, gpus []GPUShare, sign int64) *Used {
	next := *u
	next.CPU += job.MilliCPU(sign) * r.CPU
	next.Memory += job.Bytes(sign) * r.Memory
	next.Disk += job.Bytes(sign) * r.Disk
	next.Tasks += sign
	if len(gpus) > 0 {
		next.GPUs = slices.Clone(u.GPUs)
		for _, g := range gpus {
			for len(next.GPUs) <= g.GPU {
				next.GPUs = append(next.GPUs, 0)
			}
			next.GPUs[g.GPU] += sign * g.Share
		}
	}
	if len(r.Other) > 0 {
		next.Other = maps.Clone(u.Other)
		if next.Other == nil {
			next.Other = map[string]int64{}
		}
		for name, amount := range r.Other {
			next.Other[name] += sign * amount
		}
	}
	return &next
}

// wholeGPU is one device, in thousandths.
const wholeGPU = 1000

// over says what of the node is used beyond what it has; empty: nothing is.
func (u *Used) over(n *Node) string {
	m := &n.Machine
	switch {
	case u.CPU > m.CPU:
		return fmt.Sprintf("it has not enough cpu: %s of %s would be used", u.CPU, m.CPU)
	case u.Memory > m.Memory:
		return fmt.Sprintf("it has not enough memory: %s of %s would be used", u.Memory, m.Memory)
	case u.Disk > m.Disk:
		return fmt.Sprintf("it has not enough disk: %s of %s would be used", u.Disk, m.Disk)
	case m.MaxTasks > 0 && u.Tasks > m.MaxTasks:
		return fmt.Sprintf("it takes no more than %d tasks", m.MaxTasks)
	}
	for i, share := range u.GPUs {
		if share > wholeGPU {
			return fmt.Sprintf("GPU %d is given away already", i)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Other)) {
		if u.Other[name] > m.Other[name] {
			return fmt.Sprintf("it has not enough %s: %d of %d would be used", name, u.Other[name], m.Other[name])
		}
	}
	return ""
}
