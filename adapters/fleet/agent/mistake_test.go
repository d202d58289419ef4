package agent

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// mistaken is a job that cannot be started as it is: its code and its sentence are what
// a user sees. DIR stands for a folder that everybody may write to, JOB
// for the number of the job.
type mistaken struct {
	name string
	edit func(*job.Spec)
	code int
	says string
}

// command makes the job one of a command.
func command(argv ...string) func(*job.Spec) {
	return func(s *job.Spec) { s.Script, s.Command = "", argv }
}

// TestMistakes: what is wrong with the job is said at once, with the code of a shell. It
// is nobody else's fault, and nothing of it has run.
func TestMistakes(t *testing.T) {
	u := asRoot(t)
	n := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
	dir := sharedFolder(t)
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	write("plain", "echo hello\n", 0o755)
	write("empty", "", 0o755)
	write("unset", "#!/bin/sh\n", 0o644)
	write("private", "#!/bin/sh\n", 0o700)
	write("crlf", "#!/bin/bash\r\necho hello\r\n", 0o755)
	write("lost", "#!/nosuch/python3 -u\n", 0o755)
	write("twice", "#!"+dir+"/lost\n", 0o755)
	write("barred", "#!"+dir+"/private\n", 0o755)
	write("unloaded", elfProgram(t, "/lib/ld-nosuch.so.1", 0), 0o755)
	write("foreign", elfProgram(t, "", 8), 0o755) // MIPS
	busy, err := os.OpenFile(write("busy", "#!/bin/sh\n", 0o755), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer busy.Close()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0o700))
	require.NoError(t, os.Symlink("plain", filepath.Join(dir, "link")))
	require.NoError(t, mkfifo(filepath.Join(dir, "pipe")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "pipe"), 0o666))
	output := func(path string) func(*job.Spec) { return func(s *job.Spec) { s.Output = filepath.Join(dir, path) } }

	for i, c := range []mistaken{
		{"no program", command("nosuchprog"), 127, "program nosuchprog: it is in no folder of PATH=/usr/local/bin:/usr/bin:/bin"},
		{"a folder of PATH that is closed", func(s *job.Spec) {
			command("nosuchprog")(s)
			s.Env = map[string]string{"PATH": dir + "/closed/bin:/bin"}
		}, 127, "program nosuchprog: it is in no folder of PATH=DIR/closed/bin:/bin"},
		{"no program at a path", command("/nosuch/prog"), 127, "program /nosuch/prog: there is no such file"},
		{"no program where it runs", func(s *job.Spec) { command("./nosuch")(s); s.Dir = dir }, 127, "program DIR/nosuch: there is no such file"},
		{"a program in a closed folder", command(dir + "/closed/prog"), 126, "program DIR/closed/prog: permission denied for nobody"},
		{"a folder", command(dir + "/closed"), 126, "program DIR/closed: it is not a file"},
		{"no permission for anybody", command(dir + "/unset"), 126, "program DIR/unset: it is not executable; chmod +x makes it so"},
		{"no permission for the user", command(dir + "/private"), 126, "program DIR/private: permission denied for nobody"},
		{"found in PATH, without permission", func(s *job.Spec) {
			command("unset")(s)
			s.Env = map[string]string{"PATH": "/bin:" + dir}
		}, 126, "program DIR/unset: it is not executable; chmod +x makes it so"},
		{"no first line", command(dir + "/plain"), 126, "program DIR/plain: it is neither a program nor a script whose first line begins with #!"},
		{"an empty file", command(dir + "/empty"), 126, "program DIR/empty: the file is empty"},
		{"a file that is being written", command(dir + "/busy"), 126, "program DIR/busy: the file is being written"},
		{"another processor", command(dir + "/foreign"), 126, "program DIR/foreign: it was built for another kind of processor, MIPS, and the node's is "},
		{"no loader", command(dir + "/unloaded"), 127, `program DIR/unloaded: there is no "/lib/ld-nosuch.so.1", the loader that it was built for`},
		{"no interpreter", command(dir + "/lost"), 127, `program DIR/lost: there is no interpreter "/nosuch/python3", which its first line names`},
		{"no interpreter of the interpreter", command(dir + "/twice"), 127, `program DIR/lost: there is no interpreter "/nosuch/python3", which its first line names`},
		{"an interpreter that may not be executed", command(dir + "/barred"), 126, "program DIR/barred: its interpreter DIR/private: permission denied for nobody"},
		{"an interpreter that is a folder", func(s *job.Spec) { s.Script = "#!/usr/bin\n" }, 126, "the job's script: its interpreter /usr/bin: it is not a file"},
		{"a script from Windows", command(dir + "/crlf"), 127,
			`program DIR/crlf: there is no interpreter "/bin/bash\r": its lines end in CR LF, as Windows writes them; convert it, for example with dos2unix`},
		{"a job's script from Windows", func(s *job.Spec) { s.Script = "#!/bin/bash\r\necho hello\r\n" }, 127,
			`the job's script: there is no interpreter "/bin/bash\r": its lines end in CR LF, as Windows writes them; convert it, for example with dos2unix`},
		{"no interpreter of the job's script", func(s *job.Spec) { s.Script = "#!/nosuch\n" }, 127, `the job's script: there is no interpreter "/nosuch", which its first line names`},
		{"arguments without end", command("echo", strings.Repeat("x", 200_000)), 126, "program /bin/echo: its arguments and variables are longer than the kernel takes"},
		{"no working directory", func(s *job.Spec) { s.Dir = "/nosuch/dir" }, 1, "working directory /nosuch/dir: there is no such folder; jobs run where they are submitted, --dir=own makes a folder on the node"},
		{"a working directory that is closed", func(s *job.Spec) { s.Dir = dir + "/closed" }, 1, "working directory DIR/closed: permission denied for nobody"},
		{"a working directory that is a file", func(s *job.Spec) { s.Dir = dir + "/plain" }, 1, "working directory DIR/plain: it is not a folder"},
		{"no folder of the output", output("logs/of/mine/%j"), 1, "output file DIR/logs/of/mine/JOB: there is no folder DIR/logs"},
		{"no folder of the errors", func(s *job.Spec) { s.Error = dir + "/logs/e" }, 1, "error file DIR/logs/e: there is no folder DIR/logs"},
		{"output where the user may not write", output("closed/x"), 1, "output file DIR/closed/x: permission denied for nobody"},
		{"output into a file", output("plain/x"), 1, "output file DIR/plain/x: not a directory"},
		{"paths that stand for nothing", func(s *job.Spec) { s.Output, s.Error = "/x/%z", "/y/%z" }, 1,
			`output: "/x/%z" has "%z", only %j, %x, %a, %t, %n, %u and %% stand for something; ` +
				`error: "/y/%z" has "%z", only %j, %x, %a, %t, %n, %u and %% stand for something`},
		{"output to a folder", output("closed"), 1, "output file DIR/closed: is a directory"},
		{"output through a link", output("link"), 1, "output file DIR/link: it is a symbolic link, which output does not follow"},
		{"output to a pipe", output("pipe"), 1, "output file DIR/pipe: it is neither a file nor /dev/null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := script(i+1, "touch "+dir+"/ran")
			o.Run.User = u.Username
			c.edit(&o.Run.Spec)
			r := n.run(o)
			require.Equal(t, job.Failed, r.State, r.Message)
			require.Equal(t, &api.Exit{Code: c.code}, r.Exit, r.Message)
			require.True(t, r.Started.IsZero() && r.Mistake())
			says := strings.NewReplacer("DIR", dir, "JOB", strconv.Itoa(i+1)).Replace(c.says)
			if message := strings.ReplaceAll(r.Message, "/usr/bin/echo", "/bin/echo"); strings.HasSuffix(says, " ") {
				require.True(t, strings.HasPrefix(message, says), message)
			} else {
				require.Equal(t, says, message)
			}
			require.NoFileExists(t, dir+"/ran")
		})
	}
}

// TestAccountMistakes: an account that is not there, or may not be used, is a mistake
// too. The sentence names the account and the node.
func TestAccountMistakes(t *testing.T) {
	asRoot(t)
	all := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
	for i, c := range []struct{ name, says string }{
		{"berth-no-such-user", "account berth-no-such-user: node n1 has no account of this name; operators may name another with --user"},
		{"root", "account root: node n1 runs no tasks as it, for its number 0 is below 1000 (minUID of the agent)"},
		{"", "account root: node n1 runs no tasks as it, for its number 0 is below 1000 (minUID of the agent)"},
		{"-h", `account "-h": it is not the name of an account`},
	} {
		o := script(i+1, "true")
		o.Run.User = c.name
		requireMistake(t, all.run(o), 1, c.says)
	}
	own := newNode(t, nil)
	me, err := user.Current()
	require.NoError(t, err)
	o := script(1, "true")
	o.Run.User = "nobody"
	requireMistake(t, own.run(o), 1, "account nobody: node n1 runs tasks as "+me.Username+" alone")
}

func requireMistake(t *testing.T, r api.Report, code int, says string) {
	t.Helper()
	require.Equal(t, job.Failed, r.State, r.Message)
	require.Equal(t, &api.Exit{Code: code}, r.Exit)
	require.True(t, r.Mistake())
	require.Equal(t, says, r.Message)
}

// TestNodesFaults: what another node might do better is no mistake of the user's.
func TestNodesFaults(t *testing.T) {
	u := asRoot(t)
	disk := func(t *testing.T, options string, flags uintptr) string {
		dir := openFolder(t)
		if err := unix.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
			t.Skipf("it needs the right to mount: %v", err)
		}
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		return dir
	}
	bare := t.TempDir() // a getent that does not get through to its directory service
	require.NoError(t, os.WriteFile(bare+"/getent", []byte("#!/bin/sh\nexit 1\n"), 0o755))
	for i, c := range []struct {
		name string
		edit func(*testing.T, *api.Order)
		says string
	}{
		{"a disk without room for the output", func(t *testing.T, o *api.Order) {
			o.Run.Spec.Output = disk(t, "mode=1777,nr_inodes=1", 0) + "/x"
		}, "no space left on device"},
		{"a disk that is read-only", func(t *testing.T, o *api.Order) {
			o.Run.Spec.Output = disk(t, "mode=1777", unix.MS_RDONLY) + "/x"
		}, "read-only file system"},
		{"devices that are gone", func(_ *testing.T, o *api.Order) { o.Run.GPUs = []api.GPUShare{{GPU: 7, Share: 1000}} }, "the order names the device 7"},
		{"a directory service that is gone", func(t *testing.T, o *api.Order) {
			t.Setenv("PATH", bare+":"+os.Getenv("PATH"))
			o.Run.User = "berth-no-such-user"
		}, "looking for the account berth-no-such-user: getent: exit status 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
			o := script(i+1, "true")
			o.Run.User = u.Username
			c.edit(t, &o)
			r := n.run(o)
			require.Equal(t, job.BootFail, r.State, r.Message)
			require.Nil(t, r.Exit)
			require.Contains(t, r.Message, c.says)
		})
	}
	t.Run("a data folder that users cannot pass through", func(t *testing.T) {
		n := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
		require.NoError(t, os.Chmod(n.dir, 0o700))
		for i, edit := range []func(*job.Spec){func(*job.Spec) {}, func(s *job.Spec) { s.Output = "out" }} {
			o := script(i+1, "true")
			o.Run.User = u.Username
			edit(&o.Run.Spec)
			r := n.run(o)
			require.Equal(t, job.BootFail, r.State, r.Message)
			require.Contains(t, r.Message, "/work/*/dir", "the same words for all tasks")
			require.Contains(t, r.Message, "permission denied")
			require.Contains(t, n.agent.unhealthy.String(), "tasks' accounts cannot pass through it (mode 0700); chmod o+x lets them")
		}
	})
	t.Run("a data folder on which nothing may be executed", func(t *testing.T) {
		dir := disk(t, "mode=0711", unix.MS_NOEXEC)
		n := &node{t: t, server: newServer(), dir: dir}
		n.start(func(c *Config) { c.Accounts = AccountsUsers })
		eventually(t, "the complaint", func() bool { return n.agent.unhealthy.String() != "" })
		require.Equal(t, "data folder: "+dir+"/work: scripts in it cannot be executed: permission denied; is it on a file system that is mounted with noexec?",
			n.agent.unhealthy.String())
		o := script(1, "true")
		o.Run.User = u.Username
		r := n.run(o)
		require.Equal(t, job.BootFail, r.State, r.Message)
		require.Equal(t, "data folder: it is on a file system on which nothing may be executed (noexec)", r.Message)
		require.NoError(t, unix.Mount("", dir, "", unix.MS_REMOUNT, ""))
		n.agent.checkFolder()
		require.Empty(t, n.agent.unhealthy.String())
		o = script(2, "true")
		o.Run.User = u.Username
		require.Equal(t, job.Completed, n.run(o).State)
	})
	t.Run("a file system on which nothing may be executed", func(t *testing.T) { // of the user's program
		dir := disk(t, "mode=1777", unix.MS_NOEXEC)
		require.NoError(t, os.WriteFile(dir+"/prog", []byte("#!/bin/sh\n"), 0o755))
		n := newNode(t, func(c *Config) { c.Accounts = AccountsUsers })
		o := script(1, "")
		o.Run.User = u.Username
		command(dir + "/prog")(&o.Run.Spec)
		requireMistake(t, n.run(o), 126, "program "+dir+"/prog: it is on a file system on which nothing may be executed (noexec)")
	})
}

// elfProgram is the beginning of a program for 64 bits: with a loader, or of a machine
// that is not this one.
func elfProgram(t *testing.T, loader string, machine byte) string {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	head := append([]byte(nil), self[:64]...)
	put := func(at, size int, value uint64) {
		for i := range size {
			head[at+i] = byte(value >> (8 * i))
		}
	}
	if machine != 0 {
		put(18, 2, uint64(machine))
	}
	const fileHeader, programHeader = 64, 56
	put(32, 8, fileHeader) // where program headers are
	put(40, 8, 0)          // no sections
	put(56, 2, 0)
	put(60, 2, 0)
	put(62, 2, 0)
	if loader == "" {
		return string(head)
	}
	put(56, 2, 1)
	head = append(head, make([]byte, programHeader)...)
	path := loader + "\x00"
	put(fileHeader, 4, 3) // PT_INTERP
	put(fileHeader+4, 4, 4)
	put(fileHeader+8, 8, fileHeader+programHeader)
	put(fileHeader+32, 8, uint64(len(path)))
	put(fileHeader+40, 8, uint64(len(path)))
	return fmt.Sprintf("%s%s", head, path)
}
