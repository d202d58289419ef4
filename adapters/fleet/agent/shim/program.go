package shim

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// findProgram looks for the working directory and the program as the account: what it
// may not see is not there.
func findProgram(t Task) (program string, err error) {
	err = as(t.Account, func() error {
		if err := t.checkDir(); err != nil {
			return err
		}
		program, err = t.lookPath()
		return err
	})
	return program, err
}

// checkDir looks whether the account may enter the working directory.
func (t Task) checkDir() error {
	// The dot takes the right to enter the folder, and not just to see it.
	_, err := os.Stat(t.Dir + "/.")
	switch {
	case err == nil:
		return nil
	case t.isOwn(t.Dir) || !t.isUsers(err):
		return fmt.Errorf("working directory: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return mistake(CodeMistake, "working directory %s: there is no such folder; jobs run where they are submitted, --dir=own makes a folder on the node", t.Dir)
	case errors.Is(err, syscall.ENOTDIR):
		return mistake(CodeMistake, "working directory %s: it is not a folder", t.Dir)
	}
	return mistake(CodeMistake, "working directory %s: %s", t.Dir, t.reason(err))
}

// lookPath finds the program. One with a slash is a path, from Dir on; others are
// looked for in the absolute folders of PATH.
func (t Task) lookPath() (string, error) {
	name := t.Argv[0]
	if strings.Contains(name, "/") {
		return t.pathOf(name), t.executable(t.pathOf(name))
	}
	path := pathOf(t.Env)
	var found error // a file with the name that cannot be executed
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		file := filepath.Join(folder, name)
		_, err := os.Stat(file)
		switch {
		case err == nil:
			if err = t.executable(file); err == nil {
				return file, nil
			}
			found = err
		case !t.isUsers(err): // as of a server of files that is gone
			return "", fmt.Errorf("looking for the program %s: %w", name, err)
		}
	}
	if found != nil {
		return "", found
	}
	return "", mistake(CodeNotFound, "program %s: it is in no folder of PATH=%s", name, path)
}

// pathOf is the path of a program or interpreter, which may begin at Dir.
func (t Task) pathOf(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(t.Dir, name)
}

func pathOf(env []string) string {
	for _, line := range env {
		if path, ok := strings.CutPrefix(line, "PATH="); ok {
			return path
		}
	}
	return ""
}

// executable is about mistakes that people make; the kernel has the last word.
func (t Task) executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil && (t.isOwn(file) || !t.isUsers(err)):
		return fmt.Errorf("program: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return mistake(CodeNotFound, "program %s: there is no such file", file)
	case err != nil:
		return mistake(CodeNotExecutable, "program %s: %s", file, t.reason(err))
	case !info.Mode().IsRegular():
		return mistake(CodeNotExecutable, "program %s: it is not a file", file)
	case info.Mode().Perm()&0o111 == 0:
		return mistake(CodeNotExecutable, "program %s: it is not executable; chmod +x makes it so", file)
	}
	return nil
}

// notExecuted says why a program that is there could not be executed, which the kernel
// says in one word.
func (t Task) notExecuted(program string, err error) error {
	plain := fmt.Errorf("starting %s in %s: %w", program, t.Dir, err)
	var found error
	if asErr := as(t.Account, func() error {
		found = t.diagnose(program, err)
		return nil
	}); asErr != nil {
		return asErr
	}
	switch {
	case found != nil:
		return found
	case errors.Is(err, syscall.ENOENT):
		return mistake(CodeNotFound, "program %s: %s", program, t.reason(err))
	case errors.Is(err, syscall.EACCES) && t.Cgroup == "" && !t.isOwn(program): // else the group may have refused it
		return mistake(CodeNotExecutable, "program %s: %s", program, t.reason(err))
	}
	return plain
}

// diagnose looks for the reason, with the rights of the account. Without one it returns
// nil.
func (t Task) diagnose(program string, err error) error {
	bad := func(reason string) error { return mistake(CodeNotExecutable, "%s: %s", t.called(program), reason) }
	switch err { //nolint:errorlint // It is what exec(2) returned.
	case syscall.ENOENT:
		return t.missingPart(program, maxInterpreters)
	case syscall.EACCES:
		return t.forbiddenPart(program, maxInterpreters)
	case syscall.ENOEXEC:
		return bad(unknownFormat(program))
	case syscall.E2BIG:
		return bad("its arguments and variables are longer than the kernel takes")
	case syscall.ETXTBSY:
		if t.isOwn(program) {
			return nil // the agent has just written it
		}
		return bad("the file is being written")
	case syscall.ELOOP, syscall.EISDIR, syscall.ELIBBAD, syscall.ENOTDIR, syscall.ENAMETOOLONG:
		return bad("its interpreter or loader cannot be used: " + err.Error())
	}
	return nil
}

// called is what people call the program.
func (t Task) called(program string) string {
	if t.isOwn(program) {
		return "the job's script"
	}
	return "program " + program
}

// maxInterpreters is how many interpreters the kernel goes through: that of a script may
// be a script.
const maxInterpreters = 5

// missingPart looks for the interpreter or the loader that is not there.
func (t Task) missingPart(program string, depth int) error {
	name, isScript := interpreterOf(program)
	if name == "" || depth == 0 {
		return nil
	}
	if _, err := os.Stat(t.pathOf(name)); err == nil {
		return t.missingPart(t.pathOf(name), depth-1)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case strings.HasSuffix(name, "\r"):
		return mistake(CodeNotFound, "%s: there is no interpreter %q: its lines end in CR LF, as Windows writes them; "+
			"convert it, for example with dos2unix", t.called(program), name)
	case isScript:
		return mistake(CodeNotFound, "%s: there is no interpreter %q, which its first line names", t.called(program), name)
	}
	return mistake(CodeNotFound, "%s: there is no %q, the loader that it was built for", t.called(program), name)
}

// forbiddenPart looks for what the account may not execute: the program, or its
// interpreter or loader.
func (t Task) forbiddenPart(file string, depth int) error {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return mistake(CodeNotExecutable, "%s: it is not a file", t.called(file))
	}
	var at unix.Statfs_t
	if err := unix.Statfs(file, &at); err == nil && at.Flags&unix.ST_NOEXEC != 0 {
		if t.isOwn(file) {
			return errors.New("data folder: it is on a file system on which nothing may be executed (noexec)")
		}
		return mistake(CodeNotExecutable, "%s: it is on a file system on which nothing may be executed (noexec)", t.called(file))
	}
	if err := unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS); err != nil {
		if t.isOwn(file) {
			return fmt.Errorf("%s: %w", t.called(file), err)
		}
		return mistake(CodeNotExecutable, "%s: %s", t.called(file), t.reason(err))
	}
	name, isScript := interpreterOf(file)
	if name == "" || depth == 0 {
		return nil
	}
	err := t.forbiddenPart(t.pathOf(name), depth-1)
	var of *Mistake
	if !errors.As(err, &of) {
		return err
	}
	what := "loader"
	if isScript {
		what = "interpreter"
	}
	return mistake(of.Code, "%s: its %s %s", t.called(file), what, strings.TrimPrefix(of.Text, "program "))
}

// firstLine is as much of a script as the kernel reads for its first line.
const firstLine = 256

// interpreterOf is the interpreter that the first line of a script names, or the loader
// of a program. It is empty where there is none, or the file cannot be read.
func interpreterOf(file string) (name string, isScript bool) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0) // nothing waits for a pipe
	if err != nil {
		return "", false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	head := make([]byte, firstLine)
	n, _ := io.ReadFull(f, head) // a shorter one is read as far as it goes
	if line, ok := strings.CutPrefix(string(head[:n]), "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		if words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }); len(words) > 0 {
			return words[0], true
		}
		return "", true
	}
	program, err := elf.NewFile(f)
	if err != nil {
		return "", false
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP && part.Filesz < unix.PathMax {
			path := make([]byte, part.Filesz)
			n, _ := part.ReadAt(path, 0)
			return strings.TrimRight(string(path[:n]), "\x00"), false
		}
	}
	return "", false
}

// unknownFormat says what the file is that the kernel cannot execute.
func unknownFormat(file string) string {
	if info, err := os.Stat(file); err == nil && info.Size() == 0 {
		return "the file is empty"
	}
	if program, err := elf.Open(file); err == nil {
		defer program.Close()
		return fmt.Sprintf("it was built for another kind of processor, %s, and the node's is %s",
			strings.TrimPrefix(program.Machine.String(), "EM_"), runtime.GOARCH)
	}
	return "it is neither a program nor a script whose first line begins with #!"
}
