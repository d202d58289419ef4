package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// watcher shares cores: it prints which it may run on, whenever that changes.
const watcher = `while [ ! -e /tmp/end-watcher ]; do
now=$(sed -n 's/^Cpus_allowed_list:\t*//p' /proc/self/status)
[ "$now" = "$before" ] || echo $now; before=$now; sleep 0.1; done`

// owner prints how many cores it sees, and which, and lasts until it is told to end.
const owner = `nproc; sed -n 's/^Cpus_allowed_list:\t*//p' /proc/self/status
while [ ! -e /tmp/end-$1 ]; do sleep 0.1; done`

// runCores runs tasks side by side that share cores and that have some of their own, with
// an agent that is killed in between, and prints what each of them saw. After each step
// the watcher has seen one change more.
func runCores(agent *exec.Cmd) (*exec.Cmd, error) {
	ids := map[string]string{}
	start := func(name, cpu, script string) error {
		out, err := berth("submit", "--cpus-per-task", cpu, "--mem", "32Mi", "--", "sh", "-c", script, name, name)
		ids[name] = submitted(out)
		return err
	}
	end := func(name string) error {
		if err := os.WriteFile("/tmp/end-"+name, nil, 0o644); err != nil {
			return err
		}
		_, err := berth("wait", ids[name])
		return err
	}
	steps := []func() error{
		func() error { return start("watcher", "0.5", watcher) },
		func() error { return start("pair", "2", owner) },
		func() (err error) {
			_ = agent.Process.Kill()
			_ = agent.Wait() // it was killed
			if agent, err = spawn("agent", "agent", "--config", "/agent.yaml"); err != nil {
				return err
			}
			return start("one", "1", owner)
		},
		func() error { return end("pair") },
		func() error { return end("one") },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return agent, fmt.Errorf("cores, step %d: %w", i+1, err)
		}
		_, err := retry(func() (string, error) {
			seen, err := berth("logs", ids["watcher"])
			if err == nil && strings.Count(seen, "\n") <= i {
				err = fmt.Errorf("the watcher has seen %q", seen)
			}
			return seen, err
		})
		if err != nil {
			return agent, fmt.Errorf("cores, after step %d: %w", i+1, err)
		}
	}
	if err := end("watcher"); err != nil {
		return agent, err
	}
	for name, id := range ids {
		text, err := berth("logs", id)
		if err != nil {
			return agent, err
		}
		say("LOG "+name, jsonString(text))
	}
	return agent, nil
}
