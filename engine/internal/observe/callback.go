package observe

import (
	"fmt"
	"runtime"
	"strings"
)

const root = "github.com/berth-project/berth/engine"

// inside are the functions below which an engine calls listeners and plugins and
// others wait for them: the one that holds an engine's lock, and the one that shares a
// decision with workers.
var inside = map[string]bool{
	root + ".(*Engine).hold":        true,
	root + "/internal/parallel.run": true,
}

// Callback returns the function of a listener or a plugin, with its place, from which
// the engine is being called back; empty where the caller runs by itself. Only the
// stack of the caller can tell, because a goroutine has no name. It cannot tell
// engines apart, which is as well: listeners of two engines that wait for each other's
// lock would wait for ever. It takes some microseconds, so it is for a caller that
// would have to wait.
func Callback() string {
	var pcs [64]uintptr
	outside, called := runtime.Frame{}, false // called: by an engine
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			own := strings.HasPrefix(frame.Function, root+".") || strings.HasPrefix(frame.Function, root+"/internal/")
			switch {
			case inside[frame.Function] && outside.Function != "":
				return fmt.Sprintf("%s (%s:%d)", outside.Function, outside.File, outside.Line)
			case own && outside.Function != "":
				called = true
			case !own && !called:
				outside = frame
			}
		}
		if n < len(pcs) {
			return ""
		}
	}
}
