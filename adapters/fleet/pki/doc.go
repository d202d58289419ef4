// Package pki is the fleet's own certificate authority, and what follows from
// it: who a certificate speaks for, the TLS settings of servers, agents and
// users, the tokens that new machines join with, and those that users bear.
//
// # Certificates
//
// Every certificate of a fleet speaks for one [Identity]: a role and a name. They
// stand in the certificate as a URI among its alternative names,
//
//	berth://fleet/server/s1
//	berth://fleet/agent/node-17
//	berth://fleet/user/alice
//	berth://fleet/operator/bob
//
// and the name is the subject's common name as well, for people. A certificate
// of the authority without exactly one such URI is refused everywhere.
//
// Servers and agents have the fixed DNS names [ServerDNS] and [AgentDNS] too.
// Clients verify these, so that the check does not depend on
// addresses; the addresses are in the certificate for browsers alone.
//
// # Files
//
//	ca.pem       the authority's certificate; everybody has it
//	ca-key.pem   its key; anyone who can read it controls the fleet
//	<name>.pem   a credential: certificate, authority's certificate, key
//
// A credential is one file, so that it is replaced in one step when it is
// renewed. A [Keeper] reads it again when it changes.
//
// # Joining
//
// A new machine has a join token and nothing else. It connects to a server that
// it cannot know yet and checks that the authority's certificate in the server's
// chain has the hash that stands in the token ([Token.TLS]); then it proves
// itself with the secret in the token and has its request signed
// ([Authority.Sign]). Servers keep a hash of the secret only.
package pki
