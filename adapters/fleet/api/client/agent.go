package client

import (
	"context"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// Register tells the servers of a node: POST /v1/agent/register.
func (c *Client) Register(ctx context.Context, r api.Registration) (api.Registered, error) {
	return ask[api.Registered](ctx, c, post("/v1/agent/register", r))
}

// Poll is the heartbeat of an agent: POST /v1/agent/poll. It returns when there is
// something new, or when the next heartbeat is due.
func (c *Client) Poll(ctx context.Context, r api.PollRequest) (api.PollResponse, error) {
	return ask[api.PollResponse](ctx, c, post("/v1/agent/poll", r))
}

// Report tells what happened to tasks: POST /v1/agent/report.
func (c *Client) Report(ctx context.Context, r api.ReportRequest) (api.ReportResponse, error) {
	return ask[api.ReportResponse](ctx, c, post("/v1/agent/report", r))
}
