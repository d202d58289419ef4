// Package app is the command berth-scheduler, for a main function of one's own: it
// runs Berth in the place of kube-scheduler 1.37.1, with the same flags, the same
// configuration file, the same feature gates and the same endpoints.
//
//	func main() {
//		os.Exit(cli.Run(app.NewSchedulerCommand(app.WithPlugin("Quiet", quiet.New))))
//	}
//
// Here is what starts, runs and stops things; what is decided is the engine's, and
// how it is told to an API server the adapter's (package kubernetes).
//
//   - options.go has the flags, and settings.go what takes precedence over what.
//   - gates.txt are the feature gates, gates.go reads them, and honoured.go says
//     which of them Berth can only run with in one state.
//   - clients.go makes the clients, and lease.go keeps those from writing that do
//     not lead.
//   - election.go leads, or waits to.
//   - endpoints.go serves health, metrics and profiles, and what else is mounted.
//   - scheduler.go makes everything. run.go serves, and tenure.go does what is done
//     meanwhile, in this order: watch, wait to lead, schedule; and to stop: let
//     bindings end, write what is left to write, give the lease back.
//   - kinds.go says what is watched for which plugin.
//   - extenders.go makes the extenders, and codec.go writes what they are sent.
//   - log.go brings the engine's log to klog, and dump.go writes what the engine
//     knows to it when it is asked to (SIGUSR2).
//
// # What is different from kube-scheduler
//
//   - Flags that Berth cannot honour are refused; see honoured.go.
//   - The flags are validated whether or not they replace the configuration file.
//   - Who leads and is asked to end (SIGTERM) binds what it has begun to bind and
//     keeps its lease until that is done. kube-scheduler gives it back first.
//   - A scheduler that has lost the lease writes nothing more, whatever is still in progress, and
//     ends with code 1 as soon as the loss is known. Where the API server does not
//     answer, that is when the lease may have become another's.
//   - Ended on demand without leader election, the code is 0 and not 1.
//   - DELETE of /metrics clears those of the process, not those of the scheduler.
package app
