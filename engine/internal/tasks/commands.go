package tasks

import (
	"sync"

	"github.com/berth-project/berth/engine/internal/framework"
)

// Command is something that a plugin asked for, possibly from another
// goroutine. The engine carries commands out one after the other when it is
// done with what it is doing.
type Command struct {
	Allow    string   `json:",omitempty"` // workload
	Reject   string   `json:",omitempty"` // workload
	Task     uint64   `json:",omitempty"` // which attempt of the workload is meant
	Plugin   string   `json:",omitempty"` // who allows or rejects
	Reason   string   `json:",omitempty"`
	Activate []string `json:",omitempty"`
}

// Commands collects commands; it may be used by any goroutine.
type Commands struct {
	// Wake is told that there is something; may be nil.
	Wake func()
	// Deaf lists take nothing in: in a replay the commands come from the log. Both
	// are set before the list is used.
	Deaf bool

	mu   sync.Mutex
	list []Command
}

// Add adds a command.
func (l *Commands) Add(c Command) {
	c.Allow, c.Reject = framework.ValidText(c.Allow), framework.ValidText(c.Reject)
	c.Plugin, c.Reason = framework.ValidText(c.Plugin), framework.ValidText(c.Reason)
	c.Activate = framework.ValidTexts(c.Activate)
	l.mu.Lock()
	if !l.Deaf {
		l.list = append(l.list, c)
	}
	l.mu.Unlock()
	if l.Wake != nil {
		l.Wake()
	}
}

// Take takes the commands out.
func (l *Commands) Take() []Command {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}
