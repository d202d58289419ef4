package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// maxCell is how many characters a text has at most that is one column of many, maxLast
// one that is the last of its line.
const (
	maxCell = 60
	maxLast = 160
)

// shortText is a text, or its beginning where it is long.
func shortText(s string) string { return cut(s, maxCell) }

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// waits says in few words why something waits, with the failure before a pause.
func waits(reason job.Reason, message string) string {
	if reason == job.ReasonBackoff && message != "" {
		return cut(string(reason)+": "+message, maxLast)
	}
	return string(reason)
}

// waitsUntil is the reason why something waits, with the moment when it is tried again
// where that is to come.
func (a *app) waitsUntil(reason job.Reason, eligible time.Time) string {
	if reason == "" || !eligible.After(a.now()) {
		return string(reason)
	}
	return string(reason) + " until " + a.stamp(eligible)
}

// writeFailures prints what several attempts have in common that never ran.
func (a *app) writeFailures(c *cobra.Command, w io.Writer, list []api.Failure) {
	if len(list) == 0 {
		return
	}
	t := a.newTable(c, "ATTEMPTS", "STATE", "EXIT", "ELEMENTS", "NODES", "NOTE")
	for i := range list {
		f := &list[i]
		t.row(strconv.Itoa(f.Attempts), string(f.State), exit(f.Exit), shortText(f.Elements), or(shortList(f.Nodes), "-"), f.Message)
	}
	fmt.Fprintln(w)
	t.write(w)
}

// waiting are elements without tasks that wait for the same.
type waiting struct {
	elements []int32
	first    *api.Element // the one that is tried next
}

// groupWaiting puts together the elements that wait for the same, in the place of the
// first of them. What has tasks stays by itself: then first alone is set.
func groupWaiting(list []api.Element) []*waiting {
	type same struct {
		state   job.State
		reason  job.Reason
		message string
	}
	var out []*waiting
	groups := map[same]*waiting{}
	for i := range list {
		e := &list[i]
		k := same{e.State, e.Reason, e.Message}
		g := groups[k]
		if g == nil || len(e.Tasks) > 0 {
			g = &waiting{first: e}
			out = append(out, g)
			if len(e.Tasks) == 0 {
				groups[k] = g
			}
		}
		if e.Eligible.Before(g.first.Eligible) {
			g.first = e
		}
		g.elements = append(g.elements, e.Index)
	}
	return out
}

// note says what the elements wait for, and until when the first of them does.
func (g *waiting) note(a *app) string {
	e := g.first
	note := a.waitsUntil(e.Reason, e.Eligible)
	if len(g.elements) > 1 {
		note = strings.Replace(note, " until ", ", the first until ", 1)
	}
	if e.Reason == job.ReasonBackoff && e.Message != "" {
		note += ": " + e.Message
	}
	return note
}
