//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Job is what a user submits.
type Job struct {
	ID     string
	Cores  int64
	Millis int // how long it works
}

// State is what is known of a job.
type State struct {
	Job
	Node  string // where it was started last; empty: it waits
	Try   int    // how often it was started
	Ended bool
}

// line is a line of the memory: one of the fields is set.
type line struct {
	Submit *Job   `json:",omitempty"`
	Start  *Start `json:",omitempty"`
	Again  string `json:",omitempty"` // ID of a job that left its node and waits again
	End    string `json:",omitempty"` // ID of a job that has ended
}

// Start says that a job is started on a node. It is written before the job is.
type Start struct{ ID, Node string }

// Memory is a file with a line for everything that happened. It is the record of the
// orchestrator: the engine is told what it says, and keeps nothing else.
type Memory struct {
	file   *os.File
	failed error // of a write: half a line may be there, and nothing may follow it
	Jobs   map[string]*State
	IDs    []string // in the order in which they were submitted
}

// OpenMemory reads the file, which need not be there. A last line that is not whole is one
// that was being written when the process was killed: nobody acted on it, and it is cut off.
func OpenMemory(path string) (*Memory, error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	m := &Memory{Jobs: map[string]*State{}}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for number, text := range bytes.Split(whole, []byte{'\n'}) {
		var l line
		if len(text) == 0 {
			continue
		}
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, number+1, err)
		}
		m.take(l)
	}
	if m.file, err = os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	if err := m.file.Truncate(int64(len(whole))); err != nil {
		return nil, err
	}
	_, err = m.file.Seek(0, 2)
	return m, err
}

// write writes the line, and returns when it is on the disk. Once it has failed it does so
// again, until the file is opened anew.
func (m *Memory) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if m.failed == nil {
		_, m.failed = m.file.Write(append(text, '\n'))
	}
	if m.failed == nil {
		m.failed = m.file.Sync()
	}
	if m.failed == nil {
		m.take(l)
	}
	return m.failed
}

// take changes what is known as the line says.
func (m *Memory) take(l line) {
	switch {
	case l.Submit != nil:
		m.Jobs[l.Submit.ID] = &State{Job: *l.Submit}
		m.IDs = append(m.IDs, l.Submit.ID)
	case l.Start != nil:
		j := m.Jobs[l.Start.ID]
		j.Node = l.Start.Node
		j.Try++
	case l.Again != "":
		m.Jobs[l.Again].Node = ""
	case l.End != "":
		m.Jobs[l.End].Ended = true
	}
}

// Ended is how many jobs have ended.
func (m *Memory) Ended() (n int) {
	for _, j := range m.Jobs {
		if j.Ended {
			n++
		}
	}
	return n
}
