// Package kubernetes is the root of the module that lets Berth work for
// Kubernetes.
//
// What is there:
//
//   - convert turns Kubernetes' objects into the model: every field that a
//     decision of kube-scheduler 1.37.1 reads, and a test that says of every
//     other field why it may be left out.
//   - cel evaluates the selectors of devices, for the plugin DynamicResources.
//
// The adapter itself, which watches an API server and binds pods, is not built
// yet.
//
// The module is one of its own because the libraries of Kubernetes are heavy:
// who links Berth's engine into a program does not get them.
package kubernetes
