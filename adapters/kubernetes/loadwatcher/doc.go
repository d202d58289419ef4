// Package loadwatcher reports what a load-watcher service has measured to an engine, for the
// plugins that go by [model.NodeLoad]. (github.com/paypal/load-watcher, v0.2.4.)
//
//	source, err := loadwatcher.New(loadwatcher.Options{Address: "http://load-watcher:2020", Apply: eng.Apply})
//	go source.Run(ctx)
//
// The service is asked for the averages of its longest window every half a minute. A report is
// passed on where it is newer than the last one. A node that a report leaves out keeps what
// was measured before, as all nodes do where the service cannot be reached or answers
// nonsense: what is old is for the plugins to judge. What makes no sense of one node is left
// out, and the others are taken. berth-scheduler starts a Source for each watcherAddress in
// its configuration.
package loadwatcher
