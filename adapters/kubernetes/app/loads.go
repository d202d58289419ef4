package app

import (
	"context"
	"sync"

	"k8s.io/klog/v2"

	"github.com/berth-project/berth/adapters/kubernetes/loadwatcher"
)

// watchLoads makes what reads measured loads, as the configuration says.
func (s *scheduler) watchLoads() error {
	for _, address := range s.config.LoadWatchers() {
		source, err := loadwatcher.New(loadwatcher.Options{
			Address: address,
			Apply:   s.engine.Apply,
			Failed:  func(err error) { klog.Background().Error(err, "Some of the measured load is missing") },
		})
		if err != nil {
			return err
		}
		s.loads = append(s.loads, source)
	}
	return nil
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
