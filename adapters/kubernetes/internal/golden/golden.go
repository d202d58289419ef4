// Package golden compares what comes of something with a file that says what should.
// Only tests import it; they get the flag -update, which writes the files anew.
package golden

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew; then read the difference")

// Compare fails the test where got is not what stands in the file.
func Compare(t testing.TB, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("this is not what %s says (-update writes it anew):\n%s", file, got)
	}
}
