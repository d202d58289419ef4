package app

import (
	"io"
	"log"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/kubernetes/words"
)

// The verbosities at which the engine's levels are logged. What it says of each pod's
// way is more than an operator wants to read at -v=2.
const (
	infoVerbosity  = 3
	debugVerbosity = 5
	traceVerbosity = 6
)

// verbosity is that of a level: that of what nobody is to miss is 0.
func verbosity(level hclog.Level) int {
	switch level {
	case hclog.Info:
		return infoVerbosity
	case hclog.Debug:
		return debugVerbosity
	case hclog.Trace, hclog.NoLevel:
		return traceVerbosity
	}
	return 0
}

// engineLog is a logger for the engine that writes to klog: what the engine decides, in
// the words of kube-scheduler. How much is up to klog's flags.
type engineLog struct {
	to    logr.Logger
	name  string
	given []any
}

var _ hclog.Logger = engineLog{}

// newEngineLog returns one that writes to the logger.
func newEngineLog(to logr.Logger) hclog.Logger { return engineLog{to: to.WithCallDepth(1)} }

// Log implements [hclog.Logger].
func (l engineLog) Log(level hclog.Level, msg string, args ...any) {
	switch level {
	case hclog.Off:
	case hclog.Error:
		rest, err := splitError(args)
		l.to.Error(words.Error(err), msg, withWords(rest)...)
	default:
		if to := l.to.V(verbosity(level)); to.Enabled() {
			to.Info(msg, withWords(args)...)
		}
	}
}

// withWords renders the value of the key message: what the engine says of a pod or of
// a group.
func withWords(args []any) []any {
	for i := 0; i+1 < len(args); i += 2 {
		if text, ok := args[i+1].(string); ok && args[i] == "message" {
			args = slices.Clone(args)
			args[i+1] = words.Text(text)
		}
	}
	return args
}

// splitError takes the value of the key error out, where it is one: klog wants it
// apart.
func splitError(args []any) ([]any, error) {
	for i := 0; i+1 < len(args); i += 2 {
		if err, ok := args[i+1].(error); ok && args[i] == "error" {
			rest := append([]any{}, args[:i]...)
			return append(rest, args[i+2:]...), err
		}
	}
	return args, nil
}

// Trace implements [hclog.Logger].
func (l engineLog) Trace(msg string, args ...any) { l.deeper().Log(hclog.Trace, msg, args...) }

// Debug implements [hclog.Logger].
func (l engineLog) Debug(msg string, args ...any) { l.deeper().Log(hclog.Debug, msg, args...) }

// Info implements [hclog.Logger].
func (l engineLog) Info(msg string, args ...any) { l.deeper().Log(hclog.Info, msg, args...) }

// Warn implements [hclog.Logger].
func (l engineLog) Warn(msg string, args ...any) { l.deeper().Log(hclog.Warn, msg, args...) }

// Error implements [hclog.Logger].
func (l engineLog) Error(msg string, args ...any) { l.deeper().Log(hclog.Error, msg, args...) }

// deeper names the caller of the caller as the origin of a line.
func (l engineLog) deeper() engineLog {
	l.to = l.to.WithCallDepth(1)
	return l
}

// IsTrace implements [hclog.Logger].
func (l engineLog) IsTrace() bool { return l.to.V(traceVerbosity).Enabled() }

// IsDebug implements [hclog.Logger].
func (l engineLog) IsDebug() bool { return l.to.V(debugVerbosity).Enabled() }

// IsInfo implements [hclog.Logger].
func (l engineLog) IsInfo() bool { return l.to.V(infoVerbosity).Enabled() }

// IsWarn implements [hclog.Logger].
func (l engineLog) IsWarn() bool { return l.to.Enabled() }

// IsError implements [hclog.Logger]: klog always logs errors.
func (l engineLog) IsError() bool { return true }

// ImpliedArgs implements [hclog.Logger].
func (l engineLog) ImpliedArgs() []any { return l.given }

// With implements [hclog.Logger].
func (l engineLog) With(args ...any) hclog.Logger {
	l.to = l.to.WithValues(args...)
	l.given = append(l.given[:len(l.given):len(l.given)], args...)
	return l
}

// Name implements [hclog.Logger].
func (l engineLog) Name() string { return l.name }

// Named implements [hclog.Logger].
func (l engineLog) Named(name string) hclog.Logger {
	l.to = l.to.WithName(name)
	l.name = strings.TrimPrefix(l.name+"."+name, ".")
	return l
}

// ResetNamed implements [hclog.Logger]. In klog the new name follows the old one.
func (l engineLog) ResetNamed(name string) hclog.Logger {
	l.to, l.name = l.to.WithName(name), name
	return l
}

// SetLevel implements [hclog.Logger]. It does nothing: klog's flags decide.
func (l engineLog) SetLevel(hclog.Level) {}

// GetLevel implements [hclog.Logger].
func (l engineLog) GetLevel() hclog.Level {
	switch {
	case l.IsTrace():
		return hclog.Trace
	case l.IsDebug():
		return hclog.Debug
	case l.IsInfo():
		return hclog.Info
	}
	return hclog.Warn
}

// StandardLogger implements [hclog.Logger].
func (l engineLog) StandardLogger(o *hclog.StandardLoggerOptions) *log.Logger {
	return log.New(l.StandardWriter(o), "", 0)
}

// StandardWriter implements [hclog.Logger]. What is written is info unless the options
// force another level.
func (l engineLog) StandardWriter(o *hclog.StandardLoggerOptions) io.Writer {
	level := hclog.Info
	if o != nil && o.ForceLevel != hclog.NoLevel {
		level = o.ForceLevel
	}
	return lineWriter(func(line string) { l.Log(level, line) })
}

// lineWriter is called with each line that is written.
type lineWriter func(line string)

// Write implements [io.Writer].
func (w lineWriter) Write(p []byte) (int, error) {
	w(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}
