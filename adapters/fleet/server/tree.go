package server

import (
	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// errPath: what is sent is called otherwise than the path says.
var errPath = invalid("name", "it is not that of the path")

// listAccounts answers GET /v1/accounts.
func (s *Server) listAccounts(*request) (any, error) {
	out := api.AccountList{Accounts: []api.Account{}}
	for a := range s.state.View().Accounts() {
		out.Accounts = append(out.Accounts, *a)
	}
	return out, nil
}

// putAccount answers PUT /v1/accounts/{name}. The state says what is wrong with it.
func (s *Server) putAccount(r *request) (any, error) {
	var a api.Account
	if err := r.decode(&a, false); err != nil {
		return nil, err
	}
	if a.Name != r.PathValue("name") {
		return nil, errPath
	}
	_, err := s.do(r, &state.Command{PutAccount: &a})
	return nil, err
}

// removeAccount answers DELETE /v1/accounts/{name}.
func (s *Server) removeAccount(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveAccount: r.PathValue("name")})
	return nil, err
}

// listUsers answers GET /v1/users.
func (s *Server) listUsers(*request) (any, error) {
	out := api.UserList{Users: []api.User{}}
	for u := range s.state.View().Users() {
		out.Users = append(out.Users, *u)
	}
	return out, nil
}

// putUser answers PUT /v1/users/{name}. The state says what is wrong with it.
func (s *Server) putUser(r *request) (any, error) {
	var u api.User
	if err := r.decode(&u, false); err != nil {
		return nil, err
	}
	if u.Name != r.PathValue("name") {
		return nil, errPath
	}
	_, err := s.do(r, &state.Command{PutUser: &u})
	return nil, err
}

// removeUser answers DELETE /v1/users/{name}.
func (s *Server) removeUser(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveUser: r.PathValue("name")})
	return nil, err
}

// listLimits answers GET /v1/limits.
func (s *Server) listLimits(*request) (any, error) {
	out := api.LimitList{Limits: []api.Limit{}}
	for l := range s.state.View().Limits() {
		out.Limits = append(out.Limits, *l)
	}
	return out, nil
}

// putLimit answers PUT /v1/limits/{name}. The state says what is wrong with it.
func (s *Server) putLimit(r *request) (any, error) {
	var l api.Limit
	if err := r.decode(&l, false); err != nil {
		return nil, err
	}
	if l.Name != r.PathValue("name") {
		return nil, errPath
	}
	_, err := s.do(r, &state.Command{PutLimit: &l})
	return nil, err
}

// removeLimit answers DELETE /v1/limits/{name}.
func (s *Server) removeLimit(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveLimit: r.PathValue("name")})
	return nil, err
}
