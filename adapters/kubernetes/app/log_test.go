package app

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/hashicorp/go-hclog"
)

// logged are the lines that come of f at the verbosity.
func logged(verbosity int, f func(hclog.Logger)) []string {
	var lines []string
	f(newEngineLog(funcr.New(func(prefix, args string) { lines = append(lines, prefix+"|"+args) }, funcr.Options{Verbosity: verbosity})))
	return lines
}

func TestEngineLogLevels(t *testing.T) {
	all := func(l hclog.Logger) {
		l.Trace("t")
		l.Debug("d")
		l.Info("i")
		l.Warn("w")
		l.Error("e", "error", errors.New("why"), "workload", "w1")
		l.Log(hclog.Off, "nothing")
	}
	const (
		e = `|"msg"="e" "error"="why" "workload"="w1"`
		w = `|"level"=0 "msg"="w"`
		i = `|"level"=3 "msg"="i"`
		d = `|"level"=5 "msg"="d"`
		x = `|"level"=6 "msg"="t"`
	)
	for verbosity, want := range map[int][]string{0: {w, e}, 2: {w, e}, 3: {i, w, e}, 4: {i, w, e}, 5: {d, i, w, e}, 6: {x, d, i, w, e}} {
		if got := logged(verbosity, all); !reflect.DeepEqual(got, want) {
			t.Errorf("-v=%d: got %q, want %q", verbosity, got, want)
		}
	}
}

// What the engine has decided is logged in kube-scheduler's words; what it names is not
// touched.
func TestEngineLogWords(t *testing.T) {
	const neutral = "no nodes available to schedule workloads"
	got := logged(3, func(l hclog.Logger) {
		l.Info("rejected", "workload", neutral, "message", neutral)
		l.Error("failed", "workload", "w", "error", errors.New(neutral))
	})
	want := []string{
		`|"level"=3 "msg"="rejected" "workload"="no nodes available to schedule workloads" "message"="no nodes available to schedule pods"`,
		`|"msg"="failed" "error"="no nodes available to schedule pods" "workload"="w"`,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What the logger says of its level is what it then does, so that the engine can save
// itself the trouble.
func TestEngineLogGuards(t *testing.T) {
	for verbosity, want := range map[int]hclog.Level{0: hclog.Warn, 3: hclog.Info, 4: hclog.Info, 5: hclog.Debug, 6: hclog.Trace, 10: hclog.Trace} {
		logged(verbosity, func(l hclog.Logger) {
			is := []bool{l.IsTrace(), l.IsDebug(), l.IsInfo(), l.IsWarn(), l.IsError()}
			should := []bool{want <= hclog.Trace, want <= hclog.Debug, want <= hclog.Info, true, true}
			if l.GetLevel() != want || !reflect.DeepEqual(is, should) {
				t.Errorf("-v=%d: level %v, want %v; guards %v, want %v", verbosity, l.GetLevel(), want, is, should)
			}
		})
	}
}

func TestEngineLogNames(t *testing.T) {
	got := logged(0, func(l hclog.Logger) {
		l = l.Named("a").With("k", 1).Named("b").With("l", 2)
		l.Warn("m", "n", 3)
		if l.Name() != "a.b" || !reflect.DeepEqual(l.ImpliedArgs(), []any{"k", 1, "l", 2}) {
			t.Errorf("name %q, with %v", l.Name(), l.ImpliedArgs())
		}
		l.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Warn}).Print("of a library")
		l.StandardLogger(nil).Print("more than is wanted")
	})
	want := []string{`a/b|"level"=0 "msg"="m" "k"=1 "l"=2 "n"=3`, `a/b|"level"=0 "msg"="of a library" "k"=1 "l"=2`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A line names who wrote it, and not this bridge.
func TestEngineLogCaller(t *testing.T) {
	var lines []string
	l := newEngineLog(funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{LogCaller: funcr.All, LogCallerFunc: true}))
	l.Warn("x")
	l.Log(hclog.Warn, "x")
	l.Error("x")
	for _, line := range lines {
		if !strings.Contains(line, "TestEngineLogCaller") {
			t.Errorf("got %s", line)
		}
	}
	if len(lines) != 3 {
		t.Errorf("got %d lines", len(lines))
	}
}
