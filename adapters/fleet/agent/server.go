package agent

import (
	"context"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// Server is how an agent speaks to the servers, whichever answers. Each method may
// be called while another runs; each returns when its context ends.
type Server interface {
	Register(context.Context, api.Registration) (api.Registered, error)
	// Poll returns when there is something new, or when the next heartbeat is due.
	Poll(context.Context, api.PollRequest) (api.PollResponse, error)
	Report(context.Context, api.ReportRequest) (api.ReportResponse, error)
}
