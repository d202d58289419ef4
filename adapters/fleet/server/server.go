package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
	"github.com/berth-project/berth/adapters/fleet/scheduler"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// Server is one server of a fleet.
type Server struct {
	cfg     Config
	keeper  *pki.Keeper
	state   *state.State
	replica *replica.Replica
	mux     *muxer.Mux
	addr    net.Addr
	started time.Time
	polls   *waiters
	limits  *limits
	proxy   *forwarder
	metrics *metrics

	leading atomic.Pointer[leadership]
	watched watched
	revoked chan struct{} // has room for one: certificates have been
	// restoring is held while a backup is being restored, and shared by what revokes.
	restoring sync.RWMutex
	// joining is held while a server is added or removed: one that is being removed does
	// not come back before its certificates are revoked.
	joining sync.Mutex
	failed  chan error // has why this server ends
}

// leadership is one term in which this server leads.
type leadership struct {
	*scheduler.Controller
	term  uint64
	since time.Time
	done  <-chan struct{}
}

// machine is the state as the replication knows it.
type machine struct{ *state.State }

// Restore implements replica.Machine.
func (m machine) Restore(r io.Reader) error {
	err := m.State.Restore(r)
	if errors.Is(err, state.ErrNewer) {
		return fmt.Errorf("%w (%w)", replica.ErrNewer, err)
	}
	return err
}

// Snapshot implements replica.Machine.
func (m machine) Snapshot() (replica.Picture, error) { return m.State.Snapshot(), nil }

// New makes a server, and listens: where it is new it makes or asks for its
// certificate first. It answers when Run runs. Close ends a server that is not run.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if err := prepare(ctx, &cfg); err != nil {
		return nil, err
	}
	s := &Server{
		cfg: cfg, started: time.Now(), polls: newWaiters(), limits: newLimits(cfg.Limits),
		failed: make(chan error, 1), revoked: make(chan struct{}, 1), watched: watched{all: map[*watch]struct{}{}},
	}
	s.state = state.New(s.changed)
	var err error
	s.keeper, err = pki.NewKeeper(pki.Files{
		CA: filepath.Join(cfg.Dir, pki.CAFile), Credential: filepath.Join(cfg.Dir, credentialFile),
	}, cfg.Logger.Named("pki"))
	if err != nil {
		return nil, err
	}
	s.proxy = s.newForwarder()
	if err := s.open(); err != nil {
		return nil, err
	}
	s.metrics = newMetrics(s)
	return s, nil
}

// open opens the replication and the port.
func (s *Server) open() error {
	l, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("server %s: %w", s.cfg.ID, err)
	}
	s.addr = l.Addr()
	s.replica, err = replica.Open(replica.Config{
		ID: s.cfg.ID, Address: s.cfg.Advertise, Dir: filepath.Join(s.cfg.Dir, raftDir), Machine: machine{s.state}, Knows: uint8(s.cfg.knows),
		Keeper: s.keeper, Trust: s.trust, Bootstrap: s.cfg.Bootstrap, Slowness: s.cfg.Slowness, Log: s.cfg.Logger.Named("replica"),
	})
	if err != nil {
		l.Close()
		return err
	}
	s.mux = muxer.New(l, muxer.Config{
		TLS:      s.keeper.ServerTLS(replica.ALPN, "h2", "http/1.1"),
		Handlers: map[string]func(*tls.Conn){replica.ALPN: s.replica.Handoff},
		Log:      s.cfg.Logger.Named("tls"),
	})
	return nil
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.addr }

// Close ends a server that is not run.
func (s *Server) Close() error { return errors.Join(s.mux.Close(), s.replica.Close()) }

// Run answers, and leads when it is this server's turn, until ctx ends. It can be
// called once. An error means that the server has failed and should be started
// again.
func (s *Server) Run(ctx context.Context) error {
	h := s.httpServer(s.handler())
	all, inner := errgroup.WithContext(ctx)
	h.BaseContext = func(net.Listener) context.Context { return inner }
	all.Go(func() error {
		if err := h.Serve(s.mux.HTTP()); !errors.Is(err, http.ErrServerClosed) && inner.Err() == nil {
			return fmt.Errorf("server %s: %w", s.cfg.ID, err)
		}
		return nil
	})
	all.Go(func() error {
		if err := s.replica.Lead(inner, s.lead); inner.Err() == nil {
			return fmt.Errorf("server %s: %w", s.cfg.ID, errors.Join(err, s.replica.Err()))
		}
		return nil
	})
	all.Go(func() error {
		select {
		case err := <-s.failed:
			return fmt.Errorf("server %s: %w", s.cfg.ID, err)
		case <-inner.Done():
			return nil
		}
	})
	all.Go(func() error { return s.takePart(inner) })
	all.Go(func() error {
		_ = s.replica.Lead(inner, s.raise) // s.lead ends in the same way, and says so
		return nil
	})
	all.Go(func() error { s.renew(inner); return nil })
	all.Go(func() error { s.cutOff(inner); return nil })
	all.Go(func() error {
		<-inner.Done()
		s.end(ctx, h)
		return nil
	})
	err := all.Wait()
	return errors.Join(err, s.replica.Close())
}

// httpServer answers with a handler, within the limits of slow callers.
func (s *Server) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: s.inTime(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: s.cfg.Logger.Named("http").StandardLogger(nil),
		// Of what is left in buffers when a stream was ended.
		HTTP2:       &http.HTTP2Config{WriteByteTimeout: s.cfg.Limits.Write},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
	}
}

// connection is the key under which the context of a request has its net.Conn.
type connection struct{}

// end ends what answers. A leader hands over before.
func (s *Server) end(ctx context.Context, h *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if _, leads := s.replica.Leads(); leads {
		if err := s.replica.TransferLeadership(ctx); err != nil {
			s.cfg.Logger.Debug("leadership was not handed over", "error", err)
		}
	}
	err := h.Shutdown(ctx)
	s.mux.Close() // from here on no connection lingers
	if err != nil {
		h.Close()
	}
	s.proxy.close()
}

// changed is told of every change of the state.
func (s *Server) changed(ch state.Changed) {
	if l := s.leading.Load(); l != nil {
		l.Changed(ch)
	}
	if ch.Revoked || ch.All {
		s.watched.recheck(s.who)
		select {
		case s.revoked <- struct{}{}:
		default: // they will be looked at
		}
	}
	if ch.All {
		s.polls.wakeAll()
		return
	}
	s.polls.wake(ch.Nodes)
}

// lead is what this server does in one term in which it leads.
func (s *Server) lead(ctx context.Context, term uint64) {
	log := s.cfg.Logger.With("term", term)
	packing, _ := scheduler.PackingOf(s.cfg.Packing) // validated
	c, err := scheduler.New(scheduler.Config{
		State: s.state, Propose: s.propose, Term: term, Times: s.cfg.Times, Packing: packing, Load: s.cfg.Load, Reservations: s.cfg.Reservations, Forecasts: s.cfg.Forecasts, Logger: log.Named("scheduler"),
	})
	if err != nil {
		s.fail(fmt.Errorf("it cannot lead: %w", err))
		return
	}
	s.raiseAlone(ctx, term)
	log.Info("this server leads")
	s.leading.Store(&leadership{Controller: c, term: term, since: time.Now(), done: ctx.Done()})
	defer func() {
		s.leading.Store(nil)
		s.polls.wakeAll()
		log.Info("this server does not lead any more")
	}()
	if err := c.Run(ctx); err != nil && ctx.Err() == nil {
		s.fail(fmt.Errorf("scheduling failed: %w", err))
	}
}

// fail ends Run. A server that leads and does nothing would keep others from it.
func (s *Server) fail(err error) {
	select {
	case s.failed <- err:
	default: // it ends already
	}
}

// propose has a command recorded.
func (s *Server) propose(ctx context.Context, c *state.Command) (state.Result, error) {
	c.At = time.Now().UTC()
	version, err := s.versionFor(c)
	if err != nil {
		return state.Result{}, err
	}
	text, err := c.Encode()
	if err != nil {
		return state.Result{}, err
	}
	r, err := s.replica.Propose(ctx, version, text)
	if err != nil {
		return state.Result{}, err
	}
	return r.(state.Result), nil
}

// do has a command of somebody recorded, and gives back what a handler needs.
func (s *Server) do(r *request, c *state.Command) (state.Result, error) {
	c.By = r.who.Name
	result, err := s.propose(r.Context(), c)
	switch {
	case errors.Is(err, replica.ErrLost):
		return result, errUnknown
	case errors.Is(err, replica.ErrNotLeader), errors.Is(err, replica.ErrClosed):
		return result, errNoLeader
	case errors.Is(err, replica.ErrTooBig):
		return result, fail(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "the request is too large to be recorded")
	case err != nil:
		return result, err
	case result.Err != nil:
		return result, statusOf(result.Err)
	}
	return result, nil
}
