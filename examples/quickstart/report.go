package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// printer writes the report. It keeps the first error of the writer.
type printer struct {
	out     io.Writer
	colours bool // out is a terminal
	err     error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// header says what is scheduled.
func (p *printer) header(o options, nodes []*model.Node) {
	count := map[string]int{}
	for _, n := range nodes {
		count[n.Labels[labelPool]]++
	}
	var kinds []string
	for i := range pools {
		kinds = append(kinds, fmt.Sprintf("%s %s", grouped(count[pools[i].name]), pools[i].name))
	}
	p.printf("%s for %s, seed %d\n", counted(o.workloads, "workload"), counted(o.nodes, "node"), o.seed)
	p.printf("  nodes: %s\n", strings.Join(kinds, ", "))
}

// summary says what came of it, and how fast.
func (p *printer) summary(r *result) {
	placed := len(r.history.placed)
	pending := r.total - placed
	p.heading(fmt.Sprintf("Tried in %s: %s decisions/s", seconds(r.elapsed), grouped(int(float64(r.total)/r.elapsed.Seconds()))))
	p.printf("  placed   %7s  %s\n", grouped(placed), percent(placed, r.total))
	p.printf("  pending  %7s  %s\n", grouped(pending), percent(pending, r.total))
}

// usage is how much there is of a resource, and how much is taken.
type usage struct {
	name, unit  string
	scale       int64 // amounts in a unit
	used, total int64
}

// utilisation says how full the fleet is, as the engine's record has it.
func (p *printer) utilisation(r *result) {
	cpu := usage{name: "cpu", unit: "cores", scale: 1000}
	memory := usage{name: "memory", unit: "GiB", scale: gib}
	gpu := usage{name: "gpu", unit: "GPUs", scale: model.WholeDevice}
	view := r.engine.View()
	for n := range view.Nodes() {
		cpu.total += n.Allocatable.CPU
		memory.total += n.Allocatable.Memory
		gpu.total += int64(len(n.Devices)) * model.WholeDevice
	}
	for w := range view.Workloads() {
		if w.Node == "" {
			continue
		}
		cpu.used += w.Requests.CPU
		memory.used += w.Requests.Memory
		for _, d := range w.Shares {
			gpu.used += d.Share
		}
	}
	p.heading("Utilisation")
	for _, u := range []usage{cpu, memory, gpu} {
		p.printf("  %-7s %s %s  %8s of %s %s\n", u.name, p.gauge(u.used, u.total, 30), percent(int(u.used), int(u.total)),
			grouped(int(u.used/u.scale)), grouped(int(u.total/u.scale)), u.unit)
	}
}

// maxObstacles is how many reasons are listed.
const maxObstacles = 6

// obstacles lists what keeps workloads pending, the most frequent first.
func (p *printer) obstacles(r *result) {
	if len(r.history.obstacles) == 0 {
		return
	}
	p.heading("What keeps them pending, on the nodes that came closest")
	reasons := byCount(r.history.obstacles)
	for _, reason := range reasons[:min(len(reasons), maxObstacles)] {
		p.printf("  %7s  %s\n", grouped(r.history.obstacles[reason]), reason)
	}
	if more := len(reasons) - maxObstacles; more > 0 {
		p.printf("           and %s more\n", counted(more, "reason"))
	}
}

// byCount sorts the keys, those that count most first, equal ones by name.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// gauge draws a part of a whole; what is there shows, be it ever so little.
func gauge(part, whole int64, width int) string {
	filled := 0
	if part > 0 && whole > 0 {
		filled = max(int(float64(part)/float64(whole)*float64(width)+0.5), 1)
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", max(width-filled, 0))
}

// percent is the part of the whole with one decimal, six characters wide.
func percent(part, whole int) string {
	if whole == 0 {
		return "     -"
	}
	return fmt.Sprintf("%5.1f%%", 100*float64(part)/float64(whole))
}

// grouped writes a number that is not negative with a comma before each three
// digits.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted is so many of something.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return grouped(n) + " " + what
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
