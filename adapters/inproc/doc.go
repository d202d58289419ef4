// Package inproc is an orchestrator in this process: its nodes are names, and
// its workloads are Go functions. It is of use as it is, in tests and in
// programs that share work out between pools of goroutines; and it is the one
// to copy for an orchestrator of your own, being small and complete.
//
// Make the orchestrator first, give it to the engine's configuration, and
// connect it to the engine when that is made:
//
//	o := inproc.New(inproc.Options{})
//	defer o.Close()
//	e, err := engine.New(engine.Config{Orchestrator: o, Profiles: ...})
//	...
//	err = o.Connect(e)
//	...
//	go e.Run(ctx)
//	err = o.Join(&model.Node{Name: "n1", Allocatable: model.Resources{CPU: model.Cores(4)}})
//	err = o.Submit(&model.Workload{ID: "hello", Requests: model.Resources{CPU: model.Cores(0.5)}},
//		func(ctx context.Context, b model.Binding) error {
//			fmt.Println("hello from", b.Node)
//			return nil
//		})
//
// The engine may end and another be connected: what runs goes on meanwhile, and
// the new engine is told of it.
//
// # How it works, and what to copy
//
// There is one record, of nodes and of jobs, under one lock, and it is the
// truth; the engine's is an image of it. Whatever changes the record tells the
// engine before it lets go of the lock, so the engine hears of everything in
// the order in which it happened. That cannot deadlock: the engine never calls
// an orchestrator with its own lock held. (Its [engine.Listener] functions are
// called with it held, so they must not call the orchestrator.)
//
// The record alone decides whether Bind starts something. A job that runs is
// not started again, whatever a retry, a second engine, or an answer that got
// lost may ask for.
//
// Each run is one goroutine. [Orchestrator.Close] ends them all and waits for
// them.
package inproc
