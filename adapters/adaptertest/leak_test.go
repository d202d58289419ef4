package adaptertest

import (
	"strings"
	"testing"
	"time"
)

func TestLeaks(t *testing.T) {
	before := goroutines()
	release, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		<-release
	}()
	if left := leaks(before, time.Millisecond); len(left) != 1 || !strings.Contains(left[0], "TestLeaks") {
		t.Errorf("found %q, want the one goroutine of this test", left)
	}
	close(release)
	<-ended
	if left := leaks(before, leakPatience); len(left) != 0 {
		t.Errorf("found %q, want nothing", left)
	}
}
