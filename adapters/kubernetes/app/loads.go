package app

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync"

	"k8s.io/client-go/transport"
	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/loadwatcher"
	"github.com/berth-project/berth/model"
)

// watchLoads makes what reads measured loads, as the configuration says.
func (s *scheduler) watchLoads() error {
	for _, from := range s.config.LoadSources() {
		source, err := loadwatcher.New(loadwatcher.Options{
			Provider: loadwatcher.Provider(from.Provider),
			Address:  from.Address,
			Client:   clientOf(&from),
			Metrics:  s.clients.custom,
			Capacity: s.capacityOf,
			Apply:    s.engine.Apply,
			Failed:   func(err error) { klog.Background().Error(err, "Some of the measured load is missing") },
		})
		if err != nil {
			return err
		}
		s.loads = append(s.loads, source)
	}
	return nil
}

// clientOf is the client for a service or Prometheus.
func clientOf(from *config.LoadSource) *http.Client {
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: from.Unverified} //nolint:gosec // as the configuration says
	if from.Token == "" {
		return &http.Client{Transport: own}
	}
	return &http.Client{Transport: transport.NewBearerAuthRoundTripper(from.Token, own)}
}

// capacityOf is what the node has in all.
func (s *scheduler) capacityOf(node string) (model.Resources, bool) {
	n, known := s.engine.View().Node(node)
	if !known {
		return model.Resources{}, false
	}
	return n.Node.Capacity, true
}

// readLoads reads them until ctx ends.
func (s *scheduler) readLoads(ctx context.Context) error {
	var all sync.WaitGroup
	for _, source := range s.loads {
		all.Go(func() { source.Run(ctx) })
	}
	all.Wait()
	return nil
}
