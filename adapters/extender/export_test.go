package extender

import (
	"context"
	"net"
	"net/http"
)

// DialBy has the extender reach its server by the given function, and not by the network.
func (x *Extender) DialBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	x.client.Transport.(*http.Transport).DialContext = dial
}
