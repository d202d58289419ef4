package cli

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

func revokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke CERTIFICATE...",
		Short: "End certificates before their time",
		Long: `End certificates before their time. Name one by its file or its serial number
(hexadecimal); or all of somebody that were made until now, as user/NAME,
operator/NAME, agent/NODE or server/SERVER. Servers refuse them from then on, and
close their connections. It is undone by nothing: who is to be let in again gets a
new certificate. End a user's tokens with "berth token remove".

The folder of a server has the authority's key: who has had that can make any
certificate, and only a new authority helps.`,
		Example: "  berth server revoke user/eve\n  berth server revoke eve.pem 5d01c7a3...",
		Args:    args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			requests := make([]api.RevocationRequest, len(args))
			for i, text := range args {
				var err error
				if requests[i], err = readRevocation(text); err != nil {
					return usage(err)
				}
			}
			var done api.RevocationList
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
					fmt.Fprintf(w, "Certificate %s is revoked.\n", visible(r.ID))
				}
			}
			return a.print(c, v)
		}),
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
		Use: "revocations", Short: "List the certificates that were revoked", Args: args(0, 0),
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
