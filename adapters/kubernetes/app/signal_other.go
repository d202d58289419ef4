//go:build !unix

package app

import "context"

// dumpOnSignal does nothing: there is no such signal.
func (s *scheduler) dumpOnSignal(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
