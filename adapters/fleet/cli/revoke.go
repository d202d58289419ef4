package cli

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

func revokeCommand(a *app) *cobra.Command {
	sure := false
	c := &cobra.Command{
		Use:   "revoke CERTIFICATE...",
		Short: "Revoke certificates before they expire",
		Long: `Revoke certificates before they expire. Name one by its file or its serial number
(hexadecimal); or all certificates of one holder that were issued until now, as
user/NAME, operator/NAME, agent/NODE or server/SERVER. Servers refuse them from then
on, and close their connections. A revocation cannot be undone: to restore access,
issue a new certificate. Revoking user/NAME or operator/NAME also removes the tokens
of that role and name; "berth token remove" removes a single one.

Jobs go on: "berth cancel" ends them.

The data folder of a server contains the authority's key. Anyone with a copy of it can
issue any certificate, and then only a new authority helps.

Revoking your own access needs --yes. If no operator is left, use the data folder of a
server to issue a new certificate:

  berth ca issue operator NAME --dir DATA --out NAME.pem`,
		Example: "  berth server revoke user/eve\n  berth server revoke eve.pem 5d01c7a3...",
		Args:    command.Args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			requests := make([]api.RevocationRequest, len(args))
			for i, text := range args {
				var err error
				if requests[i], err = readRevocation(text); err != nil {
					return command.Mistake(err)
				}
				requests[i].Own = sure
			}
			var done struct {
				Revocations []api.RevocationResponse `json:"revocations"`
			}
			v := view{value: &done}
			for _, r := range requests {
				got, err := servers.Revoke(c.Context(), r)
				if err != nil {
					return err
				}
				done.Revocations = append(done.Revocations, got)
				v.names = append(v.names, got.ID)
			}
			v.people = func(w io.Writer) {
				for _, r := range done.Revocations {
					printRevoked(w, &r)
				}
			}
			return a.print(c, v)
		}),
	}
	c.Flags().BoolVar(&sure, "yes", false, "go ahead, even if it ends your own access")
	return c
}

// printRevoked says what was revoked, and which tokens ended with it.
func printRevoked(w io.Writer, r *api.RevocationResponse) {
	who, err := pki.ParseIdentity(r.ID)
	if err != nil {
		fmt.Fprintf(w, "Certificate %s is revoked.\n", visible(r.ID))
		return
	}
	fmt.Fprintf(w, "All certificates of %s are revoked", who)
	people := who.Role == pki.User || who.Role == pki.Operator
	switch n := len(r.Tokens); {
	case n == 1:
		fmt.Fprintf(w, ", and 1 token is removed: %s", visible(r.Tokens[0]))
	case n > 1:
		fmt.Fprintf(w, ", and %d tokens are removed: %s", n, visible(strings.Join(r.Tokens, ", ")))
	case people && r.Jobs == 0:
		fmt.Fprint(w, ", if there are any: servers know of no token and no job of that name")
	case people:
		fmt.Fprint(w, "; there was no token")
	}
	fmt.Fprintln(w, ".")
	if r.Jobs > 0 {
		fmt.Fprintf(w, "Jobs of %s go on, %d now: berth jobs --owner %s\n", who.Name, r.Jobs, who.Name)
	}
}

// readRevocation reads what is to be revoked: role/name, a file, or a serial number.
func readRevocation(text string) (api.RevocationRequest, error) {
	if _, err := pki.ParseIdentity(text); err == nil {
		return api.RevocationRequest{ID: text}, nil
	}
	data, err := readFile(text)
	if errors.Is(err, fs.ErrNotExist) {
		if serial, err := pki.ParseSerial(text); err == nil {
			return api.RevocationRequest{ID: serial}, nil
		}
	}
	if err != nil {
		return api.RevocationRequest{}, fmt.Errorf("%q is neither role/name nor a serial number, nor a file: %w", text, err)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err == nil {
			_, err = pki.IdentityOf(cert) // the authority's is none of those
		}
		if err != nil {
			return api.RevocationRequest{}, fmt.Errorf("%s: %w", text, err)
		}
		return api.RevocationRequest{ID: pki.Serial(cert), Expires: cert.NotAfter.UTC()}, nil
	}
	return api.RevocationRequest{}, fmt.Errorf("%s has no certificate (PEM)", text)
}

func revocationsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revocations", Short: "List the certificates that were revoked", Args: command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Revocations(c.Context())
			if err != nil {
				return err
			}
			v := view{value: list}
			t := a.newTable(c, "CERTIFICATE", "REVOKED", "UNTIL", "BY")
			for _, r := range list.Revocations {
				v.names = append(v.names, r.ID)
				t.row(r.ID, a.stamp(r.Created), a.stamp(r.Expires), or(r.By, "-"))
			}
			v.people = t.write
			return a.print(c, v)
		}),
	}
}
