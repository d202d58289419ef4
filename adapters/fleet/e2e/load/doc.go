// Command load measures a fleet's servers under load: real server processes, whose
// every acknowledgement is on disk, and agents that are simulated, whose tasks end
// at once. It prints what the disk alone can do beside it, from the same minute.
//
//	go run ./load                      all, at the sizes that are published
//	go run ./load -only throughput     one part
//	go run ./load -servers 3           three servers instead of one
//
// The parts:
//
//	fsync       4 KiB writes, each followed by fsync, in the servers' folder
//	throughput  jobs from submission to running: a rate, and how long each took
//	array       one job of a million elements
//	queue       100,000 jobs that wait, and how long users' commands take then
//	heartbeats  5,000 agents, and whether any is ever thought to be gone
package main
