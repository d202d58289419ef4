package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// columns are as many as the bar of a row has.
const columns = 50

// write prints a row for each sample, and what each department had.
func write(out io.Writer, r *result) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%-7s%-*s", "time", columns+3, "the cluster")
	for i := range departments {
		fmt.Fprintf(w, "%11s", departments[i].name)
	}
	fmt.Fprintln(w)
	for i := range r.samples {
		s := &r.samples[i]
		fmt.Fprintf(w, "%s  |%s|", clock(s.at), bar(s))
		for _, use := range s.use {
			fmt.Fprintf(w, "%10.0f%%", percent(float64(use)))
		}
		fmt.Fprintln(w)
	}
	r.summary(w)
	return w.Flush()
}

// bar is the cluster in letters.
func bar(s *sample) string {
	var b strings.Builder
	sum := int64(0)
	for i, use := range s.use {
		sum += use
		for int64(b.Len()) < (sum*columns+cores/2)/cores {
			b.WriteByte(departments[i].letter)
		}
	}
	return b.String() + strings.Repeat(".", columns-b.Len())
}

func clock(since time.Duration) string {
	return fmt.Sprintf("%02d:%02d", int(since.Hours()), int(since.Minutes())%60)
}

func percent(n float64) float64 { return 100 * n / cores }

// summary prints the averages of the periods, and how the jobs of each department fared.
func (r *result) summary(w io.Writer) {
	row := func(label string, cell func(department int) string) {
		fmt.Fprintf(w, "%-*s", columns+10, label)
		for i := range departments {
			fmt.Fprintf(w, "%11s", cell(i))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	row("guaranteed", func(i int) string { return fmt.Sprintf("%.0f%%", percent(float64(departments[i].guaranteed))) })
	for _, p := range r.periods() {
		row(fmt.Sprintf("on average from %d to %d o'clock", p.from, p.until), func(i int) string {
			return fmt.Sprintf("%.1f%%", percent(r.average(i, p)))
		})
	}
	row("jobs that have ended", func(i int) string { return fmt.Sprint(r.ended[i]) })
	row("times that a job was displaced", func(i int) string { return fmt.Sprint(r.displaced[i]) })
	row("minutes from submission to the first start, on average", func(i int) string {
		return fmt.Sprintf("%.0f", r.waited[i].Minutes()/float64(max(r.startedIn[i], 1)))
	})
}
