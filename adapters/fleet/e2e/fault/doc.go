// Package fault makes trouble for a fleet under load, by random choice, and then looks
// whether it has kept its word.
//
// # What goes wrong
//
// Two lanes of faults run at once, one of servers and one of nodes: SIGKILL of the
// leader, of an agent, of a shim; full disks; paused processes; cut links between the
// leader and followers, and between agents and servers. The table is in trouble.go.
//
// # What must hold
//
// Clients submit jobs all the while, each with a key, and repeat what has an unknown
// outcome. Every task writes its start and end into a file of its own (command task),
// so that it is known what has run, whatever servers and agents say. In the end
// (check.go):
//
//   - every job that was accepted is there, once, and has ended; what was accepted can
//     be read at once by everybody; nothing of a job starts once its cancellation was
//     accepted;
//   - no task was started twice, and none that the servers do not know;
//   - what the servers call completed has run to its end;
//   - no node had more tasks at any time than it has processor time for;
//   - every attempt that did not complete was hit: its shim was killed, or its node was
//     without a disk or without servers for longer than nodes are waited for. All else
//     that ran, ran on.
//
// # Nodes that lack something
//
// A second test (lacking_test.go) has two nodes of five that lack the same: the folder of all
// jobs, their account, the right to execute anything in the data folder, or room on the
// disk. Leaders die meanwhile, and a fifth of the jobs are mistaken. What must hold is the
// same, and
//
//   - every job ends as on a fleet without these nodes: completed, but for those that are
//     mistaken, which have failed;
//   - only attempts that are mistaken, or that these nodes had a part in, could not start;
//   - no other node is unhealthy in the end.
//
// # Running it
//
//	go test ./fault                       ten of each, in about three minutes
//	go test ./fault -run Lack             the nodes that lack something, in about two
//	go test ./fault -long -timeout 3h     a hundred of each
//	go test ./fault -seed 42              the same choices again
package fault
