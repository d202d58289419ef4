package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// survivor lasts until it is told to end.
const survivor = `echo began; while [ ! -e /tmp/end-survivor ]; do sleep 0.1; done; echo ended`

// limits prints the task's control group with what it may use, and how much memory it may lock.
const limits = `cut -d: -f3 /proc/self/cgroup; cd /sys/fs/cgroup/$(cut -d: -f3 /proc/self/cgroup)
cat memory.max cpu.max; ulimit -l; id -un`

// runUnits runs the units of a server and an agent as the README has them installed, and prints
// the outcome of both and of their jobs.
func runUnits() error {
	os.Setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
	os.Setenv("HOME", "/tmp")
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("loopback: %w: %s", err, out)
	}
	os.Setenv("BERTH_ADDR", "127.0.0.1:7070")
	os.Setenv("BERTH_CACERT", "/var/lib/berth/server/ca.pem")
	os.Setenv("BERTH_CLIENT_CERT", "/var/lib/berth/server/admin.pem")
	if err := systemctl("start", "berth-server"); err != nil {
		return err
	}
	if _, err := retry(func() (string, error) {
		return berth("server", "join-token", "agent", "--out", "/etc/berth/join-token")
	}); err != nil {
		return fmt.Errorf("join token: %w", err)
	}
	if err := systemctl("start", "berth-agent"); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	node, err := berth("nodes", "node", "-o", "json")
	if err != nil {
		return err
	}
	say("NODE", node)
	for _, step := range []func() error{
		func() error { return unitJob("limits", limits) },
		func() error { return unitJob("memory", "tail /dev/zero") },
		surviveRestarts,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, unit := range []string{"berth-server", "berth-agent"} {
		out, err := exec.Command("systemctl", "show", unit, "--property=ActiveState,NRestarts").Output()
		if err != nil {
			return err
		}
		say("LOG "+unit, jsonString(string(out)))
	}
	out, err := exec.Command("stat", "-c", "%a %U", "/var/lib/berth/server", "/var/lib/berth/agent").Output()
	if err != nil {
		return err
	}
	say("LOG folders", jsonString(string(out)))
	say("DONE", `""`)
	return nil
}

// surviveRestarts has a task run while its agent is restarted and killed, and the server is killed.
func surviveRestarts() error {
	out, err := berth("submit", "--user", "alice", "--mem", "32Mi", "--", "sh", "-c", survivor)
	if err != nil {
		return err
	}
	id := submitted(out)
	if _, err := retry(func() (string, error) {
		text, err := berth("logs", id)
		if err == nil && !strings.Contains(text, "began") {
			err = errors.New("it has not begun")
		}
		return text, err
	}); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"restart", "berth-agent"}, {"kill", "--kill-who=main", "--signal=KILL", "berth-agent"}, {"kill", "--signal=KILL", "berth-server"},
	} {
		if err := systemctl(args...); err != nil {
			return err
		}
		if err := ready(); err != nil {
			return err
		}
	}
	if err := os.WriteFile("/tmp/end-survivor", nil, 0o644); err != nil {
		return err
	}
	_, _ = berth("wait", id) // its end is printed
	return tell("survivor", id)
}

// unitJob runs a script as alice, and prints its outcome.
func unitJob(name, script string) error {
	out, err := berth("submit", "--wait", "--user", "alice", "--cpus-per-task", "0.5", "--mem", "64Mi", "--", "sh", "-c", script)
	id := submitted(out)
	if id == "" {
		return err
	}
	return tell(name, id)
}

// tell prints a job, and its output.
func tell(name, id string) error {
	detail, err := berth("job", id, "-o", "json")
	if err != nil {
		return err
	}
	text, err := berth("logs", id)
	if err != nil {
		return err
	}
	say("JOB "+name, detail)
	say("LOG "+name, jsonString(text))
	return nil
}

// ready waits until the units run, and the node takes tasks.
func ready() error {
	_, err := retry(func() (string, error) {
		for _, unit := range []string{"berth-server", "berth-agent"} {
			if err := systemctl("is-active", unit); err != nil {
				return "", err
			}
		}
		out, err := berth("nodes", "node")
		if err == nil && !strings.Contains(out, "READY") {
			err = errors.New(out)
		}
		return out, err
	})
	return err
}

func systemctl(args ...string) error {
	out, err := exec.Command("systemctl", args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return err
}
