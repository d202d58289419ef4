package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func tokenCommand(a *app) *cobra.Command {
	return group("token", "Create, list and revoke the tokens of users",
		createTokenCommand(a), listTokensCommand(a), removeTokenCommand(a))
}

func createTokenCommand(a *app) *cobra.Command {
	role, expires, out := "", "", ""
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a token for a user and print it; it is shown only once",
		Example: "  berth token create eve --expires 30d --out eve.token",
		Args:    command.Args(1, 1),
	}
	c.Flags().StringVar(&role, "role", string(api.RoleUser), "`what` the user may do: user or operator")
	c.Flags().StringVar(&expires, "expires", "", "`duration` for which it is good; for good without it")
	addOut(c, &out)
	filled(c, "expires", "out")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		if role != string(api.RoleUser) && role != string(api.RoleOperator) {
			return command.Mistakef("--role %q is neither user nor operator", role)
		}
		if err := job.CheckName(args[0]); err != nil {
			return command.Mistakef("the user's name: %w", err)
		}
		until, err := a.expiry(expires)
		if err != nil {
			return err
		}
		return a.giveToken(c, out, func() (api.TokenResponse, error) {
			return servers.CreateToken(c.Context(), api.TokenRequest{Role: api.Role(role), Name: args[0], Expires: until})
		})
	})
	return c
}

// expiry is the time at which something that is good for the duration ends.
func (a *app) expiry(value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	d, err := job.ParseDuration(value)
	if err == nil && d == 0 {
		err = fmt.Errorf("0 is no time at all")
	}
	if err != nil {
		return time.Time{}, command.Mistakef("--expires: %w", err)
	}
	return a.now().Add(time.Duration(d)), nil
}

// addOut adds the flag for where a token goes.
func addOut(c *cobra.Command, out *string) {
	c.Flags().StringVar(out, "out", "", "new `file` for the token, which only its owner can read; without it the token is printed")
}

// giveToken makes a token and prints it, alone, or writes it to a file. The file comes
// first: where it cannot be made, no token is.
func (a *app) giveToken(c *cobra.Command, out string, create func() (api.TokenResponse, error)) error {
	if out == "" {
		t, err := create()
		if err != nil {
			return err
		}
		return a.print(c, view{value: t, names: []string{t.Token}, people: func(w io.Writer) { fmt.Fprintln(w, visible(t.Token)) }})
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s is there already: name another file", out)
	}
	if err != nil {
		return command.Mistake(err)
	}
	t, err := create()
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(out))
	}
	_, err = fmt.Fprintln(f, t.Token)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("token %s was created but could not be written; remove it: %w", t.ID, err)
	}
	return a.print(c, view{value: t.TokenInfo, names: []string{t.ID}, people: func(w io.Writer) {
		fmt.Fprintf(w, "Token %s is in %s.\n", visible(t.ID), visible(out))
	}})
}

func listTokensCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Args: command.Args(0, 0),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			list, err := servers.Tokens(c.Context())
			if err != nil {
				return err
			}
			v := view{value: list}
			t := a.newTable(c, "TOKEN", "ROLE", "NAME", "CREATED", "EXPIRES", "BY")
			for _, k := range list.Tokens {
				v.names = append(v.names, k.ID)
				t.row(k.ID, string(k.Role), or(k.Name, "-"), a.stamp(k.Created), a.stamp(k.Expires), or(k.By, "-"))
			}
			v.people = t.write
			return a.print(c, v)
		}),
	}
}

func removeTokenCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove TOKEN...", Short: "Revoke tokens, by the names that list shows", Args: command.Args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			for _, id := range args {
				if strings.Trim(id, "0123456789abcdefABCDEF") != "" {
					return command.Mistakef("this is not the name of a token as list shows it; if it is the token itself, revoke it: others may have seen it")
				}
			}
			for _, id := range args {
				if err := servers.RemoveToken(c.Context(), id); err != nil {
					return err
				}
			}
			return a.print(c, view{value: args, names: args, people: func(w io.Writer) {
				for _, id := range args {
					fmt.Fprintf(w, "Token %s is removed.\n", id)
				}
			}})
		}),
	}
}
