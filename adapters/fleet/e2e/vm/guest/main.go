// Command guest is the first process of the virtual machine of package vm.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	work := run
	if os.Getpid() != 1 { // systemd is the first
		work = runUnits
	}
	if err := work(); err != nil {
		fmt.Println("GUEST FAILED:", err)
	}
	syscall.Sync()
	_ = syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}

// run prepares the machine, starts a server and an agent, and runs the jobs.
func run() error {
	for _, m := range [][3]string{
		{"proc", "/proc", "proc"}, {"sys", "/sys", "sysfs"}, {"dev", "/dev", "devtmpfs"}, {"tmp", "/tmp", "tmpfs"},
		{"data", "/var", "tmpfs"}, {"cgroup", "/sys/fs/cgroup", "cgroup2"},
	} {
		if err := os.MkdirAll(m[1], 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(m[0], m[1], m[2], 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m[1], err)
		}
	}
	if out, err := exec.Command("/bin/busybox", "--install", "-s", "/bin").CombinedOutput(); err != nil {
		return fmt.Errorf("busybox: %w: %s", err, out)
	}
	os.Setenv("PATH", "/bin")
	os.Setenv("HOME", "/tmp")
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("loopback: %w: %s", err, out)
	}
	return runFleet()
}

// runFleet runs the jobs of the folder /jobs, prints what happened to each, and then those
// of runCores.
func runFleet() error {
	server, err := spawn("server", "server", "--bootstrap", "--name", "s", "--data", "/var/server", "--listen", "127.0.0.1:7070")
	if err != nil {
		return err
	}
	defer server.Process.Kill()
	os.Setenv("BERTH_ADDR", "127.0.0.1:7070")
	os.Setenv("BERTH_CACERT", "/var/server/ca.pem")
	os.Setenv("BERTH_CLIENT_CERT", "/var/server/admin.pem")
	token, err := retry(func() (string, error) { return berth("server", "join-token", "agent") })
	if err != nil {
		return fmt.Errorf("join token: %w", err)
	}
	if err := os.WriteFile("/var/token", []byte(token), 0o600); err != nil {
		return err
	}
	agent, err := spawn("agent", "agent", "--config", "/agent.yaml", "--join-token-file", "/var/token")
	if err != nil {
		return err
	}
	defer func() { agent.Process.Kill() }()
	node, err := retry(func() (string, error) { return berth("nodes", "node", "-o", "json") })
	if err != nil {
		log, _ := os.ReadFile("/tmp/agent.log")
		return fmt.Errorf("node: %w\n%s", err, log)
	}
	say("NODE", node)
	files, err := filepath.Glob("/jobs/*.yaml")
	if err != nil {
		return err
	}
	for _, f := range files {
		out, err := berth("submit", "--wait", f)
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		id := submitted(out)
		detail, err2 := berth("job", id, "-o", "json")
		if err2 != nil {
			return errors.Join(fmt.Errorf("%s: %s", name, out), err, err2)
		}
		text, _ := berth("logs", id)
		say("JOB "+name, detail)
		say("LOG "+name, jsonString(text))
	}
	if agent, err = runCores(agent); err != nil {
		return err
	}
	left, _ := exec.Command("sh", "-c", "find /sys/fs/cgroup -mindepth 2 -type d; ps").Output()
	say("LEFT", jsonString(string(left)))
	say("DONE", `""`)
	return nil
}

// submitted is the number of the job, in the answer to its submission.
func submitted(answer string) string {
	return strings.Trim(strings.TrimPrefix(strings.SplitN(answer, ".", 2)[0], "Submitted job"), " \n")
}

// say prints one line for the test: a word, and JSON.
func say(what, text string) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		v = text
	}
	line, _ := json.Marshal(v)
	fmt.Printf("\n%s %s\n", what, line) // the kernel may have begun the line
}

func jsonString(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

// spawn starts berth, with its log in a file.
func spawn(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.Create("/tmp/" + name + ".log")
	if err != nil {
		return nil, err
	}
	c := exec.Command("/berth", args...)
	c.Stdout, c.Stderr = log, log
	return c, c.Start()
}

// berth runs a command of the command line.
func berth(args ...string) (string, error) {
	c := exec.Command("/berth", args...)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), err
}

// retry tries for a minute.
func retry(f func() (string, error)) (out string, err error) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if out, err = f(); err == nil {
			return out, nil
		}
	}
	return out, err
}
