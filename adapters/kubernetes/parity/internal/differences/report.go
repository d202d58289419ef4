package differences

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Difference is one answer that is not the same on both sides.
type Difference struct {
	// Where says what was asked: "NodeAffinity Filter".
	Where string
	// Reference and Subject are the two answers.
	Reference, Subject string
	// Detail is what it takes to understand it: arguments, objects.
	Detail string
}

func (d *Difference) text() string { return d.Where + ": " + d.Reference + " | " + d.Subject }

// Report is what came of a run. The zero value is not ready; see [New].
type Report struct {
	known   []Known
	current string // how to run the present case again
	cases   int
	counts  map[string]int
	found   map[string]*group // by place and reason
	// chance are the cases in which kube-scheduler does not always answer the same.
	chance []string
}

// group is differences of one kind, of which the shortest is kept.
type group struct {
	where, reason string
	number        int
	shortest      Difference
	again         string
}

// New makes an empty report that knows the list.
func New() (*Report, error) {
	known, err := Parse(list)
	if err != nil {
		return nil, fmt.Errorf("differences.txt: %w", err)
	}
	return NewWith(known), nil
}

// NewWith makes an empty report that knows another list.
func NewWith(known []Known) *Report {
	return &Report{known: known, counts: map[string]int{}, found: map[string]*group{}}
}

// Name says how to run the present case again, where Run was not told.
func (r *Report) Name(again string) { r.current = again }

// Count counts one comparison. Of what is asked "for" many things, all are
// counted together.
func (r *Report) Count(where string) {
	what, _, _ := strings.Cut(where, " for ")
	r.counts[what]++
}

// Counted is how many comparisons of the kind there were.
func (r *Report) Counted(what string) int { return r.counts[what] }

// Add adds a difference.
func (r *Report) Add(d Difference) {
	reason := explain(r.known, &d)
	key := d.Where + "\x00" + reason
	g := r.found[key]
	if g == nil {
		g = &group{where: d.Where, reason: reason, shortest: d, again: r.current}
		r.found[key] = g
	}
	g.add(&group{number: 1, shortest: d, again: r.current})
}

// add adds those of another group of the same kind.
func (g *group) add(o *group) {
	g.number += o.number
	if len(o.shortest.Detail)+len(o.shortest.text()) < len(g.shortest.Detail)+len(g.shortest.text()) {
		g.shortest, g.again = o.shortest, o.again
	}
}

// Compare counts a comparison of two texts and adds the difference where they
// differ; it reports whether they are the same.
func (r *Report) Compare(where, reference, subject string, detail func() string) bool {
	r.Count(where)
	if reference == subject {
		return true
	}
	r.Add(Difference{where, reference, subject, detail()})
	return false
}

// Unexplained is the number of differences without a reason.
func (r *Report) Unexplained() int {
	number := 0
	for _, g := range r.found {
		if g.reason == "" {
			number += g.number
		}
	}
	return number
}

// Explained is the number of differences with a reason.
func (r *Report) Explained() int {
	number := 0
	for _, g := range r.found {
		number += g.number
	}
	return number - r.Unexplained()
}

// Places lists where there were unexplained differences, sorted.
func (r *Report) Places() []string {
	var places []string
	for _, g := range r.found {
		if g.reason == "" {
			places = append(places, g.where)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// Err has the text of Print where a difference is not explained; else it is nil.
func (r *Report) Err() error {
	if r.Unexplained() == 0 {
		return nil
	}
	var text strings.Builder
	r.Print(&text)
	return errors.New(text.String())
}

// Print writes the report: counts, known differences, and of each kind of
// unexplained difference the shortest.
func (r *Report) Print(w io.Writer) {
	total := 0
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(w, "%9d %s\n", r.counts[what], what)
		total += r.counts[what]
	}
	fmt.Fprintf(w, "%9d comparisons in %d cases\n", total, r.cases)
	for _, key := range slices.Sorted(maps.Keys(r.found)) {
		if g := r.found[key]; g.reason != "" {
			fmt.Fprintf(w, "%9d known differences, %s: %s\n", g.number, g.where, g.reason)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.found)) {
		if g := r.found[key]; g.reason == "" {
			fmt.Fprintf(w, "%9d UNEXPLAINED, %s\n  reference: %s\n  subject:   %s\n  %s\n  again: %s\n", g.number, g.where,
				g.shortest.Reference, g.shortest.Subject, g.shortest.Detail, g.again)
		}
	}
	if len(r.chance) > 0 {
		fmt.Fprintf(w, "%9d cases in which kube-scheduler does not always decide the same, and once did as the subject: %s\n", len(r.chance), strings.Join(r.chance, "; "))
	}
	fmt.Fprintf(w, "%9d differences explained, %d unexplained\n", r.Explained(), r.Unexplained())
}
