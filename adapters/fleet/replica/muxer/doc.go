// Package muxer lets several protocols share one port. It does the TLS handshake
// of each connection, and hands it on by the protocol that the client asked for
// (ALPN): those of a protocol with a handler to that, all others to a listener
// that net/http serves.
//
// It limits how many connections are open, and how many of those showed no
// certificate, in all and from one address, so that who has none cannot keep out
// those who have.
package muxer
