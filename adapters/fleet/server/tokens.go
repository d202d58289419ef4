package server

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/pki"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// self answers GET /v1/self.
func (s *Server) self(r *request) (any, error) {
	return api.Self{Role: api.Role(r.who.Role), Name: r.who.Name}, nil
}

// listTokens answers GET /v1/tokens.
func (s *Server) listTokens(*request) (any, error) {
	out := api.TokenList{Tokens: []api.TokenInfo{}}
	for k := range s.state.View().Tokens() {
		out.Tokens = append(out.Tokens, k.TokenInfo)
	}
	return out, nil
}

// createToken answers POST /v1/tokens.
func (s *Server) createToken(r *request) (any, error) {
	var in api.TokenRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if in.Role != api.RoleUser && in.Role != api.RoleOperator {
		return nil, invalid("role", "it is %s or %s", api.RoleUser, api.RoleOperator)
	}
	if err := (pki.Identity{Role: pki.Role(in.Role), Name: in.Name}).Validate(); err != nil {
		return nil, invalid("name", "%v", err)
	}
	if expired(in.Expires) {
		return nil, invalid("expires", "it has passed")
	}
	text, hash, err := pki.NewBearer()
	if err != nil {
		return nil, err
	}
	info := api.TokenInfo{ID: tokenID(hash), Role: in.Role, Name: in.Name, Expires: in.Expires}
	return s.keepToken(r, text, &state.Token{TokenInfo: info, Hash: hash[:]})
}

// createJoinToken answers POST /v1/join-tokens.
func (s *Server) createJoinToken(r *request) (any, error) {
	var in api.JoinTokenRequest
	if err := r.decode(&in, false); err != nil {
		return nil, err
	}
	if in.Role != api.RoleAgent && in.Role != api.RoleServer {
		return nil, invalid("role", "it is %s or %s", api.RoleAgent, api.RoleServer)
	}
	if expired(in.Expires) {
		return nil, invalid("expires", "it has passed")
	}
	token, err := pki.NewToken(pki.Role(in.Role), s.keeper.CA())
	if err != nil {
		return nil, err
	}
	hash := token.Hash()
	info := api.TokenInfo{ID: tokenID(hash), Role: in.Role, Expires: in.Expires}
	return s.keepToken(r, token.Text(), &state.Token{TokenInfo: info, Hash: hash[:], Join: true})
}

// keepToken has a token's hash recorded, and shows the token.
func (s *Server) keepToken(r *request, text string, k *state.Token) (any, error) {
	k.Created, k.By = time.Now().UTC(), r.who.Name
	if _, err := s.do(r, &state.Command{PutToken: k}); err != nil {
		return nil, err
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return api.TokenResponse{Token: text, TokenInfo: k.TokenInfo}, nil
}

// removeToken answers DELETE /v1/tokens/{id}.
func (s *Server) removeToken(r *request) (any, error) {
	_, err := s.do(r, &state.Command{RemoveToken: r.PathValue("id")})
	return nil, err
}
