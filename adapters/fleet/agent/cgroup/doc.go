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
//     outlive the agent; without the former, Open moves this process into a group
//     "agent" below;
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
// runs out all of the task is killed (memory.oom.group): half a task is no use. Cores
// are not pinned (cpuset): a task that wants that pins itself.
//
// A controller that the machine does not have is reported by Tree.Missing and its
// limits are left out. Nothing is pretended.
package cgroup
