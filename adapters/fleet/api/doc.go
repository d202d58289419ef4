// Package api has the types that servers, agents and clients send each other: as
// JSON, over HTTPS, below /v1. It is plain data.
//
// agent.go is what agents and servers say to each other; the other files are for
// users.
package api
