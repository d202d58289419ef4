package app

import (
	"fmt"
	"net/http"

	"k8s.io/client-go/dynamic"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	componentconfig "k8s.io/component-base/config/v1alpha1"
)

// clients are those of one API server.
type clients struct {
	// main reads, binds and writes statuses.
	main clientset.Interface
	// events writes events. It has a rate limit of its own.
	events clientset.Interface
	// custom reads custom resources.
	custom dynamic.Interface
	// guarded is what main and events are made of, for clients that others make.
	guarded *rest.Config
	// connection is for leader election, which makes its own client.
	connection *rest.Config
	// election is for the events and candidates of leader election, which are
	// written by who does not lead, too.
	election clientset.Interface
}

// connect says how to reach the API server. Where neither the configuration nor the
// flag --master names one, it is that of the cluster in which this process runs.
//
// Rules: cmd/kube-scheduler/app/options/options.go createKubeConfig, 1.37.1.
func connect(c *componentconfig.ClientConnectionConfiguration, master string) (*rest.Config, error) {
	connection, err := clientcmd.BuildConfigFromFlags(master, c.Kubeconfig)
	switch {
	case err != nil && c.Kubeconfig == "" && master == "":
		return nil, fmt.Errorf("connection to the API server: neither clientConnection.kubeconfig of the configuration file nor, without such a file, --kubeconfig says where it is, nor --master: %w", err)
	case err != nil:
		return nil, fmt.Errorf("connection to the API server: %w", err)
	}
	connection.DisableCompression = true
	connection.AcceptContentTypes = c.AcceptContentTypes
	connection.ContentType = c.ContentType
	connection.QPS = c.QPS
	connection.Burst = int(c.Burst)
	return connection, nil
}

// newClients makes the clients. Those that are not about leader election write only
// while mayWrite says so.
//
// Rules: cmd/kube-scheduler/app/options/options.go createClients, 1.37.1.
func newClients(connection *rest.Config, mayWrite func() bool) (*clients, error) {
	guarded := rest.CopyConfig(connection)
	guarded.Wrap(func(next http.RoundTripper) http.RoundTripper { return guard{next, mayWrite} })
	c := &clients{connection: connection, guarded: guarded}
	for _, made := range []struct {
		client *clientset.Interface
		from   *rest.Config
	}{
		{&c.main, rest.AddUserAgent(rest.CopyConfig(guarded), "scheduler")},
		{&c.events, guarded},
		{&c.election, connection},
	} {
		client, err := clientset.NewForConfig(made.from)
		if err != nil {
			return nil, fmt.Errorf("client of the API server: %w", err)
		}
		*made.client = client
	}
	var err error
	if c.custom, err = dynamic.NewForConfig(dynamic.ConfigFor(connection)); err != nil {
		return nil, fmt.Errorf("client of the API server for custom resources: %w", err)
	}
	return c, nil
}
