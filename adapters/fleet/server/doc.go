// Package server is one server of a fleet: it takes part in the replication, leads
// when it is its turn, and answers users and agents.
//
// # One request's way
//
//	connection   TLS on one port; package muxer takes replication apart by ALPN
//	leader       the server that leads goes on; another hands the request on to it
//	identity     whose the client certificate or the bearer token is, by the state of
//	             the server that leads
//	role         routes.go says who may do what; jobs are their owner's besides
//	rate         so many requests a second from one identity
//	handler      reads a view of the state, or proposes a command
//	answer       JSON, or an api.Error
//
// # Who leads
//
// While this server leads it runs a scheduler.Controller. Each request makes sure first
// that no other leads by now, so that what was acknowledged is seen: what a read shows,
// and who may ask.
//
// # Goroutines
//
// Run owns all: the HTTP server's, the loop that leads, and what lets a new server
// take part. They are joined when it returns.
package server
