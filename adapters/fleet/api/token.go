package api

import "time"

// Role says what somebody may do.
type Role string

// The roles. An operator may do all that a user may, to everybody's jobs.
const (
	RoleUser     Role = "user"
	RoleOperator Role = "operator"
	RoleAgent    Role = "agent"
	RoleServer   Role = "server"
)

// TokenRequest makes a bearer token: POST /v1/tokens.
type TokenRequest struct {
	Role Role   `json:"role"` // user or operator
	Name string `json:"name"` // the user's
	// Expires is when it ends to be good. Zero: never.
	Expires time.Time `json:"expires,omitzero"`
}

// TokenResponse is the only time that a token is shown.
type TokenResponse struct {
	Token string `json:"token"` // to be presented as a bearer token
	TokenInfo
}

// TokenInfo is what is known of a token.
type TokenInfo struct {
	ID      string    `json:"id"`               // the first part of its hash
	Role    Role      `json:"role"`             // what its bearer may do
	Name    string    `json:"name,omitempty"`   // the user's
	Created time.Time `json:"created"`          // when it was made
	Expires time.Time `json:"expires,omitzero"` // zero: never
	By      string    `json:"by,omitempty"`     // who made it
}

// TokenList is the answer to GET /v1/tokens; DELETE /v1/tokens/{id} removes one.
type TokenList struct {
	Tokens []TokenInfo `json:"tokens"` // all there are
}

// Self says who the server takes the caller for: GET /v1/self.
type Self struct {
	Role Role   `json:"role"` // what the caller may do
	Name string `json:"name"` // the caller's
}

// JoinTokenRequest makes a token for new servers or agents: POST /v1/join-tokens.
type JoinTokenRequest struct {
	Role    Role      `json:"role"`             // agent or server
	Expires time.Time `json:"expires,omitzero"` // when it ends to be good; zero: never
}

// JoinRequest asks for a certificate: POST /v1/join, with the secret of a join
// token as the bearer token. It is also how a certificate is renewed, with the
// present one instead.
type JoinRequest struct {
	Name string `json:"name"` // the node's, or the server's ID
	// CSR is a certificate request, as PEM; only its key counts.
	CSR string `json:"csr"`
	// Hosts are names and addresses for the certificate.
	Hosts []string `json:"hosts,omitempty"`
}

// JoinResponse has what the joiner needs.
type JoinResponse struct {
	Certificate string `json:"certificate"` // PEM
	CA          string `json:"ca"`          // PEM
	// CAKey is for servers only, so that each can let others join.
	CAKey   string   `json:"caKey,omitempty"`
	Servers []string `json:"servers"` // addresses
}

// RevocationRequest ends certificates before their time: POST /v1/revocations.
type RevocationRequest struct {
	// ID is a certificate's serial number, hexadecimal, or whose certificates: role/name,
	// such as "user/alice", for all that were made until now. That removes the tokens
	// of the role and name as well.
	ID string `json:"id"`
	// Expires is when the certificate ends by itself, and need not be remembered any
	// more. Default: with the authority's.
	Expires time.Time `json:"expires,omitzero"`
	// Own: it may be what the caller herself shows. Without it that is refused: the
	// last operator would need a certificate that is made on a server.
	Own bool `json:"own,omitempty"`
}

// Revocation lists certificates that are no longer valid. It cannot be undone: to
// restore access, issue a new certificate.
type Revocation struct {
	ID      string    `json:"id"`           // what was revoked
	Created time.Time `json:"created"`      // when it was
	Expires time.Time `json:"expires"`      // as in RevocationRequest
	By      string    `json:"by,omitempty"` // who asked for it
}

// RevocationResponse is what was revoked, and the IDs of the tokens that were removed with
// it.
type RevocationResponse struct {
	Revocation
	Tokens []string `json:"tokens,omitempty"` // that ended with it
	// Jobs is how many jobs of a user or operator have not ended: they go on.
	Jobs int `json:"jobs,omitempty"`
}

// RevocationList is the answer to GET /v1/revocations.
type RevocationList struct {
	Revocations []Revocation `json:"revocations"` // all there are
}
