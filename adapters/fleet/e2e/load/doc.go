// Command load measures a fleet's servers under load: real server processes, whose
// every acknowledgement is on disk, and agents that are simulated. It prints what the disk alone can do beside it, from the same minute.
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
//	order       20,000 jobs of two priorities and a gang that wait for 400 places, and in
//	            which order they start
//	fair        20,000 jobs of three users of equal weight: how evenly they have the places
//	waiting     how many jobs start a second while 20 wait for the 400 places, and while
//	            20,000 do
//	mixed       450 jobs of different sizes: how long they wait, what an expected start is
//	            worth, and how busy nodes are
//	heartbeats  5,000 agents, and whether any is ever thought to be gone
package main
