package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/pki"
)

// CACommand is "berth ca".
func CACommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "ca",
		Short: "Make certificates by hand",
		Long: `Make the authority of a fleet, and certificates, by hand. Fleets whose machines
join with tokens do not need it, but for certificates of people.`,
		Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(caInit(), caIssue())
	return c
}

func caInit() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "init", Short: "Make the authority of a new fleet", Args: command.Args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			a, err := pki.NewAuthority(pki.AuthorityOptions{})
			if err != nil {
				return err
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			if err := a.Save(dir, false); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "wrote %s and %s in %s; anyone who can read the key controls the fleet\n", pki.CAFile, pki.CAKeyFile, dir)
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "`folder` of the authority")
	return c
}

func caIssue() *cobra.Command {
	var dir, out string
	var hosts []string
	var life string
	c := &cobra.Command{
		Use: "issue ROLE NAME", Short: "Make a certificate for a server, agent, user or operator", Args: command.Args(2, 2),
		Example: "  berth ca issue operator alice --out alice.pem",
		RunE: func(c *cobra.Command, args []string) error {
			g := pki.Grant{Identity: pki.Identity{Role: pki.Role(args[0]), Name: args[1]}, Hosts: hosts}
			if err := g.Identity.Validate(); err != nil {
				return command.Mistake(err)
			}
			if life != "" {
				d, err := job.ParseDuration(life)
				if err != nil {
					return command.Mistakef("--lifetime: %w", err)
				}
				g.Lifetime = time.Duration(d)
			}
			a, err := pki.LoadAuthority(dir)
			if err != nil {
				return err
			}
			credential, err := a.Issue(g)
			if err != nil {
				return err
			}
			if out == "" {
				out = strings.ToLower(args[1]) + ".pem"
			}
			if err := credential.Save(filepath.Clean(out), false); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "wrote %s, good until %s\n", out, credential.Cert.NotAfter.Format(time.DateOnly))
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", ".", "`folder` of the authority")
	c.Flags().StringVar(&out, "out", "", "`file` to write (default NAME.pem)")
	c.Flags().StringSliceVar(&hosts, "host", nil, "`names` and addresses of a server or agent")
	c.Flags().StringVar(&life, "lifetime", "", "how `long` it is good (default 1 year)")
	return c
}
