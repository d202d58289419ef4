// Gang places a training job of 64 tasks that only makes sense as a whole: all
// tasks at once, in one rack, beside many small jobs.
//
//	gang
//
// The fleet has three racks of eight machines with eight GPUs each, and small
// jobs of low priority are everywhere. No rack has 64 GPUs left, so the engine
// makes room: it finds the rack, asks the small jobs in the way to leave, keeps
// the room while they go, and then places all 64 tasks in one transaction. The
// small jobs that had to go are placed again where there is room.
//
// The engine is used without goroutines and with a clock of our own
// (engine.Raw), so that the output is the same every time. fleet.go makes the
// objects, world.go is the outside: it runs what it is told to.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/berth-project/berth/engine"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gang:", err)
		os.Exit(1)
	}
}

// run plays the story and prints it.
func run(out io.Writer) error {
	w, err := newWorld(out)
	if err != nil {
		return err
	}
	steps := []struct {
		title   string
		changes []engine.Change
	}{
		{"Three racks of 64 GPUs, and 90 small jobs with one GPU each", append(fleet(), smallJobs()...)},
		{"A training job of 64 tasks, in one rack, of higher priority", trainingJob()},
		{"A task of the training job crashes, and is started again", w.crash("train-7")},
		{"A second training job, of no higher priority: it waits, and holds nothing", secondJob()},
		{"The first training job ends", w.finish("train")},
	}
	for _, step := range steps {
		w.say("\n%s.", step.title)
		if err := w.apply(step.changes...); err != nil {
			return err
		}
		w.work(time.Minute)
		w.report()
	}
	return w.err
}
