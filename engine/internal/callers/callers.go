// Package callers reads the stack of a goroutine: which function of a listener or a plugin
// an engine has called. A goroutine has no name, so nothing else can tell.
package callers

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
)

const (
	root   = "github.com/berth-project/berth/"
	engine = root + "engine"
)

// inside are the functions below which an engine calls listeners and plugins and
// others wait for them: the one that holds an engine's lock, and the one that shares a
// decision with workers.
var inside = map[string]bool{
	engine + ".(*Engine).hold":        true,
	engine + "/internal/parallel.run": true,
}

// Callback returns the function of a listener or a plugin, with its place, from which
// the engine is being called back; empty where the caller runs by itself. It cannot tell
// engines apart, which is as well: listeners of two engines that wait for each other's
// lock would wait for ever. It takes some microseconds, so it is for a caller that
// would have to wait.
func Callback() string {
	var outside runtime.Frame
	called := false // by an engine
	for frame := range frames() {
		switch {
		case inside[frame.Function] && outside.Function != "":
			return placeOf(&outside)
		case isEngine(&frame) && outside.Function != "":
			called = true
		case !isEngine(&frame) && !called:
			outside = frame
		}
	}
	return ""
}

// Outside returns the function that the engine called last, with its place: that of a
// listener or a plugin, or of a library. Empty where it called none. A deferred function
// that calls it learns what panicked or ended the goroutine.
func Outside() string {
	var outside runtime.Frame
	for frame := range frames() {
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
		case !isEngine(&frame) && !isQueue(&frame):
			outside = frame
		case outside.Function != "":
			return placeOf(&outside)
		}
	}
	return ""
}

// Why is why something did not come to its end: what it panicked with, or with nil that its
// goroutine was ended, and where. Call it as Outside.
func Why(cause any) error {
	var why error
	switch cause := cause.(type) {
	case nil:
		why = errors.New("its goroutine was ended")
	case error:
		why = fmt.Errorf("panic: %w", cause)
	default:
		why = fmt.Errorf("panic: %v", cause)
	}
	if at := Outside(); at != "" {
		why = fmt.Errorf("%w, in %s", why, at)
	}
	return why
}

// frames are those of the goroutine, the last one called first, without this package's.
func frames() iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		var pcs [64]uintptr
		for skip := 3; ; skip += len(pcs) {
			n := runtime.Callers(skip, pcs[:])
			list := runtime.CallersFrames(pcs[:n])
			for more := n > 0; more; {
				var frame runtime.Frame
				if frame, more = list.Next(); !yield(frame) {
					return
				}
			}
			if n < len(pcs) {
				return
			}
		}
	}
}

func isEngine(f *runtime.Frame) bool {
	return strings.HasPrefix(f.Function, engine+".") || strings.HasPrefix(f.Function, engine+"/internal/")
}

// isQueue: the queue calls plugins for the engine.
func isQueue(f *runtime.Frame) bool { return strings.HasPrefix(f.Function, root+"queue.") }

func placeOf(f *runtime.Frame) string {
	return fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
}
