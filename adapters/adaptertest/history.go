package adaptertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// settled is the end of every check: the history is one that may be, and the
// engine's record and the world agree.
func (w *world) settled() {
	w.tb.Helper()
	if w.engine != nil {
		w.agreed()
	}
	w.end()
	history := w.h.Log().Events()
	if list := append(w.problems(history), w.counts(history)...); len(list) > 0 {
		w.tb.Errorf("%s\n%s", strings.Join(list, "\n"), w.situation()) // which repeats some
	}
}

// runs says where each workload runs according to the history: by workload,
// the nodes of its runs that have not ended.
func runs(history []Event) map[string][]string {
	on := map[string][]string{}
	for _, e := range history {
		nodes := on[e.Workload]
		if !e.Ended {
			on[e.Workload] = append(nodes, e.Node)
		} else if i := slices.Index(nodes, e.Node); i >= 0 {
			on[e.Workload] = slices.Delete(nodes, i, i+1)
		}
	}
	maps.DeleteFunc(on, func(_ string, nodes []string) bool { return len(nodes) == 0 })
	return on
}

// problems goes through the history and lists what should not have happened.
func (w *world) problems(history []Event) []string {
	var list []string
	problem := func(i int, format string, args ...any) {
		list = append(list, fmt.Sprintf("line %d of the history: %s", i+1, fmt.Sprintf(format, args...)))
	}
	on := map[string][]string{} // by workload
	used := map[string]int64{}  // by node
	for i, e := range history {
		nodes := on[e.Workload]
		if e.Ended {
			at := slices.Index(nodes, e.Node)
			if at < 0 {
				problem(i, "%v, but does not run there", e)
				continue
			}
			on[e.Workload] = slices.Delete(nodes, at, at+1)
			used[e.Node]--
			continue
		}
		if len(nodes) > 0 {
			problem(i, "%v, but runs on %v already", e, nodes)
		}
		if used[e.Node]++; used[e.Node] > w.slots[e.Node] {
			problem(i, "%v, where there is room for %d only", e, w.slots[e.Node])
		}
		for _, p := range w.dead[e.Node] {
			if i >= p.from && (p.to < 0 || i < p.to) {
				problem(i, "%v, which has gone", e)
			}
		}
		on[e.Workload] = append(nodes, e.Node)
	}
	return list
}

// agreed waits until the engine's record says of every workload where it runs,
// and of none that it runs where it does not.
func (w *world) agreed() {
	w.tb.Helper()
	w.until("the engine's record and the world agree", func(v *engine.View, on map[string][]string) bool {
		confirmed := 0
		for r := range v.WorkloadsIn(model.Confirmed) {
			if !slices.Equal(on[r.Name], []string{r.Node}) {
				return false
			}
			confirmed++
		}
		return confirmed == len(on)
	})
}

// once says that each of the workloads is started exactly once in the whole
// check.
func (w *world) once(names ...string) { w.starts(1, names...) }

// starts is once for another number. The check is made at the end.
func (w *world) starts(n int, names ...string) {
	for _, name := range names {
		w.wanted[name] = n
	}
}

// counts compares how often workloads were started with what the check said.
func (w *world) counts(history []Event) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(w.wanted)) {
		n := 0
		for _, e := range history {
			if e.Workload == name && !e.Ended {
				n++
			}
		}
		if n != w.wanted[name] {
			list = append(list, fmt.Sprintf("workload %s was started %d times, want %d", name, n, w.wanted[name]))
		}
	}
	return list
}
