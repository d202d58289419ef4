package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// perColumn is how many seconds a column of a chart stands for: the generated log has
// only whole multiples of it.
const perColumn = 600

// writeChart draws which job has which processors when: a row for each processor, a
// letter for each job, capital where it was backfilled. It is for a few jobs whose times
// are whole columns.
func writeChart(out io.Writer, r *result) error {
	p := &r.parts[0]
	var order []int
	columns := 0
	for i, o := range p.outcomes {
		j := &p.workload.Jobs[i]
		order = append(order, i)
		columns = max(columns, int((j.Submit+o.Wait+j.Run)/perColumn))
	}
	start := func(i int) int64 { return p.workload.Jobs[i].Submit + p.outcomes[i].Wait }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(start(a), start(b)) })
	rows := make([][]byte, p.workload.Procs)
	for i := range rows {
		rows[i] = bytesOf('.', columns)
	}
	for _, i := range order {
		j := &p.workload.Jobs[i]
		letter := byte('a' + i%26)
		if p.outcomes[i].Backfilled {
			letter -= 'a' - 'A'
		}
		from, to := start(i)/perColumn, (start(i)+j.Run)/perColumn
		free := j.Procs
		for row := 0; free > 0 && row < len(rows); row++ {
			if rows[row][from] == '.' {
				copy(rows[row][from:to], bytesOf(letter, int(to-from)))
				free--
			}
		}
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: a column is %d minutes, a row a processor, a letter a job; capitals were backfilled\n", r.backfill, perColumn/60)
	for _, row := range rows {
		fmt.Fprintf(w, "  %s\n", row)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func bytesOf(b byte, n int) []byte { return []byte(strings.Repeat(string(b), n)) }
