package vm

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// archive writes a file system for a kernel to begin with: the format "newc" of cpio.
type archive struct {
	w     io.Writer
	inode int
	err   error
}

// file adds a file, whose folder is there.
func (a *archive) file(name string, mode os.FileMode, content []byte) {
	a.entry(name, 0o100000|uint32(mode), content)
}

// folder adds a folder.
func (a *archive) folder(name string) { a.entry(name, 0o040755, nil) }

// link adds a symbolic link.
func (a *archive) link(name, to string) { a.entry(name, 0o120777, []byte(to)) }

// end ends the archive.
func (a *archive) end() error {
	a.entry("TRAILER!!!", 0, nil)
	return a.err
}

// entry writes one entry: a header of numbers, the name, and the content, each filled
// up to a multiple of four bytes.
func (a *archive) entry(name string, mode uint32, content []byte) {
	a.inode++
	name = strings.TrimPrefix(name, "/")
	header := "070701"
	for _, n := range []int{a.inode, int(mode), 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0} {
		header += fmt.Sprintf("%08X", n)
	}
	a.write([]byte(header + name + "\x00"))
	a.fill(len(header) + len(name) + 1)
	a.write(content)
	a.fill(len(content))
}

func (a *archive) write(p []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(p)
	}
}

func (a *archive) fill(n int) { a.write(make([]byte, (4-n%4)%4)) }
