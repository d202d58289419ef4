package simulation

// Summary says how a run went.
type Summary struct {
	Jobs        int     `json:"jobs"`
	LeftOut     int     `json:"left_out"`                 // jobs of the log that say too little
	Slowdown    float64 `json:"average_bounded_slowdown"` // at least 1; see boundedSlowdown
	MeanWait    float64 `json:"mean_wait"`                // seconds
	Utilisation float64 `json:"utilisation"`              // of the machine, from the first submission to the last end, 0 to 1
	Backfilled  int     `json:"backfilled"`               // jobs that started while one before them waited
}

// shortest is how long a job counts as running at least, so that jobs of a few seconds
// do not decide the average.
const shortest = 10

// boundedSlowdown is how many times longer the job took from its submission to its end
// than it ran, at least 1.
func boundedSlowdown(j *Job, o Outcome) float64 {
	return max(1, float64(o.Wait+j.Run)/float64(max(j.Run, shortest)))
}

// Summarize returns the summary of a run.
func Summarize(w Workload, outcomes []Outcome) Summary {
	s := Summary{Jobs: len(w.Jobs), LeftOut: w.LeftOut}
	if s.Jobs == 0 {
		return s
	}
	var used float64
	begin, end := w.Jobs[0].Submit, int64(0)
	for i := range w.Jobs {
		j, o := &w.Jobs[i], outcomes[i]
		s.Slowdown += boundedSlowdown(j, o)
		s.MeanWait += float64(o.Wait)
		used += float64(j.Procs) * float64(j.Run)
		begin, end = min(begin, j.Submit), max(end, j.Submit+o.Wait+j.Run)
		if o.Backfilled {
			s.Backfilled++
		}
	}
	s.Slowdown /= float64(s.Jobs)
	s.MeanWait /= float64(s.Jobs)
	if end > begin {
		s.Utilisation = used / (float64(w.Procs) * float64(end-begin))
	}
	return s
}

// Mean is the summary of several runs: numbers of jobs are added, the others averaged,
// each run with the same weight.
func Mean(runs []Summary) Summary {
	var m Summary
	for _, s := range runs {
		m.Jobs += s.Jobs
		m.LeftOut = s.LeftOut // of the log, the same for all
		m.Backfilled += s.Backfilled
		m.Slowdown += s.Slowdown / float64(len(runs))
		m.MeanWait += s.MeanWait / float64(len(runs))
		m.Utilisation += s.Utilisation / float64(len(runs))
	}
	return m
}
