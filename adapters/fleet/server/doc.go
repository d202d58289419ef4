// Package server is one server of a fleet: it takes part in the replication, leads
// when it is its turn, and answers users and agents.
//
// # One request's way
//
//	connection   TLS on one port; package muxer takes replication apart by ALPN
//	identity     from a client certificate, a bearer token, or, where another server
//	             hands the request on, from that server
//	role         routes.go says who may do what; jobs are their owner's besides
//	rate         so many requests a second from one identity
//	leader       what is about the state goes to the server that leads
//	handler      reads a view of the state, or proposes a command
//	answer       JSON, or an api.Error
//
// # Who leads
//
// While this server leads it runs a scheduler.Controller. A read makes sure first
// that no other leads by now, so that what was acknowledged is seen.
//
// # Goroutines
//
// Run owns all: the HTTP server's, the loop that leads, and what lets a new server
// take part. They are joined when it returns.
package server
