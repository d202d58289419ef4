// Package observe tells those outside what happens in the engine: listeners, the log,
// and what is measured. It is told and never asked: nothing that is decided depends on
// it. Package engine has the types of the events.
package observe

import (
	"fmt"

	"github.com/hashicorp/go-hclog"
)

// Join returns a function that calls all of the functions that are there, in order, also those after
// one that ends its goroutine; nil where there is none.
func Join[E any](functions ...func(E)) func(E) {
	var all []func(E)
	for _, f := range functions {
		if f != nil {
			all = append(all, f)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return func(e E) { tell(all, e) }
}

func tell[E any](all []func(E), e E) {
	i := 0
	defer func() {
		if i < len(all) {
			tell(all[i+1:], e)
		}
	}()
	for ; i < len(all); i++ {
		all[i](e)
	}
}

// Guarded returns a function that calls f and logs where it panics: the engine goes
// on, and in the middle of a cycle the panic would pass for a plugin's. Nil stays nil.
func Guarded[E any](log hclog.Logger, f func(E)) func(E) {
	if f == nil {
		return nil
	}
	return func(e E) {
		defer func() {
			if cause := recover(); cause != nil {
				LogError(log, "a listener panicked", "event", fmt.Sprintf("%T", e), "panic", cause)
			}
		}()
		f(e)
	}
}

// LogError logs the message. Where the logger panics itself nobody is left to be told.
func LogError(log hclog.Logger, message string, fields ...any) {
	defer func() { _ = recover() }()
	log.Error(message, fields...)
}

// Log returns a function that logs the event at the level, with the keys and values
// that fields returns. Whether the level is logged is asked for first: making the
// fields of a line costs more than the rest of many a stage.
func Log[E any](log hclog.Logger, level hclog.Level, event string, fields func(E) []any) func(E) {
	logs := map[hclog.Level]func() bool{
		hclog.Trace: log.IsTrace, hclog.Debug: log.IsDebug, hclog.Info: log.IsInfo, hclog.Warn: log.IsWarn, hclog.Error: log.IsError,
	}[level]
	return func(e E) {
		if logs() {
			log.Log(level, event, fields(e)...)
		}
	}
}
