package shim

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrGone says that there is no shim for a task: it never was there, or has ended,
// or was killed. There will be none again.
var ErrGone = errors.New("the task has no shim")

// Conn is an agent's connection to a shim. One goroutine may send and one receive.
type Conn struct {
	conn  *net.UnixConn
	lines *bufio.Scanner
}

// Dial connects to the shim of the task of the folder dir. Where there is none the
// error is ErrGone; any other error may pass.
func Dial(dir string) (*Conn, error) {
	path, done, err := socketPath(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrGone)
	}
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrGone)
	}
	if err != nil {
		return nil, err
	}
	return &Conn{conn: c, lines: lines(c)}, nil
}

// Listen makes the socket of the shim of the folder dir; its file is for the shim,
// as file 3. It is called before WriteTask: a socket that is there is of a start that
// did not come so far, and has nobody.
func Listen(dir string) (*os.File, error) {
	path, done, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the shim goes on with it
	defer l.Close()
	if err := os.Chmod(filepath.Join(dir, socketFile), 0o600); err != nil {
		return nil, err
	}
	return l.File()
}

// socketPath is a short way to the socket, however long the folder's path is: the
// address of a socket has room for 107 bytes. It is good until done is called.
func socketPath(dir string) (path string, done func() error, err error) {
	d, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), socketFile), d.Close, nil
}

// sendLimit is how long a message may take to be taken by the other side's socket;
// it has room for many, so this is for a side that hangs.
const sendLimit = 10 * time.Second

// Ask sends a request. The answer comes by Receive.
func (c *Conn) Ask(r Request) error {
	c.conn.SetWriteDeadline(time.Now().Add(sendLimit))
	return send(c.conn, r)
}

// Receive waits for the next Status. An error says that the connection has ended:
// then Dial again, and if there is no shim any more ReadStatus has the last word.
func (c *Conn) Receive() (Status, error) {
	if !c.lines.Scan() {
		if err := c.lines.Err(); err != nil {
			return Status{}, err
		}
		return Status{}, net.ErrClosed
	}
	return DecodeStatus(c.lines.Bytes())
}

// Close ends the connection, and a Receive that waits. The task goes on.
func (c *Conn) Close() error { return c.conn.Close() }
