package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// sample is how much each department uses at a moment, in cores.
type sample struct {
	at  time.Duration // since the beginning of the day
	use []int64
}

// result is what a day was like.
type result struct {
	options   *options
	samples   []sample
	displaced []int           // jobs, by department
	ended     []int           // jobs, by department
	waited    []time.Duration // in all of those that were started, by department
	startedIn []int           // how many those are
}

// every is how far samples are apart.
const every = 15 * time.Minute

// day is a simulation under way.
type day struct {
	cluster *cluster
	random  []*rand.Rand // one for each department: their jobs do not depend on each other
	waiting []int        // by department
	running []end
	made    int
	result  *result
}

// end is when a job ends, unless it is displaced before.
type end struct {
	at    time.Time
	job   *job
	round int
}

func simulate(ctx context.Context, o *options) (*result, error) {
	n := len(departments)
	d := &day{waiting: make([]int, n), result: &result{
		options: o, displaced: make([]int, n), ended: make([]int, n), waited: make([]time.Duration, n), startedIn: make([]int, n),
	}}
	for i := range departments {
		d.random = append(d.random, rand.New(rand.NewPCG(o.seed, uint64(i))))
	}
	var err error
	if d.cluster, err = newCluster(o); err != nil {
		return nil, err
	}
	for since := time.Duration(0); since <= o.length; since += time.Minute {
		if err := d.minute(ctx, since); err != nil {
			return nil, fmt.Errorf("after %v: %w", since, err)
		}
		if since%every == 0 {
			d.result.samples = append(d.result.samples, sample{since, d.use()})
		}
	}
	return d.result, nil
}

// minute ends what ends, submits what is new, and lets the engine decide.
func (d *day) minute(ctx context.Context, since time.Duration) error {
	c := d.cluster
	c.now = begin.Add(since)
	slices.SortStableFunc(d.running, func(a, b end) int { return a.at.Compare(b.at) })
	for len(d.running) > 0 && !d.running[0].at.After(c.now) {
		e := d.running[0]
		d.running = d.running[1:]
		if !e.job.runs || e.job.round != e.round {
			continue // it was displaced
		}
		e.job.runs = false
		d.result.ended[e.job.department]++
		if err := c.end(e.job); err != nil {
			return err
		}
	}
	for i := range departments {
		for departments[i].busy(since) && d.waiting[i] < departments[i].backlog {
			if err := d.submit(since, i); err != nil {
				return err
			}
		}
	}
	return d.decide(ctx, since)
}

func (d *day) submit(since time.Duration, department int) error {
	j := &job{department: department, submitted: since}
	j.cores, j.takes = draw(d.random[department])
	d.made++
	j.id = fmt.Sprintf("%s-%d", departments[department].name, d.made)
	d.waiting[department]++
	return d.cluster.submit(j)
}

// decide has the engine decide, and follows what it did.
func (d *day) decide(ctx context.Context, since time.Duration) error {
	c := d.cluster
	c.onEvict = func(j *job) {
		if j.runs {
			j.runs = false
			d.waiting[j.department]++
			d.result.displaced[j.department]++
		}
	}
	c.onBind = func(j *job) {
		j.runs = true
		j.round++
		d.waiting[j.department]--
		d.running = append(d.running, end{c.now.Add(j.takes), j, j.round})
		if j.round == 1 {
			d.result.waited[j.department] += since - j.submitted
			d.result.startedIn[j.department]++
		}
	}
	return c.pass(ctx)
}

// use is how many cores each department has.
func (d *day) use() []int64 {
	use := make([]int64, len(departments))
	for _, e := range d.running {
		if e.job.runs && e.job.round == e.round {
			use[e.job.department] += e.job.cores
		}
	}
	return use
}

// average is how many cores the department had from the one hour to the other.
func (r *result) average(department int, w interval) float64 {
	sum, n := int64(0), 0
	for i := range r.samples {
		if s := &r.samples[i]; s.at >= time.Duration(w.from)*time.Hour && s.at < time.Duration(w.until)*time.Hour {
			sum += s.use[department]
			n++
		}
	}
	return float64(sum) / float64(max(n, 1))
}

// periods are the intervals between which the same departments have work.
func (r *result) periods() (list []interval) {
	edges := []int{0, int(r.options.length / time.Hour)}
	for i := range departments {
		for _, w := range departments[i].works {
			edges = append(edges, w.from, w.until)
		}
	}
	slices.SortFunc(edges, cmp.Compare[int])
	edges = slices.Compact(edges)
	for i := 1; i < len(edges) && edges[i] <= int(r.options.length/time.Hour); i++ {
		list = append(list, interval{edges[i-1], edges[i]})
	}
	return list
}
