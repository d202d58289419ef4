package client

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// reconnect is the pause before a stream that broke off is taken up.
const reconnect = 200 * time.Millisecond

func nodePath(name string) string { return "/v1/nodes/" + segment(name) }

// Nodes lists nodes by name: one page of them. A limit of 0 is the server's.
func (c *Client) Nodes(ctx context.Context, limit int, after string) (api.NodeList, error) {
	return ask[api.NodeList](ctx, c, get("/v1/nodes", values("limit", number(limit), "after", after)))
}

// Node is one node.
func (c *Client) Node(ctx context.Context, name string) (api.Node, error) {
	return ask[api.Node](ctx, c, get(nodePath(name), nil))
}

// DrainNode keeps new tasks away from a node, and ends those that run at the
// deadline.
func (c *Client) DrainNode(ctx context.Context, name string, d api.Drain) error {
	return c.do(ctx, post(nodePath(name)+"/drain", d))
}

// ResumeNode undoes DrainNode.
func (c *Client) ResumeNode(ctx context.Context, name string) error {
	return c.do(ctx, post(nodePath(name)+"/resume", nil))
}

// MaintainNode sets a maintenance window; one without From and To ends it.
func (c *Client) MaintainNode(ctx context.Context, name string, m api.Maintenance) error {
	return c.do(ctx, post(nodePath(name)+"/maintenance", m))
}

// LabelNode changes the operator's labels of a node.
func (c *Client) LabelNode(ctx context.Context, name string, l api.Labels) error {
	return c.do(ctx, post(nodePath(name)+"/labels", l))
}

// RemoveNode forgets a node.
func (c *Client) RemoveNode(ctx context.Context, name string) error {
	return c.do(ctx, remove(nodePath(name)))
}

// Queues lists queues.
func (c *Client) Queues(ctx context.Context) (api.QueueList, error) {
	return ask[api.QueueList](ctx, c, get("/v1/queues", nil))
}

// SetQueue makes or changes a queue.
func (c *Client) SetQueue(ctx context.Context, q api.Queue) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/v1/queues/" + segment(q.Name), body: q, safe: true})
}

// RemoveQueue removes an empty queue.
func (c *Client) RemoveQueue(ctx context.Context, name string) error {
	return c.do(ctx, remove("/v1/queues/"+segment(name)))
}

// Reservations lists reservations.
func (c *Client) Reservations(ctx context.Context) (api.ReservationList, error) {
	return ask[api.ReservationList](ctx, c, get("/v1/reservations", nil))
}

// AddReservation sets nodes aside. It is not repeated where it may have been carried out:
// the second would find the first.
func (c *Client) AddReservation(ctx context.Context, r api.Reservation) (api.ReservationResponse, error) {
	return ask[api.ReservationResponse](ctx, c, once("/v1/reservations", r))
}

// RemoveReservation deletes a reservation.
func (c *Client) RemoveReservation(ctx context.Context, name string) error {
	return c.do(ctx, remove("/v1/reservations/"+segment(name)))
}

// Usage lists what users, or jobs, have used; by is "user" or "job".
func (c *Client) Usage(ctx context.Context, by, owner, after string) (api.UsageList, error) {
	return ask[api.UsageList](ctx, c, get("/v1/usage", values("by", by, "owner", owner, "after", after)))
}

// RecordFilter says which records a list has. What is zero does not matter.
type RecordFilter struct {
	Owner string    // empty: of all users
	Since time.Time // attempts that ended then or later; zero: all
	Limit int       // how many on the page; 0: the default of the server
	After string    // After of the page before; empty: the first page
}

// Records lists ended attempts, the oldest first: one page of them.
func (c *Client) Records(ctx context.Context, f RecordFilter) (api.RecordList, error) {
	since := ""
	if !f.Since.IsZero() {
		since = f.Since.UTC().Format(time.RFC3339Nano)
	}
	return ask[api.RecordList](ctx, c, get("/v1/records", values("owner", f.Owner, "since", since, "limit", number(f.Limit), "after", f.After)))
}

// Self says who the servers take the client for.
func (c *Client) Self(ctx context.Context) (api.Self, error) {
	return ask[api.Self](ctx, c, get("/v1/self", nil))
}

// CreateToken makes a bearer token. It is not repeated where it may have been made.
func (c *Client) CreateToken(ctx context.Context, r api.TokenRequest) (api.TokenResponse, error) {
	return ask[api.TokenResponse](ctx, c, once("/v1/tokens", r))
}

// Tokens lists tokens, without their secrets.
func (c *Client) Tokens(ctx context.Context) (api.TokenList, error) {
	return ask[api.TokenList](ctx, c, get("/v1/tokens", nil))
}

// RemoveToken ends a token.
func (c *Client) RemoveToken(ctx context.Context, id string) error {
	return c.do(ctx, remove("/v1/tokens/"+segment(id)))
}

// CreateJoinToken makes a token for new servers or agents. It is not repeated
// where it may have been made.
func (c *Client) CreateJoinToken(ctx context.Context, r api.JoinTokenRequest) (api.TokenResponse, error) {
	return ask[api.TokenResponse](ctx, c, once("/v1/join-tokens", r))
}

// Revoke ends certificates before their time; for a role and name, tokens as well.
func (c *Client) Revoke(ctx context.Context, r api.RevocationRequest) (api.RevocationResponse, error) {
	return ask[api.RevocationResponse](ctx, c, post("/v1/revocations", r))
}

// Revocations lists what certificates are not good any more.
func (c *Client) Revocations(ctx context.Context) (api.RevocationList, error) {
	return ask[api.RevocationList](ctx, c, get("/v1/revocations", nil))
}

// Join asks for a certificate, with the secret of a join token as Config.Token; or
// renews the one that the client has.
func (c *Client) Join(ctx context.Context, r api.JoinRequest) (api.JoinResponse, error) {
	return ask[api.JoinResponse](ctx, c, post("/v1/join", r))
}

// ServerStatus is how the server that is asked sees itself.
func (c *Client) ServerStatus(ctx context.Context) (api.ServerStatus, error) {
	return ask[api.ServerStatus](ctx, c, get("/v1/server/status", nil))
}

// Members lists the servers.
func (c *Client) Members(ctx context.Context) (api.MemberList, error) {
	return ask[api.MemberList](ctx, c, get("/v1/server/members", nil))
}

// AddMember lets a server take part.
func (c *Client) AddMember(ctx context.Context, m api.MemberRequest) error {
	return c.do(ctx, post("/v1/server/members", m))
}

// RemoveMember has a server take part no longer.
func (c *Client) RemoveMember(ctx context.Context, id string) error {
	return c.do(ctx, remove("/v1/server/members/"+segment(id)))
}

// Backup is a copy of the state. The caller closes it.
func (c *Client) Backup(ctx context.Context) (io.ReadCloser, error) {
	response, err := c.send(ctx, get("/v1/server/backup", nil))
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Restore replaces the state by a copy that Backup made. It is sent once.
func (c *Client) Restore(ctx context.Context, backup io.Reader) error {
	return c.do(ctx, call{method: http.MethodPost, path: "/v1/server/restore", stream: backup})
}
