package client

import (
	"context"
	"net/http"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// Accounts lists the accounts.
func (c *Client) Accounts(ctx context.Context) (api.AccountList, error) {
	return ask[api.AccountList](ctx, c, get("/v1/accounts", nil))
}

// SetAccount makes or changes an account.
func (c *Client) SetAccount(ctx context.Context, a api.Account) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/v1/accounts/" + segment(a.Name), body: a, safe: true})
}

// RemoveAccount removes an account that nothing needs.
func (c *Client) RemoveAccount(ctx context.Context, name string) error {
	return c.do(ctx, remove("/v1/accounts/"+segment(name)))
}

// Users lists the users of whom something is said.
func (c *Client) Users(ctx context.Context) (api.UserList, error) {
	return ask[api.UserList](ctx, c, get("/v1/users", nil))
}

// SetUser says something of a user, in place of what was said.
func (c *Client) SetUser(ctx context.Context, u api.User) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/v1/users/" + segment(u.Name), body: u, safe: true})
}

// RemoveUser takes back what was said of a user.
func (c *Client) RemoveUser(ctx context.Context, name string) error {
	return c.do(ctx, remove("/v1/users/"+segment(name)))
}

// Limits lists the limits.
func (c *Client) Limits(ctx context.Context) (api.LimitList, error) {
	return ask[api.LimitList](ctx, c, get("/v1/limits", nil))
}

// SetLimit makes or changes a limit.
func (c *Client) SetLimit(ctx context.Context, l api.Limit) error {
	return c.do(ctx, call{method: http.MethodPut, path: "/v1/limits/" + segment(l.Name), body: l, safe: true})
}

// RemoveLimit removes a limit.
func (c *Client) RemoveLimit(ctx context.Context, name string) error {
	return c.do(ctx, remove("/v1/limits/"+segment(name)))
}

// Shares lists queues and their users with what they are entitled to and use.
func (c *Client) Shares(ctx context.Context) (api.ShareList, error) {
	return ask[api.ShareList](ctx, c, get("/v1/shares", nil))
}

// Timeline is what is known of the future of nodes.
func (c *Client) Timeline(ctx context.Context) (api.Timeline, error) {
	return ask[api.Timeline](ctx, c, get("/v1/timeline", nil))
}

// Order lists what waits by its place, at most so many. A limit of 0 is the server's.
func (c *Client) Order(ctx context.Context, limit int) (api.TurnList, error) {
	return ask[api.TurnList](ctx, c, get("/v1/order", values("limit", number(limit))))
}
