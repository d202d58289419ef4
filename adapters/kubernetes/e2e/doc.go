// Package e2e is the root of the module that tests berth-scheduler with a real
// Kubernetes control plane, all of it on this machine and on loopback.
//
//   - controlplane builds and runs etcd, kube-apiserver and the rest of Kubernetes
//     1.37.1, and schedulers, as child processes;
//   - cluster makes objects and waits for what happens to them;
//   - proxy makes trouble between a scheduler and the API server;
//   - scenario has what a user can see of a scheduler, story by story, for
//     kube-scheduler and berth-scheduler alike;
//   - placements compares what the two decide, pod by pod, on random clusters;
//   - kit runs the proof of adapters, package adaptertest, over the API server;
//   - sidebyside measures both with the workloads of upstream's scheduler_perf.
//
// The module is never released, and is not in the repository's workspace: only who
// runs "go test ./..." in this folder runs these tests. They need Linux and the Go
// module proxy. The first run builds Kubernetes: about eight minutes on two cores,
// 3 GB of memory, and 700 MB for the programs, which are kept for the next run in
// the folder that BERTH_E2E_BIN names, by default berth-e2e in the user's cache
// folder. (A change of go.mod or go.sum builds them again, into another subfolder;
// older ones may be deleted.) After that the tests take about half an hour, and about
// nine minutes with -short, which leaves out what needs load and kube-scheduler's half
// of the measurements.
package e2e
