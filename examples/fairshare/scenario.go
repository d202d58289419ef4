package main

import (
	"math/rand/v2"
	"time"
)

// The cluster.
const (
	nodes        = 10
	coresPerNode = 16
	cores        = nodes * coresPerNode
)

// minRuntime is for how long a job runs at least before it may be displaced for another
// department.
const minRuntime = 15 * time.Minute

// halfLife is the time after which what a department has used counts half, by usage.
const halfLife = 6 * time.Hour

// department is a queue of its own, and when it has work.
type department struct {
	name       string
	letter     byte
	colour     string // in the picture
	weight     int64
	guaranteed int64 // cores
	backlog    int   // how many of its jobs wait at least while it has work
	works      []interval
}

// interval is from the one hour to the other.
type interval struct{ from, until int }

var departments = []department{
	{"physics", 'p', "#4e79a7", 2, cores / 2, 60, []interval{{0, maxHours}}},
	{"biology", 'b', "#59a14f", 1, cores / 4, 15, []interval{{3, maxHours}}},
	{"chemistry", 'c', "#f28e2b", 1, cores / 4, 15, []interval{{5, 8}}},
}

// busy reports whether the department has work so long after the beginning of the day.
func (d *department) busy(since time.Duration) bool {
	for _, w := range d.works {
		if since >= time.Duration(w.from)*time.Hour && since < time.Duration(w.until)*time.Hour {
			return true
		}
	}
	return false
}

// job is one of a department's.
type job struct {
	id         string
	department int
	cores      int64
	takes      time.Duration
	submitted  time.Duration // since the beginning of the day
	round      int           // how often it was started; it begins anew where it is displaced
	runs       bool
}

// draw draws a job of one to eight cores and 20 to 60 minutes.
func draw(r *rand.Rand) (n int64, takes time.Duration) {
	return 1 + r.Int64N(8), 20*time.Minute + time.Duration(r.IntN(41))*time.Minute
}
