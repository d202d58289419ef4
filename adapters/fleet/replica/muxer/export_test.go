package muxer

import (
	"testing"
	"time"
)

// PlaceOf is placeOf.
var PlaceOf = placeOf

// SetLinger sets how long connections linger during a test, which must not be parallel.
func SetLinger(t *testing.T, all, silence time.Duration) {
	a, s := lingerTime, lingerSilence
	lingerTime, lingerSilence = all, silence
	t.Cleanup(func() { lingerTime, lingerSilence = a, s })
}
