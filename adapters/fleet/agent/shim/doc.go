// Package shim is the small process above each task. It starts the task, enforces
// its time limit, keeps its output, and writes down how it ended. It is a process
// of a session of its own, so that tasks outlive an agent that is killed or upgraded;
// the next agent finds the shim by its socket.
//
// # The folder
//
// Agent and shim share a folder for each task, which nobody else may enter:
//
//	task.json    Task: what to run. Written by the agent, on disk before the shim is
//	             started; where it is there, no other shim is ever started.
//	shim.sock    where the shim listens. The agent makes the socket and hands it to
//	             the shim as its file 3, so that from before the shim's first
//	             instruction until after its last, the socket can be connected to; a
//	             socket that refuses says for certain that there is no shim (Dial,
//	             ErrGone).
//	status.json  Status: written by the shim when the task has started, and when it
//	             has ended.
//	shim.log     what the shim itself complains of.
//	stdout.*     what is kept of the task's output.
//	stderr.*
//
// # The socket
//
// Both sides send JSON values, one a line, of at most MaxMessage bytes. The agent
// sends Requests. The shim sends its Status once at the beginning, and again when
// something changed or it is asked. That the task has ended shows by the end of the
// connection; how, is in status.json by then.
//
// # What cannot be started
//
// Where what the job asks for is wrong, the task ends as FAILED with the exit code of a
// shell and no time when it started (Mistake). Everything else that keeps it from
// starting is the node's fault, BOOT_FAIL. What the user names is looked at with the
// rights of the account.
//
// # How a task ends
//
// When the task's first process ends, the task has ended, and what it left behind is
// killed. A time limit, or a request to stop, first sends a signal (TERM by default)
// to the task's process group, and after the grace SIGKILL to all of it: to its
// control group, and to every descendant of the shim, which as a subreaper is the
// parent of those whose own parent has ended, whatever session they are in. The
// warning before a time limit goes to the first process alone, which knows whom to
// pass it on to.
//
// If the shim itself is killed, the kernel kills the task's first process (PDEATHSIG),
// and the agent what is left.
package shim
