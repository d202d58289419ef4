package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// anyLoad reports whether something was measured of one of the nodes.
func anyLoad(nodes []api.Node) bool {
	for i := range nodes {
		if nodes[i].Load != nil {
			return true
		}
	}
	return false
}

// shortLoad is what was measured of a node, of the shortest time, with its age: "-" where
// nothing was.
func shortLoad(l *api.Load) string {
	if l == nil || len(l.Windows) == 0 {
		return "-"
	}
	var parts []string
	for _, x := range []struct {
		name  string
		stats *api.LoadStats
	}{{"cpu", l.Windows[0].CPU}, {"mem", l.Windows[0].Memory}} {
		if x.stats != nil {
			parts = append(parts, fmt.Sprintf("%s %.0f%%", x.name, x.stats.Average))
		}
	}
	return strings.Join(parts, ", ") + ", " + age(l) + " ago"
}

// age is how old what was measured is.
func age(l *api.Load) string { return time.Duration(l.Age).Round(time.Second).String() }

// writeLoad prints what was measured of a node, in percent of what tasks may use.
func (a *app) writeLoad(c *cobra.Command, w io.Writer, l *api.Load) {
	if l == nil {
		return
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "Load as measured until %s ago, in %% of what tasks may use:\n", age(l))
	t := a.newTable(c, "LAST", "OF", "AVERAGE", "STDDEV", "P50", "P90", "P95", "P99")
	for _, window := range l.Windows {
		for _, x := range []struct {
			name  string
			stats *api.LoadStats
		}{{"cpu", window.CPU}, {"memory", window.Memory}} {
			s := x.stats
			if s == nil {
				continue
			}
			row := []string{window.Window.String(), x.name}
			for _, v := range []float64{s.Average, s.StdDev, s.P50, s.P90, s.P95, s.P99} {
				row = append(row, fmt.Sprintf("%.1f", v))
			}
			t.row(row...)
		}
	}
	t.write(w)
}
