// Package cgroup gives each task a control group (version 2): to limit it, to
// count what it uses, and to kill all of it at once.
//
// # Where groups are
//
// Open looks for a place where this process may make groups, and makes one there
// for its tasks:
//
//   - below its own group, where that was delegated to it (systemd's Delegate=yes).
//     A group with processes of its own cannot have limited groups below it, so the
//     unit should have DelegateSubgroup=agent, and KillMode=process so that tasks
//     outlive the agent;
//   - beside its own group, where systemd is older than 254 and does not know
//     DelegateSubgroup: it would start no other agent above the groups of tasks that
//     outlived this one. Where this process may not, it moves into a group "agent"
//     below its own;
//   - else, as root, below the root of the hierarchy;
//   - else there is none, and the error says so.
//
// The hierarchy is found by mountinfo: it need not be at /sys/fs/cgroup.
//
// # What limits
//
// The processor limit is hard (cpu.max): a task gets the cores that it asked for,
// never more, so that it runs as fast on an empty node as on a full one and its
// time limit means the same on both. Memory is limited without swap, and where it
// runs out all of the task is killed (memory.oom.group): half a task is no use.
//
// # Processors of a task's own
//
// A task may have processors to itself (cpuset.cpus); all others share those that are
// left. Create makes the groups of the former right below that of all tasks, and those
// of the latter below its group "shared":
//
//	berth-n1-5d41402a/
//	  17_0.1.0/          cpuset.cpus: 0,4
//	  18_0.1.0/          cpuset.cpus: 1-2,5-6
//	  shared/            cpuset.cpus: 3,7
//	    19_0.1.0/        its own is empty: what holds above holds here
//
// So one write to one file has all tasks that share follow (Share), and where a group is
// says whether what it may run on is its own (Owned). The share of each is decided by the
// caller. The kernel keeps only tasks apart from each other: the rest of the system,
// agent and shims too, runs where it likes.
//
// A controller that the machine does not have is reported by Tree.Missing and its
// limits are left out. Nothing is pretended.
package cgroup
