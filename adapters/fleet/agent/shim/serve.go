package shim

import (
	"fmt"
	"net"
	"os"
	"time"
)

// question is a request of an agent, and where its answer goes.
type question struct {
	request Request
	conn    net.Conn
	closed  bool // there is no request, and will be none
}

// maxConns is how many agents may be connected at once; there is one, or for a
// moment two when it is replaced.
const maxConns = 8

// serve takes connections, until the process ends.
func (s *supervisor) serve(l net.Listener) {
	room := make(chan struct{}, maxConns)
	for {
		room <- struct{}{}
		conn, err := l.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "shim:", err)
			time.Sleep(time.Second) // no file numbers left; others may be closed
			<-room
			continue
		}
		go func() {
			defer func() { <-room }()
			defer conn.Close()
			s.listen(conn)
		}()
	}
}

// listen passes an agent's requests on. The first is none: it has the status sent.
func (s *supervisor) listen(conn net.Conn) {
	s.asked <- question{conn: conn}
	for in := lines(conn); in.Scan(); {
		r, err := DecodeRequest(in.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, "shim: a request that makes no sense:", err)
			break
		}
		s.asked <- question{request: r, conn: conn}
	}
	s.asked <- question{conn: conn, closed: true}
}

// answer does what is asked, and sends the status.
func (s *supervisor) answer(q question) {
	if q.closed {
		delete(s.conns, q.conn)
		return
	}
	s.conns[q.conn] = true
	if stop := q.request.Stop; stop != nil {
		s.stop(*stop)
	}
	s.send(q.conn)
}

func (s *supervisor) send(conn net.Conn) {
	now := s.status
	if !now.State.Ended() {
		now.Usage = s.usage()
	}
	// The socket has room for many answers: one that does not go in is for an agent
	// that has stopped reading, which must not hold up the task's time limit.
	conn.SetWriteDeadline(time.Now().Add(time.Second))
	if err := send(conn, now); err != nil {
		conn.Close()
	}
}
