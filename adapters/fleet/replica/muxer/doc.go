// Package muxer lets several protocols share one port. It does the TLS handshake
// of each connection, and hands it on by the protocol that the client asked for
// (ALPN): those of a protocol with a handler to that, all others to a listener
// that net/http serves.
package muxer
