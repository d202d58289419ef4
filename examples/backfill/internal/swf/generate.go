package swf

import "math/rand/v2"

// What Generate makes: a machine that is a little too small for its jobs.
const (
	generatedProcs = 8
	slot           = 600 // seconds; every time is a multiple of it
)

// Generate makes a log of as many jobs as wanted for a machine of 8 processors. It is a
// function of the seed. Times are whole slots of ten minutes, and users promise an end
// that is mostly too late.
func Generate(seed uint64, jobs int) *Log {
	r := rand.New(rand.NewPCG(seed, 0))
	log := &Log{Procs: generatedProcs}
	var now int64
	for i := range jobs {
		run := slot * (1 + r.Int64N(8))
		procs := 1 + min(r.Int64N(generatedProcs), r.Int64N(generatedProcs))
		log.Jobs = append(log.Jobs, Job{
			Line: i + 1, Number: int64(i + 1), Submit: now, Wait: unknown,
			Run: run, Allocated: procs, Requested: procs, Estimate: run * (1 + r.Int64N(2)),
		})
		now += slot * r.Int64N(3)
	}
	return log
}
