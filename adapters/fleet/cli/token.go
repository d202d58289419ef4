package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func tokenCommand(a *app) *cobra.Command {
	return group("token", "Make, list and end the tokens that users bear",
		createTokenCommand(a), listTokensCommand(a), removeTokenCommand(a))
}

func createTokenCommand(a *app) *cobra.Command {
	role, expires := "", ""
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a token for a user, and print it; it is shown this once",
		Example: "  berth token create eve --expires 30d > eve.token",
		Args:    args(1, 1),
	}
	c.Flags().StringVar(&role, "role", string(api.RoleUser), "`what` the user may do: user or operator")
	c.Flags().StringVar(&expires, "expires", "", "`duration` for which it is good; for good without it")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		if role != string(api.RoleUser) && role != string(api.RoleOperator) {
			return usage(fmt.Errorf("--role %q is neither user nor operator", role))
		}
		if err := job.CheckName(args[0]); err != nil {
			return usage(fmt.Errorf("the user's name: %w", err))
		}
		until, err := a.expiry(expires)
		if err != nil {
			return err
		}
		answer, err := servers.CreateToken(c.Context(), api.TokenRequest{Role: api.Role(role), Name: args[0], Expires: until})
		if err != nil {
			return err
		}
		return a.printToken(c, &answer)
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
		return time.Time{}, usage(fmt.Errorf("--expires: %w", err))
	}
	return a.now().Add(time.Duration(d)), nil
}

// printToken prints a new token: for people alone, so that it can go to a file.
func (a *app) printToken(c *cobra.Command, t *api.TokenResponse) error {
	return a.print(c, view{value: t, names: []string{t.Token}, people: func(w io.Writer) { fmt.Fprintln(w, visible(t.Token)) }})
}

func listTokensCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Args: args(0, 0),
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
		Use: "remove TOKEN...", Short: "End tokens, by the names that list has for them", Args: args(1, -1),
		RunE: a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
			for _, id := range args {
				if strings.Trim(id, "0123456789abcdefABCDEF") != "" {
					return usage(fmt.Errorf("that is not what list calls a token; if it is a token itself, end it: it may be known now"))
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
