package server

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Config says how a server works. Dir, ID and Listen are required.
type Config struct {
	// ID is the server's name, the same for all its life.
	ID string
	// Dir is the folder that has all that the server keeps. It is made where it is
	// not there.
	Dir string
	// Listen is host:port to listen on; Advertise is where others reach it. Default:
	// Listen.
	Listen, Advertise string
	// Hosts are further names and addresses for its certificate.
	Hosts []string
	// Bootstrap makes a new server the first of a new fleet. Join lets it take part in
	// one that is there. A server that has been started before needs neither.
	Bootstrap bool
	Join      *Join // see Bootstrap
	// Slowness stretches the times within which servers must hear of each other; see
	// replica.Config. Default: 1.
	Slowness float64
	// Times are pauses that decide about nodes.
	Times scheduler.Times
	// Packing is how GPUs are packed; see scheduler.Config. Default: BestFit.
	Packing string
	// Load says how measured load counts; see scheduler.Load. Default: nobody
	// measures it.
	Load scheduler.Load
	// Reservations is how many elements that wait have a reservation; see scheduler.Config.
	Reservations int
	// Forecasts is of how many elements that wait it is forecast when they start; see scheduler.Config.
	Forecasts int
	// Limits are those of requests.
	Limits Limits
	// Version of the program, for people.
	Version string
	Logger  hclog.Logger // default: none

	// knows is the newest version of the state that the server knows; tests have older servers.
	knows int
}

// Join says which fleet a new server is to take part in.
type Join struct {
	Servers []string // addresses of servers that do, any of them
	// Token is a join token for servers. It is not needed where the server has a
	// certificate already.
	Token string
}

// Limits are limits of requests. The zero value of each means its default.
type Limits struct {
	// Rate is how many requests a second one user may make, Burst how many at once. One
	// for many jobs or elements counts as several.
	// Agents, operators and servers are not limited. Defaults: 100, 200.
	Rate  float64
	Burst int // see Rate
	// Streams is how many streams of logs and events there may be at once; one user has
	// no more than a tenth of them. Default: 1,000.
	Streams int
	// Body is how long the body of a request may take to come, Write how long each 64
	// KiB of an answer may take to be read. Defaults: 30 s, 30 s.
	Body, Write time.Duration
}

func (c Config) withDefaults() Config {
	if c.Advertise == "" {
		c.Advertise = c.Listen
	}
	if c.Slowness == 0 {
		c.Slowness = 1
	}
	if c.knows == 0 {
		c.knows = state.Version
	}
	if c.Limits.Rate == 0 {
		c.Limits.Rate = 100
	}
	if c.Limits.Burst == 0 {
		c.Limits.Burst = 200
	}
	if c.Limits.Streams == 0 {
		c.Limits.Streams = 1000
	}
	if c.Limits.Body == 0 {
		c.Limits.Body = 30 * time.Second
	}
	if c.Limits.Write == 0 {
		c.Limits.Write = 30 * time.Second
	}
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	return c
}

func (c Config) validate() error {
	var problems []error
	bad := func(wrong bool, field, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf("%s: %w", field, fmt.Errorf(format, args...)))
		}
	}
	bad(c.ID == "", "ID", "it is empty")
	bad(!filepath.IsAbs(c.Dir), "Dir", "%q is not an absolute path", c.Dir)
	_, _, err := net.SplitHostPort(c.Listen)
	bad(err != nil, "Listen", "%w", err)
	host, _, err := net.SplitHostPort(c.Advertise)
	bad(err != nil, "Advertise", "%w", err)
	ip := net.ParseIP(host)
	bad(err == nil && (host == "" || ip != nil && ip.IsUnspecified()), "Advertise",
		"others cannot reach %q; give an address of this machine", c.Advertise)
	bad(c.Bootstrap && c.Join != nil, "Join", "a server that begins a new fleet cannot join another")
	_, err = scheduler.PackingOf(c.Packing)
	bad(err != nil, "Packing", "%w", err)
	err = c.Load.Validate()
	bad(err != nil, "Load", "%w", err)
	bad(c.Reservations < 0 || c.Reservations > scheduler.MaxReservations, "Reservations",
		"%d is not between 1 and %d", c.Reservations, scheduler.MaxReservations)
	bad(c.Forecasts < 0 || c.Forecasts > scheduler.MaxForecasts, "Forecasts",
		"%d is not between 0 and %d", c.Forecasts, scheduler.MaxForecasts)
	return errors.Join(problems...)
}

// The files of a server's folder.
const (
	credentialFile = "server.pem"
	adminFile      = "admin.pem" // of who begins a fleet
	raftDir        = "raft"
)

// drainTime is how long requests that are under way may take when the server ends.
const drainTime = 10 * time.Second
