// Package client speaks to the servers of a fleet: for the command line, for
// agents, and for other programs.
//
//	c, err := client.New(client.Config{Servers: []string{"s1:7070", "s2:7070"}, TLS: config, Token: token})
//	answer, err := c.Submit(ctx, api.SubmitRequest{Jobs: jobs})
//
// # Servers
//
// It is given the addresses of several servers and stays with one while that
// answers. Where one cannot be reached, has no leader, or lost its leader while it
// carried out a request, the next is tried, again and again, until Config.Patience
// has passed. What must not be done twice is repeated only where it is certain that
// it was not done: where no connection came about, or the server says so. Submit
// can always be repeated, by its key.
//
// # Errors
//
// What a server answers is an *api.Error, with the fields that are wrong; errors.As
// finds it. Where no server could be asked the error is ErrUnreachable, in the sense
// of errors.Is, and says what came of each.
package client
