package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/agent/shim"
)

// person is an account with what its tasks' environment says of it.
type person struct {
	shim.Account
	Home string
	// Shell is what the account's commands run in. Empty: it is not known, or one that
	// runs none.
	Shell string
}

// defaultShell is that of accounts without one.
const defaultShell = "/bin/sh"

// accountName is what is let through to programs and files: no options, no paths.
var accountName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,254}\$?$`)

// account is who a task runs as that names the account name, empty: none. The bool
// says that it is another one than the agent's own. An account that is not there, or
// may not be used, is a shim.Mistake.
func (c Config) account(ctx context.Context, name string) (p person, other bool, err error) {
	own, err := ownAccount()
	if err != nil {
		return p, false, err
	}
	if c.Accounts == AccountsOwn {
		if name != "" && name != own.Name {
			return p, false, badAccount(name, "node %s runs tasks as %s alone", c.Node, own.Name)
		}
		return own, false, nil
	}
	if name == "" {
		p = own
	} else if p, err = lookupAccount(ctx, name); errors.Is(err, errNoAccount) {
		return p, false, badAccount(name, "node %s has no account of this name; operators may name another with --user", c.Node)
	} else if err != nil {
		return p, false, err
	}
	if int64(p.UID) < int64(c.MinUID) {
		return p, false, badAccount(p.Name, "node %s runs no tasks as it, for its number %d is below %d (minUID of the agent)", c.Node, p.UID, c.MinUID)
	}
	return p, p.UID != own.UID, nil
}

func badAccount(name, format string, args ...any) error {
	return &shim.Mistake{Code: shim.CodeMistake, Text: fmt.Sprintf("account %s: ", name) + fmt.Sprintf(format, args...)}
}

func ownAccount() (person, error) {
	p := person{Account: shim.Account{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}, Home: "/"}
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		p.Name = strconv.Itoa(os.Geteuid())
		return p, nil //nolint:nilerr // Containers may have no name for it.
	}
	p.Name, p.Home, p.Shell = u.Username, u.HomeDir, shellOf(u.Username)
	return p, nil
}

// lookupLimit is how long a directory service may take.
const lookupLimit = 20 * time.Second

// errNoAccount says that the machine has no account of a name.
var errNoAccount = errors.New("there is no such account on this node")

// lookupAccount finds an account in the machine's files, and else by getent and id:
// a static program cannot ask directory services itself. The error is errNoAccount, or
// the account may be there and could not be found out about.
func lookupAccount(ctx context.Context, name string) (person, error) {
	if !accountName.MatchString(name) {
		return person{}, badAccount(strconv.Quote(name), "it is not the name of an account")
	}
	u, err := user.Lookup(name)
	if err == nil {
		groups, err := u.GroupIds()
		if err != nil {
			return person{}, fmt.Errorf("the groups of %s: %w", name, err)
		}
		p, err := newPerson(name, u.Uid, u.Gid, u.HomeDir, groups)
		p.Shell = shellOf(name)
		return p, err
	}
	if unknown := user.UnknownUserError(""); !errors.As(err, &unknown) {
		return person{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	line, err := exec.CommandContext(ctx, "getent", "passwd", "--", name).Output()
	if isUnknown(err) {
		return person{}, errNoAccount
	}
	if err != nil {
		return person{}, fmt.Errorf("looking for the account %s: getent: %w", name, err)
	}
	groups, err := exec.CommandContext(ctx, "id", "-G", "--", name).Output()
	if err != nil {
		return person{}, fmt.Errorf("the groups of %s: %w", name, err)
	}
	return parsePasswd(name, string(line), string(groups))
}

// isUnknown reports whether getent says that there is no such account, or is not there
// itself: then there is no directory service either.
func isUnknown(err error) bool {
	const notFound = 2
	var exit *exec.ExitError
	return errors.Is(err, exec.ErrNotFound) || errors.As(err, &exit) && exit.ExitCode() == notFound
}

// parsePasswd reads a line as in /etc/passwd, and a list of group numbers.
func parsePasswd(name, line, groups string) (person, error) {
	line = strings.TrimRight(line, "\n")
	f := strings.Split(line, ":")
	if len(f) != 7 || f[0] != name || strings.Contains(line, "\n") {
		return person{}, fmt.Errorf("%.200q is not the account %s", line, name)
	}
	p, err := newPerson(name, f[2], f[3], f[5], strings.Fields(groups))
	p.Shell = usableShell(f[6])
	return p, err
}

// shellOf is the shell of an account of the machine's file, which package os/user does not
// tell.
func shellOf(name string) string {
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(strings.TrimRight(line, "\n"), ":"); len(f) == 7 && f[0] == name {
			return usableShell(f[6])
		}
	}
	return ""
}

// usableShell is a shell that programs may start, empty where the account's is to keep
// people from logging in.
func usableShell(shell string) string {
	switch filepath.Base(shell) {
	case "nologin", "false", "true", "sync":
		return ""
	}
	if !filepath.IsAbs(shell) {
		return ""
	}
	return shell
}

func newPerson(name, uid, gid, home string, groups []string) (person, error) {
	p := person{Account: shim.Account{Name: name}, Home: home}
	number := func(text string) uint32 {
		// The largest number stands for none in system calls.
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 1<<32-1 {
			n = 1<<32 - 1
		}
		return uint32(n)
	}
	p.UID, p.GID = number(uid), number(gid)
	for _, g := range groups {
		p.Groups = append(p.Groups, number(g))
	}
	for _, n := range append([]uint32{p.UID, p.GID}, p.Groups...) {
		if n == 1<<32-1 {
			return person{}, fmt.Errorf("the account %s has no good numbers: %s, %s, %v", name, uid, gid, groups)
		}
	}
	if !filepath.IsAbs(home) {
		p.Home = "/"
	}
	return p, nil
}
