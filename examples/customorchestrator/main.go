// Customorchestrator is a render farm with an engine in it: an orchestrator
// that has its own idea of machines and jobs (farm.go), and one file that
// translates between the two (translate.go). It is a model for a simulation: the
// farm lives in simulated time, so the program drives [engine.Raw], the
// engine without goroutines and clock. For one that lives in real time and survives its
// own end see examples/orchestrator.
package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "customorchestrator:", err)
		os.Exit(1)
	}
}

// run tells the story of one evening.
func run(story io.Writer) error {
	f := NewFarm(time.Date(2030, 1, 1, 18, 0, 0, 0, time.UTC), story)
	if err := schedule(f); err != nil {
		return err
	}
	evening(f)
	f.Run(3 * time.Hour)
	fmt.Fprintf(story, "closing time: machines left %d, jobs left %d\n", len(f.machines), len(f.jobs))
	return nil
}

// evening is what happens.
func evening(f *Farm) {
	f.At(0, func() {
		f.Join(Machine{Host: "ant", Room: "east", Cores: 8, GiB: 32})
		f.Join(Machine{Host: "bee", Room: "west", Cores: 8, GiB: 32, BadDisk: 1})
		f.Submit(Job{Scene: "opening", Cores: 4, GiB: 8, Takes: 40 * time.Minute, Tries: 3})
	})
	f.At(20*time.Second, func() {
		f.Submit(Job{Scene: "chase", Cores: 4, GiB: 8, Takes: 30 * time.Minute, Crashes: 1, Tries: 3})
	})
	f.At(40*time.Second, func() {
		f.Submit(Job{Scene: "credits", Cores: 2, GiB: 4, Takes: 20 * time.Minute, Crashes: 2, Tries: 2})
	})
	// Too big for the room that is left, and for ant even if it were empty.
	f.At(5*time.Minute, func() {
		f.Submit(Job{Scene: "battle", Cores: 8, GiB: 64, Takes: 45 * time.Minute, Tries: 3})
	})
	f.At(6*time.Minute, func() { explain(f, "battle") })
	f.At(10*time.Minute, func() { f.Join(Machine{Host: "cat", Room: "east", Cores: 16, GiB: 128}) })
	// What ran on ant goes elsewhere and starts anew.
	f.At(25*time.Minute, func() { f.Die("ant") })
	// Two wait for the same room: the urgent one goes first.
	f.At(30*time.Minute, func() {
		f.Submit(Job{Scene: "trailer", Cores: 8, GiB: 16, Takes: 20 * time.Minute, Tries: 1})
		f.Submit(Job{Scene: "poster", Urgency: 10, Cores: 8, GiB: 16, Takes: 10 * time.Minute, Tries: 1})
	})
	f.At(32*time.Minute, func() { f.Drain("bee") })
	f.At(33*time.Minute, func() { explain(f, "trailer") })
}

// explain tells why a job waits.
func explain(f *Farm, scene string) {
	f.tell("why does job %s wait?", scene)
	for _, line := range f.scheduler.Why(f.now, scene) {
		fmt.Fprintf(f.story, "            %s\n", line)
	}
}
