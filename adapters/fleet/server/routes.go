package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/replica/muxer"
	"github.com/berth-project/berth/adapters/fleet/web"
)

// handler answers a request: with a value, nil for none, or an error. One that has
// answered by itself returns answered.
type handler func(r *request) (any, error)

// answered says that the handler has answered by itself.
var answered any = struct{}{}

// route is one thing that can be asked.
type route struct {
	pattern string // as of http.ServeMux
	roles   []pki.Role
	where   place
	handler handler
}

// place says which servers answer.
type place uint8

const (
	anywhere place = iota // every server
	leader                // the one that leads
)

var (
	people    = []pki.Role{pki.User, pki.Operator}
	operators = []pki.Role{pki.Operator}
	agents    = []pki.Role{pki.Agent}
	servers   = []pki.Role{pki.Server}
	// peopleAndServers: a leader asks the other servers what they know, and they ask it who that is.
	peopleAndServers = []pki.Role{pki.User, pki.Operator, pki.Server}
)

// routes is the one table of what can be asked, and by whom. That jobs are their
// owner's is seen by the handlers.
func (s *Server) routes() []route {
	return []route{
		{"POST /v1/jobs", people, leader, s.submit},
		{"GET /v1/jobs", people, leader, s.listJobs},
		{"GET /v1/jobs/{id}", people, leader, s.showJob},
		{"GET /v1/jobs/{id}/explain", people, leader, s.explain},
		{"GET /v1/jobs/{id}/logs", people, leader, s.logs},
		{"POST /v1/jobs/{id}/cancel", people, leader, s.cancel},
		{"POST /v1/jobs/{id}/hold", people, leader, s.hold},
		{"POST /v1/jobs/{id}/release", people, leader, s.release},
		{"POST /v1/jobs/{id}/requeue", people, leader, s.requeue},

		{"GET /v1/nodes", people, leader, s.listNodes},
		{"GET /v1/nodes/{name}", people, leader, s.showNode},
		{"POST /v1/nodes/{name}/drain", operators, leader, s.drain},
		{"POST /v1/nodes/{name}/resume", operators, leader, s.resume},
		{"POST /v1/nodes/{name}/maintenance", operators, leader, s.maintenance},
		{"POST /v1/nodes/{name}/labels", operators, leader, s.label},
		{"DELETE /v1/nodes/{name}", operators, leader, s.removeNode},

		{"GET /v1/queues", people, leader, s.listQueues},
		{"PUT /v1/queues/{name}", operators, leader, s.putQueue},
		{"DELETE /v1/queues/{name}", operators, leader, s.removeQueue},

		{"GET /v1/accounts", people, leader, s.listAccounts},
		{"PUT /v1/accounts/{name}", operators, leader, s.putAccount},
		{"DELETE /v1/accounts/{name}", operators, leader, s.removeAccount},
		{"GET /v1/users", people, leader, s.listUsers},
		{"PUT /v1/users/{name}", operators, leader, s.putUser},
		{"DELETE /v1/users/{name}", operators, leader, s.removeUser},
		{"GET /v1/limits", people, leader, s.listLimits},
		{"PUT /v1/limits/{name}", operators, leader, s.putLimit},
		{"DELETE /v1/limits/{name}", operators, leader, s.removeLimit},

		{"GET /v1/shares", people, leader, s.listShares},
		{"GET /v1/timeline", people, leader, s.timeline},
		{"GET /v1/order", people, leader, s.listOrder},

		{"GET /v1/reservations", people, leader, s.listReservations},
		{"POST /v1/reservations", operators, leader, s.addReservation},
		{"DELETE /v1/reservations/{name}", operators, leader, s.removeReservation},

		{"GET /v1/events", people, leader, s.events},
		{"GET /v1/usage", people, leader, s.usage},
		{"GET /v1/records", people, leader, s.records},

		{"GET /v1/self", peopleAndServers, anywhere, s.self},
		{"GET /v1/tokens", operators, leader, s.listTokens},
		{"POST /v1/tokens", operators, leader, s.createToken},
		{"DELETE /v1/tokens/{id}", operators, leader, s.removeToken},
		{"POST /v1/join-tokens", operators, leader, s.createJoinToken},
		{"GET /v1/revocations", operators, leader, s.listRevocations},
		{"POST /v1/revocations", operators, leader, s.revoke},

		{"GET /v1/server/status", peopleAndServers, anywhere, s.status},
		{"GET /v1/server/members", operators, leader, s.members},
		{"POST /v1/server/members", servers, leader, s.addMember},
		{"DELETE /v1/server/members/{id}", operators, leader, s.removeMember},
		{"GET /v1/server/backup", operators, leader, s.backup},
		{"POST /v1/server/restore", operators, leader, s.restore},

		{"POST /v1/agent/register", agents, leader, s.register},
		{"POST /v1/agent/poll", agents, leader, s.poll},
		{"POST /v1/agent/report", agents, leader, s.report},
	}
}

// handler is all that the server answers.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range s.routes() {
		mux.Handle(rt.pattern, s.metrics.count(rt.pattern, s.serve(rt)))
	}
	mux.Handle("POST /v1/join", http.HandlerFunc(s.join))
	mux.Handle("GET /metrics", s.metrics.handler())
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /v1/openapi.yaml", openAPI)
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		answerError(w, fail(http.StatusNotFound, api.CodeNotFound, "there is nothing at %s %s", r.Method, r.URL.Path))
	})
	mux.Handle("/", web.Handler())
	return sameOrigin(mux)
}

// sameOrigin refuses what the pages of other sites have a browser ask for: it would
// show its user's certificate to them too.
func sameOrigin(h http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answerError(w, fail(http.StatusForbidden, api.CodeForbidden, "the page of another site may not ask for this"))
	}))
	return p.Handler(h)
}

// inTime enforces deadlines for reading requests and for writing answers. Bodies that
// no handler reads count too, because the connection cannot be reused before they are
// drained.
func (s *Server) inTime(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body *timedBody
		if r.Body != nil && r.Body != http.NoBody {
			c := http.NewResponseController(w)
			if c.SetReadDeadline(time.Now().Add(s.cfg.Limits.Body)) == nil {
				body = &timedBody{ReadCloser: r.Body, conn: c}
				r.Body = body
			}
		}
		p := newPatient(w, s.cfg.Limits.Write, body)
		defer p.hurry() // what is in buffers is written after this
		h.ServeHTTP(p, r)
		if r.ProtoMajor == 1 && body != nil && !body.whole.Load() {
			conn, _ := r.Context().Value(connection{}).(net.Conn)
			muxer.Linger(conn)
		}
	})
}

// timedBody takes the time limit back when all has been read: from then on what is
// read is whether the caller has gone.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController

	whole atomic.Bool // all was read

	mu   sync.Mutex
	done bool // nothing more is read
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.set(time.Time{}, true) // else the next read says so
		b.whole.Store(true)
	}
	return n, err
}

// limit sets the time by which the rest must have come; zero: it may take any time.
func (b *timedBody) limit(at time.Time) { b.set(at, false) }

// stop ends the reading, also one that is under way.
func (b *timedBody) stop() { b.set(time.Now(), true) }

// set sets the time, unless nothing more is read, and notes whether that is so now.
func (b *timedBody) set(at time.Time, done bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		_ = b.conn.SetReadDeadline(at) // the next read says so
		b.done = done
	}
}

// serve does what is the same for all routes.
func (s *Server) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		v, err := s.answerTo(rt, w, hr)
		switch {
		case err != nil:
			answerError(w, s.errorOf(hr, err))
		case v == nil:
			w.WriteHeader(http.StatusNoContent)
		case v != answered:
			answer(w, http.StatusOK, v)
		}
	})
}

// answerTo has the server that leads say who asks, and the right server answer.
func (s *Server) answerTo(rt route, w http.ResponseWriter, hr *http.Request) (any, error) {
	r := &request{Request: hr, w: w}
	var err error
	if r.shown, err = shown(hr); err != nil {
		return nil, err
	}
	address, err := s.confirm(r)
	switch {
	case err != nil:
	case r.lead != nil:
		r.who, err = s.who(r.shown)
	case rt.where == anywhere:
		r.who, err = s.askWho(hr.Context(), r.shown, address)
	default:
		s.handOn(r, address)
		return answered, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.Contains(rt.roles, r.who.Role) {
		return nil, fail(http.StatusForbidden, api.CodeForbidden, "%s may not do this", r.who)
	}
	if !s.limits.allow(r.who, 1) {
		return nil, errRate
	}
	return rt.handler(r)
}

// confirm makes sure that this server leads, and sets r.lead: all that was acknowledged
// before the request came is in its state then. Where another leads it returns that
// one's address.
func (s *Server) confirm(r *request) (address string, err error) {
	s.waitForLeader(r.Context())
	if r.lead = s.leading.Load(); r.lead != nil {
		if s.replica.Verify(r.Context()) != nil {
			return "", errNoLeader
		}
		return "", nil
	}
	address, ok := s.leaderAddress()
	if !ok || r.shown.via != nil {
		return "", errNoLeader // a request is handed on once, lest it go round
	}
	return address, nil
}
