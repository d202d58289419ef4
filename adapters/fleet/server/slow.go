package server

import (
	"net/http"
	"time"
)

// patient is a writer for a caller who may be slow to read, but not stop: each piece
// that is written has its time. Between the pieces of a stream there is none.
type patient struct {
	http.ResponseWriter
	conn *http.ResponseController
	time time.Duration
	body *timedBody // nil: there is none
}

func newPatient(w http.ResponseWriter, limit time.Duration, body *timedBody) *patient {
	p := &patient{ResponseWriter: w, conn: http.NewResponseController(w), time: limit, body: body}
	p.rest() // one that was made before may be left of the connection
	return p
}

// WriteHeader implements http.ResponseWriter. A request that is refused is answered at once: what
// has not come of its body is not waited for. A client that is refused may send no more of it
// (Go's does not), and wait for the answer's end.
func (p *patient) WriteHeader(status int) {
	if status >= http.StatusBadRequest && p.body != nil {
		p.body.stop()
	}
	p.ResponseWriter.WriteHeader(status)
}

// piece is how much is written within the time. It is small, so that who reads slowly
// gets a large answer too.
const piece = 64 << 10

// Write implements http.ResponseWriter. What it leaves in buffers has the time as well.
func (p *patient) Write(b []byte) (int, error) {
	n := 0
	for {
		p.hurry()
		m, err := p.ResponseWriter.Write(b[n:min(len(b), n+piece)])
		if n += m; err != nil || n == len(b) {
			return n, err
		}
	}
}

// FlushError is what http.ResponseController calls for Flush. When it returns nothing
// is left, and the next piece may come at any time.
func (p *patient) FlushError() error {
	p.hurry()
	defer p.rest()
	return p.conn.Flush()
}

// Unwrap is for http.ResponseController.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// hurry begins the time of what is written next, rest ends it. A connection without
// deadlines is none of a server's.
func (p *patient) hurry() { _ = p.conn.SetWriteDeadline(time.Now().Add(p.time)) }
func (p *patient) rest()  { _ = p.conn.SetWriteDeadline(time.Time{}) }
