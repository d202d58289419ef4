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
