package server

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// prepare makes sure that the server has a certificate: the one that is there, one
// of a fleet that it begins, or one of a fleet that it joins.
func prepare(ctx context.Context, cfg *Config) error {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return err
	}
	if Enrolled(cfg.Dir) {
		return checkAuthority(cfg.Dir)
	}
	switch {
	case cfg.Bootstrap:
		return begin(cfg)
	case cfg.Join != nil && cfg.Join.Token != "":
		return joinFleet(ctx, cfg)
	}
	return fmt.Errorf("server %s: there is no certificate in %s: begin a new fleet (--bootstrap), or join one (--servers and --join-token-file)", cfg.ID, cfg.Dir)
}

// checkAuthority refuses an authority that could make no certificates when they are needed,
// months later. A server whose certificates are made elsewhere has none.
func checkAuthority(dir string) error {
	if _, err := pki.LoadAuthority(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the fleet's certificate authority cannot be used: %w", err)
	}
	return nil
}

// Enrolled reports whether a server's folder has its certificate. Then it needs no token
// to join.
func Enrolled(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, credentialFile))
	return err == nil
}

// hosts are the names and addresses for the server's certificate.
func (c *Config) hosts() []string {
	out := slices.Clone(c.Hosts)
	if host, _, err := net.SplitHostPort(c.Advertise); err == nil && host != "" {
		out = append(out, host)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// begin makes the authority of a new fleet, the certificate of its first server, and
// one of its first operator, "admin".
func begin(cfg *Config) error {
	authority, err := pki.LoadAuthority(cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		authority, err = pki.NewAuthority(pki.AuthorityOptions{})
		if err == nil {
			err = authority.Save(cfg.Dir, false)
		}
	}
	if err != nil {
		return fmt.Errorf("begin a fleet: %w", err)
	}
	for file, g := range map[string]pki.Grant{
		adminFile:      {Identity: pki.Identity{Role: pki.Operator, Name: "admin"}},
		credentialFile: {Identity: pki.Identity{Role: pki.Server, Name: cfg.ID}, Hosts: cfg.hosts()},
	} {
		c, err := authority.Issue(g)
		if err != nil {
			return fmt.Errorf("begin a fleet: %w", err)
		}
		if err := c.Save(filepath.Join(cfg.Dir, file), true); err != nil {
			return fmt.Errorf("begin a fleet: %w", err)
		}
	}
	return nil
}

// joinFleet has the server's certificate made by the fleet that it joins.
func joinFleet(ctx context.Context, cfg *Config) error {
	got, key, err := RequestCertificate(ctx, pki.Identity{Role: pki.Server, Name: cfg.ID}, cfg.Join, cfg.hosts())
	if err != nil {
		return err
	}
	authority, err := pki.ParseAuthority([]byte(got.CA), []byte(got.CAKey))
	if err != nil {
		return fmt.Errorf("join the fleet: %w", err)
	}
	if err := authority.Save(cfg.Dir, true); err != nil {
		return fmt.Errorf("join the fleet: %w", err)
	}
	c, err := pki.NewCredential([]byte(got.Certificate), key)
	if err != nil {
		return fmt.Errorf("join the fleet: %w", err)
	}
	return c.Save(filepath.Join(cfg.Dir, credentialFile), true)
}

// RequestCertificate asks servers, one after the other, for the certificate of a
// machine that joins their fleet with a token. Servers and agents call it when they
// are started for the first time. It returns the answer, and the key that the
// certificate is for.
func RequestCertificate(ctx context.Context, who pki.Identity, j *Join, hosts []string) (*api.JoinResponse, crypto.Signer, error) {
	token, err := pki.ParseToken(j.Token)
	if err != nil {
		return nil, nil, fmt.Errorf("join the fleet: %w", err)
	}
	if token.Kind != who.Role {
		return nil, nil, fmt.Errorf("join the fleet: the token is for a new %s, not for a new %s", token.Kind, who.Role)
	}
	csr, key, err := pki.NewRequest(who)
	if err != nil {
		return nil, nil, err
	}
	in := api.JoinRequest{Name: who.Name, CSR: string(csr), Hosts: hosts}
	var problems error // all of them in one line, for logs
	for _, address := range j.Servers {
		got, err := askToJoin(ctx, address, token, in)
		if err == nil {
			return got, key, nil
		}
		if err = fmt.Errorf("%s: %w", address, err); problems != nil {
			err = fmt.Errorf("%w; %w", problems, err)
		}
		problems = err
	}
	return nil, nil, fmt.Errorf("join the fleet: %w", problems)
}

// askToJoin asks one server.
func askToJoin(ctx context.Context, address string, token pki.Token, in api.JoinRequest) (*api.JoinResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, err := client.New(client.Config{
		Servers: []string{address}, TLS: token.TLS("http/1.1"), Token: token.Text(), Patience: -1,
	})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out, err := c.Join(ctx, in)
	return &out, err
}
