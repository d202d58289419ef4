// Package cluster runs a fleet for a test: servers and agents as processes of their
// own, on this machine.
//
//	c := cluster.Start(t, cluster.Options{Servers: 3, Agents: cluster.Nodes("n1", "n2")})
//	id := c.Submit("--", "echo", "hello")
//	c.Ended(id, job.Completed)
//
// # Where they run
//
// As root, and where the program ip is there, each process is a machine of its own: a
// network namespace with an address on a bridge that the test is on as well. Then links
// can be cut ([Cluster.Isolate], [Cluster.Cut]). Else all listen on ports of the
// loopback, and tests that cut links are skipped. Start logs which it is.
//
// # Trouble
//
// A [Process] can be killed, paused, and started again; [Cluster.Isolate] takes a
// machine off the network, and [Cluster.Cut] parts two; a [Disk] is a small file system
// that can be filled.
//
// # What is left
//
// Nothing: at the end of the test, failed or not, all that was started is killed by
// its process number, shims and tasks are found by the test's own folder in their
// arguments or environment, and namespaces, mounts, control groups and folders go.
// Servers and agents die with the test's process. What a test left that was killed
// itself is removed by the next. The logs of a test that failed stay, and their ends
// are shown.
package cluster
