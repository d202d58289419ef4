package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/berth-project/berth/examples/backfill/internal/simulation"
)

// jobLine is the line of a job. Window is the index of the window's first job, where the
// log was not run as a whole by the engine.
type jobLine struct {
	Window     *int  `json:"window,omitempty"`
	Job        int64 `json:"job"`
	Wait       int64 `json:"wait"` // seconds
	Backfilled bool  `json:"backfilled"`
}

// summaryLine is the last line.
type summaryLine struct {
	Priority simulation.Priority `json:"priority,omitempty"`
	Backfill simulation.Backfill `json:"backfill"`
	simulation.Summary
}

// writeJSON writes the lines of the jobs to the file, or to out where it is empty, and
// the summary's to out.
func writeJSON(out io.Writer, file string, r *result) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for i := range r.parts {
		p := &r.parts[i]
		for j, o := range p.outcomes {
			line := jobLine{Job: p.workload.Jobs[j].Number, Wait: o.Wait, Backfilled: o.Backfilled}
			if r.priority != "" {
				line.Window = &p.start
			}
			if err := encoder.Encode(line); err != nil {
				return err
			}
		}
	}
	if file != "" {
		if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write the jobs' lines: %w", err)
		}
	} else if _, err := out.Write(lines.Bytes()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(summaryLine{r.priority, r.backfill, r.summary})
}

// writeTable writes a row for each result.
func writeTable(out io.Writer, results []result) error {
	w := bufio.NewWriter(out)
	s := results[0].summary
	fmt.Fprintf(w, "%d jobs on %d processors", s.Jobs, results[0].parts[0].workload.Procs)
	if p := results[0].priority; p != "" {
		fmt.Fprintf(w, ", ordered by %s, in %d window(s)", p, len(results[0].parts))
	}
	if s.LeftOut > 0 {
		fmt.Fprintf(w, "; %d of the log say too little and are left out", s.LeftOut)
	}
	fmt.Fprint(w, "\n\n| backfill | average bounded slowdown | mean wait (s) | utilisation | backfilled |\n| --- | --- | --- | --- | --- |\n")
	for i := range results {
		s := &results[i].summary
		fmt.Fprintf(w, "| %s | %.4f | %.1f | %.2f %% | %d |\n", results[i].backfill, s.Slowdown, s.MeanWait, 100*s.Utilisation, s.Backfilled)
	}
	return w.Flush()
}
