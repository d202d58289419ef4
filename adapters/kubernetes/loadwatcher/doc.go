// Package loadwatcher reports to an engine what was measured on nodes, for the plugins that go by
// [model.NodeLoad]: what a load-watcher service has (github.com/paypal/load-watcher, v0.2.4), or what that
// asks for itself, a metrics server or Prometheus.
//
//	source, err := loadwatcher.New(loadwatcher.Options{Address: "http://load-watcher:2020", Apply: eng.Apply})
//	go source.Run(ctx)
//
// They are asked every half a minute: the service for the averages of its longest window; Prometheus
// for the average and the deviation of the last 15 minutes of load-watcher's recording rules,
//
//	avg_over_time(instance:node_cpu:ratio[15m])
//	stddev_over_time(instance:node_cpu:ratio[15m])
//	avg_over_time(instance:node_memory_utilisation:ratio[15m])
//	stddev_over_time(instance:node_memory_utilisation:ratio[15m])
//
// whose label "instance" must be the name of the node, with or without a port; and the API server for the
// latest NodeMetrics of metrics.k8s.io/v1beta1, which have no deviation.
//
// A report is passed on where it is newer than the last one of the node. A node that is left out keeps
// what was measured before, as all nodes do where nobody answers or the answer
// is nonsense: what is old is for the plugins to judge. What makes no sense of one node is left
// out and told to [Options].Failed, and the others are taken. Where one of Prometheus' queries fails the
// others count. berth-scheduler starts a Source for each watcherAddress and each metricProvider in
// its configuration.
package loadwatcher
