package server

import (
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// loads are what tasks under way use, by queue and owner.
func loads(v state.View) map[[2]string]*load {
	out := map[[2]string]*load{}
	for k := range v.Tasks() {
		j := v.Job(k.ID.Job)
		key := [2]string{j.Spec.Queue, j.Owner}
		if out[key] == nil {
			out[key] = &load{}
		}
		out[key].addTask(j.Spec, k)
	}
	return out
}

// load is what tasks use of the fleet together, or what the fleet has. GPUs are in thousandths.
type load struct {
	tasks                   int32
	cpu, memory, disk, gpus int64
}

func (l *load) addTask(s *job.Spec, k *state.Task) {
	l.tasks++
	l.cpu += int64(s.Resources.CPU)
	l.memory += int64(s.Resources.Memory)
	l.disk += int64(s.Resources.Disk)
	for _, g := range k.GPUs {
		l.gpus += g.Share
	}
}

// add adds another load.
func (l *load) add(o *load) {
	l.tasks += o.tasks
	l.cpu += o.cpu
	l.memory += o.memory
	l.disk += o.disk
	l.gpus += o.gpus
}

// dominant is the resource of which the load is most in relation to all there is, and that
// part; of equal ones the first. It is "" where nothing is used, or there is nothing.
func (l *load) dominant(all *load) (resource string, share float64) {
	for _, r := range []struct {
		name     string
		used, of int64
	}{{"cpu", l.cpu, all.cpu}, {"memory", l.memory, all.memory}, {"disk", l.disk, all.disk}, {"gpus", l.gpus, all.gpus}} {
		if r.of > 0 && float64(r.used)/float64(r.of) > share {
			resource, share = r.name, float64(r.used)/float64(r.of)
		}
	}
	return resource, share
}

// amounts is the load as amounts, without those that are 0. A part of a device counts as one.
func (l *load) amounts() (a api.Amounts) {
	if l.cpu > 0 {
		cpu := job.MilliCPU(l.cpu)
		a.CPU = &cpu
	}
	if l.memory > 0 {
		memory := job.Bytes(l.memory)
		a.Memory = &memory
	}
	if l.disk > 0 {
		disk := job.Bytes(l.disk)
		a.Disk = &disk
	}
	if l.gpus > 0 {
		gpus := (l.gpus + 999) / 1000
		a.GPUs = &gpus
	}
	return a
}

// capacity is what the nodes have that are not lost, drained ones too.
func capacity(v state.View) *load {
	all := &load{}
	for n := range v.Nodes() {
		if n.State == api.NodeLost {
			continue
		}
		m := &n.Machine
		all.add(&load{cpu: int64(m.CPU), memory: int64(m.Memory), disk: int64(m.Disk), gpus: int64(len(m.GPUs)) * 1000})
	}
	return all
}
