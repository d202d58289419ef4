//go:build unix

package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// dumpOnSignal dumps whenever the process gets SIGUSR2, until ctx ends.
func (s *scheduler) dumpOnSignal(ctx context.Context) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	defer signal.Stop(asked)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
			s.dump()
		}
	}
}
