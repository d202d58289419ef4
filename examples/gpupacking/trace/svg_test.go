package trace_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// A line is the mean over the seeds: at 130 % arrived, 80 and 90 % are in the right place.
func TestSVGDrawsMeans(t *testing.T) {
	full, none := trace.Run{Policy: trace.FGD, Seed: 1}, trace.Run{Policy: trace.FGD, Seed: 2}
	for i := range trace.Columns {
		full.Allocation[i], none.Allocation[i] = 100, 50
		full.Fragmentation[i], none.Fragmentation[i] = math.NaN(), 25
	}
	other := trace.Run{Policy: trace.Rollout, Seed: 1}
	var b strings.Builder
	if err := trace.WriteSVG(&b, "a<b", []trace.Run{full, none, other}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{
		`points="0.0,80.0 3.2,80.0 `, ` 420.0,80.0"/>`, // 75 % of 320 pixels, from above
		`points="0.0,240.0 `, ` 420.0,240.0"/>`, // 25 %: where there is no value it does not count
		"a&lt;b", ">FGD<", ">Rollout<",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Random") || strings.Contains(got, "NaN") {
		t.Errorf("too much is in\n%s", got)
	}
	for d := xml.NewDecoder(strings.NewReader(got)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := trace.WriteSVG(brokenWriter{}, "", nil); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}
