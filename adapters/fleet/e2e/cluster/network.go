package cluster

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// network is where machines have their addresses.
type network interface {
	// add makes a machine, and says where it listens and, if it has one, the file of its
	// network namespace.
	add(name string) (host string, port int, namespace string, err error)
	// cut parts two machines, or takes one off the network where b is empty; heal undoes
	// it.
	cut(a, b string) error
	heal(a, b string) error
	// cuts says whether it can do so.
	cuts() bool
	close() error
	String() string
}

// loopback has a port of 127.0.0.1 for each machine.
type loopback struct {
	why string // there are no namespaces
	mu  sync.Mutex
}

func (l *loopback) String() string { return "ports of the loopback, because " + l.why }
func (l *loopback) cuts() bool     { return false }
func (l *loopback) close() error   { return nil }

// errNoCut says that the network has nothing to cut.
var errNoCut = errors.New("links can be cut between network namespaces only")

func (l *loopback) cut(string, string) error  { return errNoCut }
func (l *loopback) heal(string, string) error { return errNoCut }

func (l *loopback) add(string) (string, int, string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", 0, "", err
	}
	defer s.Close()
	return "127.0.0.1", s.Addr().(*net.TCPAddr).Port, "", nil
}

// newNetwork is one of namespaces where that can be had.
func newNetwork() network {
	n, err := newNamespaces()
	if err != nil {
		return &loopback{why: fmt.Sprint(err)}
	}
	return n
}
