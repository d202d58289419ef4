package transcript_test

import (
	"flag"
	"testing"

	"github.com/berth-project/berth/engine/enginetest/transcript"
)

// A test that plays a transcript. With a flag it writes the answers instead, so that a
// change of behaviour can be read as a diff.
func ExampleRun() {
	update := flag.Bool("update-hello", false, "rewrite the transcript")
	_ = func(t *testing.T) {
		transcript.Run(t, "testdata/hello.txt", *update)
	}
}
