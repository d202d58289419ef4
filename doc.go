// Package berth is the root of a module that decides which node each workload runs on. It has no
// code. Begin with package [github.com/berth-project/berth/engine]:
//
//	go doc github.com/berth-project/berth/engine
//
// Package model has the nodes and workloads that an engine is told of, extpoints what plugins and
// orchestrators implement, plugins the default profile, and adapters how to connect an engine to an
// orchestrator. examples/hello is the smallest program, and examples/orchestrator one to copy.
package berth
