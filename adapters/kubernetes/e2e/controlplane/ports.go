package controlplane

import (
	"context"
	"errors"
	"net"
	"strings"
)

// host is where everything listens.
const host = "127.0.0.1"

// freePorts finds ports that nobody listens on. Somebody may take one before the
// caller does; see [withPorts].
func freePorts(n int) ([]string, error) {
	ports := make([]string, n)
	for i := range ports {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			return nil, err
		}
		defer l.Close() // all at the end, so that they differ
		_, ports[i], err = net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// portAttempts is how often other ports are tried when one is taken.
const portAttempts = 5

// withPorts starts something that needs n ports, and starts it again with others if
// somebody else took one of them in the meantime.
func withPorts(ctx context.Context, n int, start func(ctx context.Context, ports []string) error) error {
	var err error
	for range portAttempts {
		var ports []string
		if ports, err = freePorts(n); err != nil {
			return err
		}
		if err = start(ctx, ports); err == nil || !portTaken(err) {
			return err
		}
	}
	return err
}

// portTaken reports whether a process ended because of a port. Its own words are in
// the error.
func portTaken(err error) bool {
	return errors.Is(err, errEnded) && strings.Contains(err.Error(), "address already in use")
}
