package agent

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/berth-project/berth/adapters/fleet/job"
)

// makeWork makes a task's own folder with what belongs in it, for the account; other
// says that it is not the agent's own. What an attempt to do so left there before is
// removed: the task was not started then.
//
// The folder is the agent's until all is in it, so that nobody can put links into the
// way.
func (f *folders) makeWork(id job.TaskID, script string, who person, other bool) error {
	base := f.work(id)
	if err := os.RemoveAll(base); err != nil {
		return err
	}
	made := []string{filepath.Join(base, "dir"), filepath.Join(base, "tmp")}
	if err := os.Mkdir(base, 0o700); err != nil {
		return err
	}
	for _, dir := range made {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if script != "" {
		path := f.script(id)
		if err := writeScript(path, script); err != nil {
			return err
		}
		made = append(made, path)
	}
	if !other {
		return nil
	}
	for _, path := range append(made, base) {
		if err := os.Lchown(path, int(who.UID), int(who.GID)); err != nil {
			return err
		}
	}
	return nil
}

func (f *folders) script(id job.TaskID) string { return filepath.Join(f.work(id), "script") }

func writeScript(path, text string) error {
	s, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o700)
	if err != nil {
		return err
	}
	_, err = s.WriteString(text)
	return errors.Join(err, s.Close())
}
