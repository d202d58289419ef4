// Package agent is the daemon of a node: it asks the servers which tasks belong on
// the node, starts them, ends those that do not belong there any more, and reports
// what happened to them.
//
// # What holds
//
// A task ID is started at most once, ever: before a task's shim is forked, the order
// to do so is on disk, and where it is on disk no shim is forked again. A task whose
// shim never came ends as BOOT_FAIL.
//
// A start is given up where the data folder does not answer for eight seconds, or the shim
// says nothing for a minute, and ends as BOOT_FAIL. What then comes too late is killed.
//
// Tasks outlive the agent. Each runs under a shim of its own (package shim); an agent
// that starts finds the shims of the one before it and goes on. Time limits are the
// shims' business and need neither agent nor servers.
//
// Orders of a leader whose term is lower than the highest one seen are refused, and
// the highest term is on disk before anything is done by it.
//
// Processors that a task has to itself are no other task's from when its control group
// is made until it is removed, whichever agent does that (pin.go).
//
// What happened to a task is reported until a server has taken it, by the next agent
// too. IDs of tasks that have ended are remembered until no server lists them and
// their report was taken.
//
// # Goroutines
//
// One goroutine owns the table of tasks (table.go): others send it functions to run.
// Around it there are the poller (poll.go), the reporter (report.go), the checks of
// health, machine (health.go) and load (load.go) and of what else tasks need (check.go), the
// janitor (janitor.go), and one runner for each task that has not ended (runner.go),
// which is its life from top to bottom in one place. Run starts all of them and waits for all of them.
//
// # The data folder
//
//	lock             held by the agent that runs: there is one for a folder
//	term             the highest term seen
//	tasks/           0700
//	  17_0.1.0/      a task; what the shim has here is in the comment of package shim
//	    task.json    the order: from now on it is started, or has been
//	    status.json  by the shim: it runs, or how it ended
//	    report.json  it has ended, it is cleaned up, and this is what to report of it
//	    taken        a server has taken the report
//	work/            0711: users pass through, and see nothing
//	  17_0.1.0/      0700, the task's user: gone when the task has ended
//	    script       the job's script
//	    dir/         the working directory, where the job names none
//	    tmp/         TMPDIR
//
// The files say by themselves how far a task has come; nothing has to agree with
// anything else. A folder without task.json and report.json was about to be started
// and was not. With task.json alone, the shim was forked or was about to be: its
// socket tells whether it lives. What has ended without report.json is cleaned up
// (again), and its epilog run (again), before it is reported.
//
// Folders of tasks that ended are kept for their logs: see Config.Keep. Where the disk is
// full, logs give way to what the agent and shims write down, the oldest first.
package agent
