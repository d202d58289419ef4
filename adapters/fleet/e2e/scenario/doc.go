// Package scenario has what users and operators do with a fleet, story by story, with
// real servers, agents and tasks: they use the command berth, and look at what it says,
// at its exit code, at what jobs wrote, and at the accounts.
//
// Each test starts a fleet (package cluster); its parts follow one another on it. A part
// leaves the fleet as it was.
//
//	run_test.go      what is run, and how: commands, scripts, environment, output
//	place_test.go    where: resources, constraints, wishes, spread
//	wait_test.go     when: hold, begin, dependencies, queues, priority
//	end_test.go      how it ends: limits, deadlines, retries, requeue, cancel, preemption
//	array_test.go    arrays and gangs
//	node_test.go     nodes: drain, maintenance, labels, loss, upgrade, hooks
//	account_test.go  logs, events, usage, users and roles
//	server_test.go   servers: failover, handover, join, removal, backup
package scenario
