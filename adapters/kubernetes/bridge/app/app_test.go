package app

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"

	berth "github.com/berth-project/berth/adapters/kubernetes/app"
)

func none(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return nil, nil }

// A name that is taken is an error when the command runs, as in kube-scheduler.
func TestANameIsTaken(t *testing.T) {
	cmd := NewSchedulerCommand(WithPlugin("A", none), WithPlugin("B", none), WithPlugin("A", none))
	cmd.SetArgs(nil)
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "a plugin named A already exists") {
		t.Error(err)
	}
}

// The command is Berth's, with its flags and its other options.
func TestCommandIsBerths(t *testing.T) {
	called := false
	c := &command{}
	for _, option := range []Option{WithBerth(berth.WithAttachment(berth.Attachment{Connected: func(berth.Connection) error { called = true; return nil }}))} {
		if err := option(c); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.options()); got != 1 || called {
		t.Errorf("%d options", got)
	}
	if cmd := NewSchedulerCommand(); cmd.Flags().Lookup("wake-ups") == nil || cmd.Flags().Lookup("config") == nil {
		t.Error("it has other flags")
	}
}

// What a plugin registers for must be resource.version.group.
func TestWatch(t *testing.T) {
	w := &watcher{ctx: t.Context()}
	if err := w.watch("nonsense", nil); err == nil || !strings.Contains(err.Error(), "resource.version.group") {
		t.Error(err)
	}
}
