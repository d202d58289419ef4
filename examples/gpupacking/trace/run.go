package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Run is the answer of one run. Its JSON form is one line of the program's
// output.
type Run struct {
	// Policy decided where the pods went.
	Policy Policy `json:"policy"`
	// Seed is that of the order of arrival and of the node ranks; see Trace.Arrange.
	Seed int64 `json:"seed"`
	// Pods is how many arrived, the dropped ones included.
	Pods int `json:"pods"`
	// Allocation is in percent of the GPU capacity, with two decimals.
	Allocation Series `json:"allocation"`
	// Fragmentation is in percent of the idle GPU capacity.
	Fragmentation Series `json:"fragmentation"`
	// Bound is what no policy allocates more than at column Full, in percent; 0: not known.
	Bound float64 `json:"bound,omitempty"`
}

// WriteJSON writes the runs, one a line. The error is the writer's.
func WriteJSON(out io.Writer, runs ...Run) error {
	encoder := json.NewEncoder(out)
	for i := range runs {
		if err := encoder.Encode(&runs[i]); err != nil {
			return err
		}
	}
	return nil
}

// Summary is the allocation at column Full over the seeds of a policy.
type Summary struct {
	Seeds     int     // runs that have a value there
	Mean      float64 // in percent; NaN without seeds
	Deviation float64 // the standard deviation of the sample; NaN below two seeds
}

// Summarize returns the summary of those runs that are of the policy.
func Summarize(runs []Run, policy Policy) Summary {
	var values []float64
	for i := range runs {
		if runs[i].Policy == policy {
			values = append(values, runs[i].Allocation[Full])
		}
	}
	return summarize(values)
}

// summarizeBounds is the summary of the bounds, each seed once.
func summarizeBounds(runs []Run) Summary {
	var values []float64
	seen := map[int64]bool{}
	for i := range runs {
		if r := &runs[i]; r.Bound > 0 && !seen[r.Seed] {
			seen[r.Seed] = true
			values = append(values, r.Bound)
		}
	}
	return summarize(values)
}

func summarize(values []float64) Summary {
	values = slices.DeleteFunc(values, math.IsNaN)
	n := float64(len(values))
	var total, squares float64
	for _, v := range values {
		total += v
	}
	mean := total / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Summary{Seeds: len(values), Mean: mean, Deviation: math.Sqrt(squares / (n - 1))}
}

// String is "mean ± deviation" with two decimals, as far as they exist.
func (s Summary) String() string {
	switch s.Seeds {
	case 0:
		return "-"
	case 1:
		return fmt.Sprintf("%.2f", s.Mean)
	default:
		return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.Deviation)
	}
}

// WriteTable writes a row of the publication's table, with its header: the GPU
// allocation at 100 % arrived demand, for each policy that has a run, and the bound
// where runs have one. The name is that of the trace. The error is the writer's.
func WriteTable(out io.Writer, name string, runs []Run) error {
	header, rule, row := []string{"trace"}, []string{"---"}, []string{name}
	for _, policy := range Policies() {
		if !hasPolicy(runs, policy) {
			continue
		}
		header = append(header, policy.Title())
		rule = append(rule, "---")
		row = append(row, Summarize(runs, policy).String())
	}
	if bounds := summarizeBounds(runs); bounds.Seeds > 0 {
		header, rule, row = append(header, "upper bound"), append(rule, "---"), append(row, bounds.String())
	}
	const caption = "GPU allocation, %% of capacity, when the arrived demand is %d %% of it.\n" +
		"Mean ± standard deviation over the seeds; ties go to the smallest node rank.\n\n"
	if _, err := fmt.Fprintf(out, caption, Full); err != nil {
		return err
	}
	for _, line := range [][]string{header, rule, row} {
		if _, err := fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return err
		}
	}
	return nil
}

func hasPolicy(runs []Run, policy Policy) bool {
	for i := range runs {
		if runs[i].Policy == policy {
			return true
		}
	}
	return false
}
