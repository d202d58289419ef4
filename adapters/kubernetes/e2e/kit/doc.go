// Package kit is a test only: the kit that proves adapters (package adaptertest)
// passes over a real API server, as it does over one in memory in the adapter's own
// tests. There are no kubelets: the world of package kubetest runs and ends pods.
package kit
