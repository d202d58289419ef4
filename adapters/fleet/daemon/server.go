package daemon

import (
	"github.com/spf13/cobra"

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
	Lost        job.Duration `json:"lost,omitzero"`
	Heartbeat   job.Duration `json:"heartbeat,omitzero"`
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
with --servers and --join-token-file (berth server join-token). Later starts
need neither.`,
		Args: cobra.NoArgs,
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
	s.addTo(c.Flags())
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
	return &server.Config{
		ID: s.Name, Dir: s.Data, Listen: s.Listen, Advertise: s.Advertise, Hosts: s.Hosts,
		Bootstrap: s.Bootstrap, Join: join, Version: version, Logger: log, Limits: server.Limits{Rate: s.Rate},
		Times: scheduler.Times{
			Unreachable: time.Duration(s.Unreachable), Lost: time.Duration(s.Lost), Heartbeat: time.Duration(s.Heartbeat),
		},
	}, nil
}
