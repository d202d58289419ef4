package daemon

import (
	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/server"
	"time"
)

// ServerSettings are those of "berth server".
type ServerSettings struct {
	Common
	// Bootstrap begins a new fleet, where the data folder has none yet.
	Bootstrap bool `json:"bootstrap,omitempty"`
	// Hosts are further names and addresses for the certificate.
	Hosts []string `json:"hosts,omitempty"`
	// Unreachable is how long a heartbeat may be late before a node gets no more tasks,
	// Lost how long it then keeps those that it has. Heartbeat is the shortest time
	// between two of them. Defaults: 10 s, 5 min, 2 s.
	Unreachable job.Duration `json:"unreachable,omitzero"`
	Lost        job.Duration `json:"lost,omitzero"`      // see Unreachable
	Heartbeat   job.Duration `json:"heartbeat,omitzero"` // see Unreachable
	// Packing is how GPUs are packed, in the terms of package devicepacking. Rollout learns
	// from the tasks that run what the next ones will need, and leaves fewer GPUs idle that
	// nobody can use, where GPUs are shared, tasks differ in size, and the fleet
	// runs full. Elsewhere BestFit does as well and costs less. It counts where the server
	// leads, so all servers should have the same. Default: BestFit.
	Packing string `json:"packing,omitempty"`
	// Load says whether agents measure how busy nodes are, and how it counts. It holds where the
	// server leads, as Packing does. Default: nobody measures it.
	Load scheduler.Load `json:"load,omitzero"`
	// Reservations is how many of the jobs that wait have a reservation, and with it an expected
	// start, the first ones in the order; an element of an array counts as a job. What comes later starts
	// sooner only where it delays none of them. Many gangs that wait with a reservation take more
	// processor time than a server has. It counts where the server leads, as Packing
	// does. From 1 to 10,000. Default: 1.
	Reservations int `json:"reservations,omitempty"`
	// Forecasts is of how many of the jobs that wait it is forecast when they will probably start, the
	// first ones in the order; an element of an array counts as a job. It counts where the server leads,
	// as Packing does. Forecasts are for people; one is under way for at most a twentieth of the
	// time. At most 1,000. Default: 0, no forecasts.
	Forecasts int `json:"forecasts,omitempty"`
	// Rate is how many requests a second one user may make. Default: 100.
	Rate float64 `json:"rate,omitempty"`
}

// ServerCommand is "berth server".
func ServerCommand(version string) *cobra.Command {
	var s ServerSettings
	var config string
	c := &cobra.Command{
		Use:   "server",
		Short: "Run a server of the fleet",
		Long: `Run a server of the fleet, until it is interrupted.

The first server of a new fleet is started with --bootstrap; it writes the
certificate of its first operator to admin.pem in its data folder. Others join
with --servers and --join-token-file (berth server join-token server). Later starts
need neither.

If no operator has a certificate or a token any more, a user who can read the data
folder can make a new certificate: berth ca issue operator NAME --dir DATA.`,
		Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flagsOver(c.Flags(), func() error { return readSettings(config, &s) }); err != nil {
				return err
			}
			cfg, err := s.config(version)
			if err != nil {
				return err
			}
			srv, err := server.New(c.Context(), *cfg)
			if err != nil {
				return err
			}
			cfg.Logger.Info("the server listens", "address", srv.Addr().String(), "name", cfg.ID)
			return srv.Run(c.Context())
		},
	}
	s.addTo(c.Flags(), serverData, serverPort)
	c.Flags().StringVar(&config, "config", "", "`file` of settings (YAML)")
	c.Flags().BoolVar(&s.Bootstrap, "bootstrap", false, "begin a new fleet")
	return c
}

// config is what the server is made from.
func (s *ServerSettings) config(version string) (*server.Config, error) {
	if err := s.fill(serverData, serverPort); err != nil {
		return nil, err
	}
	log, err := s.logger()
	if err != nil {
		return nil, err
	}
	join, err := s.join(server.Enrolled(s.Data))
	if err != nil {
		return nil, err
	}
	if s.Bootstrap && join != nil {
		return nil, command.Mistakef("--bootstrap begins a new fleet, and --servers and --join-token-file join one that there is: give the one or the other")
	}
	return &server.Config{
		ID: s.Name, Dir: s.Data, Listen: s.Listen, Advertise: s.Advertise, Hosts: s.Hosts,
		Bootstrap: s.Bootstrap, Join: join, Version: version, Logger: log, Packing: s.Packing, Load: s.Load, Reservations: s.Reservations, Forecasts: s.Forecasts, Limits: server.Limits{Rate: s.Rate},
		Times: scheduler.Times{
			Unreachable: time.Duration(s.Unreachable), Lost: time.Duration(s.Lost), Heartbeat: time.Duration(s.Heartbeat),
		},
	}, nil
}
