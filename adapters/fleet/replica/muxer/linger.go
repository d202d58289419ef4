package muxer

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// How long a connection lingers: in all, and while nothing comes. Variables for tests.
var (
	lingerTime    = 30 * time.Second
	lingerSilence = 5 * time.Second
)

// Linger has the end of a connection that a Mux handed on wait for the client. Its Close says
// that nothing more is sent, and reads and drops what the client still sends until the client
// closes it, sends nothing for 5 seconds, or 30 seconds have passed. A second Close of the
// connection below TLS and Close of the Mux end that.
//
// It is for a server of HTTP/1.1 that has answered before the end of the request's body. If it
// closed the connection at once, the kernel would reset it, and the client could lose the answer
// (RFC 9112, section 9.6). Other connections are closed as ever.
func Linger(conn net.Conn) {
	t, ok := conn.(*tls.Conn)
	if !ok {
		return
	}
	if c, ok := t.NetConn().(*counted); ok {
		c.lingers.Store(true)
	}
}

func (c *counted) linger() {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	defer context.AfterFunc(c.ended, func() { _ = c.SetReadDeadline(time.Now()) })()
	last := time.Now().Add(lingerTime)
	dropped := make([]byte, 16<<10)
	for {
		until := time.Now().Add(lingerSilence)
		if until.After(last) {
			until = last
		}
		// The Mux may be closed at any time: before the deadline is set, or after.
		if c.SetReadDeadline(until) != nil || c.ended.Err() != nil {
			return
		}
		if _, err := c.Conn.Read(dropped); err != nil {
			return
		}
	}
}
