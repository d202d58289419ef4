package observe

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever one of them does, the others are told, once each.
func TestJoinTellsAll(t *testing.T) {
	for _, c := range []struct {
		name string
		does func()
	}{
		{"nothing", func() {}},
		{"a panic", func() { panic("planned") }},
		{"the end of the goroutine", runtime.Goexit},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told []int
			tells := func(n int, then func()) func(int) { return func(e int) { told = append(told, n*e); then() } }
			all := Join(tells(1, func() {}), nil, tells(2, c.does), tells(3, c.does), tells(4, func() {}))
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				all(10)
			}()
			<-done
			require.Equal(t, []int{10, 20, 30, 40}, told)
		})
	}
}
