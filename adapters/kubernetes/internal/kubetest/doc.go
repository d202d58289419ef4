// Package kubetest has what tests of the adapter stand on: [NewServer], an API server
// in memory that binds and deletes pods as the real one does, and [World], which
// plays the nodes' agents and the controllers over any API server, real or not, and
// is a harness for the kit that proves adapters.
package kubetest
