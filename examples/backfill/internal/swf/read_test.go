package swf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/backfill/internal/swf"
)

// line is a good line for a job of that number.
func line(number int) string {
	return fmt.Sprintf("%d 10 5 60 4 -1 -1 8 600 -1 1 1 1 1 1 1 -1 -1\n", number)
}

func read(t *testing.T, text string) *swf.Log {
	t.Helper()
	log, err := swf.Read("log", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestRead(t *testing.T) {
	log := read(t, "; Computer: a machine\n;\n;MaxProcs: 16\n\n"+
		"  2\t10 5 60   4 12.5 -1 8 600 -1 1 1 1 1 1 -1 -1 -1  \r\n; a remark\n"+line(1))
	want := swf.Log{Procs: 16, Jobs: []swf.Job{
		{Line: 5, Number: 2, Submit: 10, Wait: 5, Run: 60, Allocated: 4, Requested: 8, Estimate: 600},
		{Line: 7, Number: 1, Submit: 10, Wait: 5, Run: 60, Allocated: 4, Requested: 8, Estimate: 600, Backfilled: true},
	}}
	if !reflect.DeepEqual(*log, want) {
		t.Errorf("got %+v", *log)
	}
}

func TestSizeOfTheMachine(t *testing.T) {
	tests := []struct {
		header string
		want   int64
	}{
		{"", 0},
		{"; MaxNodes: 8\n; MaxProcs: 16\n", 16},
		{"; MaxProcs: 16\n; MaxNodes: 8\n", 16},
		{"; MaxNodes: 8\n", 8},
		{"; MaxNodes: -1\n; MaxProcs: 100\n", 100},
		{"; MaxProcs: 9216 (in 2 partitions)\n", 9216},
		{"; MaxProcs: many\n; MaxProcs:\n; MaxProcs\n; MaxProcs: 0\n", 0},
	}
	for _, test := range tests {
		if got := read(t, test.header+line(1)).Procs; got != test.want {
			t.Errorf("%q: %d processors, want %d", test.header, got, test.want)
		}
	}
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompressed(t *testing.T) {
	whole := zipped(t, line(1)+line(2))
	log, err := swf.Read("log", bytes.NewReader(whole))
	if err != nil || len(log.Jobs) != 2 {
		t.Fatalf("got %+v, %v", log, err)
	}
	for _, cut := range []int{2, len(whole) / 2, len(whole) - 1} {
		if log, err := swf.Read("log", bytes.NewReader(whole[:cut])); err == nil || errors.Is(err, swf.ErrMalformed) || !strings.HasPrefix(err.Error(), "read log log") {
			t.Errorf("cut after %d bytes: got %+v, %v", cut, log, err)
		}
	}
}

// Every bad line is named with its number.
func TestMalformed(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "read log log: malformed log: it has no jobs"},
		{"; MaxProcs: 4\n", "read log log: malformed log: it has no jobs"},
		{"1 2 3\n" + line(7) + "x 10 5 sixty 4 -1 -1 8 6.5 -1 1 1 1 1 1 1 -1 -1\n" + line(7), `malformed log
  log:1: 3 fields, want 18
  log:3: field 1 (job number): "x" is not a whole number
  log:3: field 4 (run time): "sixty" is not a whole number
  log:3: field 9 (requested time): "6.5" is not a whole number
  log:4: job 7 is already on line 2`},
		{"-1 -2 -3 99999999999999999999 8589934593 -1 -1 8 600 -1 1 1 1 1 1 1 -1 -1\n", `malformed log
  log:1: field 1 (job number): -1 is not in [0, 8589934592]
  log:1: field 2 (submit time): -2 is not in [0, 8589934592]
  log:1: field 3 (wait time): -3 is not in [-1, 8589934592]
  log:1: field 4 (run time): 99999999999999999999 is not in [-1, 8589934592]
  log:1: field 5 (allocated processors): 8589934593 is not in [-1, 8589934592]`},
		{line(1) + strings.Repeat("1", 1<<20+1) + "\n" + line(2), "malformed log\n  log:2: longer than 1048576 bytes; nothing after it was read"},
		{strings.Repeat("bad\n", 12), "malformed log\n  log:1: 1 fields, want 18\n  " +
			"log:2: 1 fields, want 18\n  log:3: 1 fields, want 18\n  log:4: 1 fields, want 18\n  log:5: 1 fields, want 18\n  " +
			"log:6: 1 fields, want 18\n  log:7: 1 fields, want 18\n  log:8: 1 fields, want 18\n  log:9: 1 fields, want 18\n  " +
			"log:10: 1 fields, want 18\n  and 2 more"},
	}
	for _, test := range tests {
		log, err := swf.Read("log", strings.NewReader(test.text))
		if !errors.Is(err, swf.ErrMalformed) || err.Error() != test.want {
			t.Errorf("got %+v, error\n%v\nwant\n%s", log, err, test.want)
		}
	}
}

// Whatever the input, there is either an error or a log whose numbers are in range.
func FuzzRead(f *testing.F) {
	f.Add([]byte("; MaxProcs: 4\n" + line(1) + line(2)))
	f.Add([]byte("1 2 3\n-1 x\n;"))
	f.Add(zipped(f, line(3)))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, input []byte) {
		log, err := swf.Read("log", bytes.NewReader(input))
		if err != nil {
			return
		}
		const largest = 1 << 33
		seen := map[int64]bool{}
		for _, j := range log.Jobs {
			if seen[j.Number] || j.Line < 1 || j.Number < 0 || j.Submit < 0 || min(j.Wait, j.Run, j.Allocated, j.Requested, j.Estimate) < -1 ||
				max(j.Number, j.Submit, j.Wait, j.Run, j.Allocated, j.Requested, j.Estimate) > largest {
				t.Errorf("accepted %+v", j)
			}
			seen[j.Number] = true
		}
		if len(seen) == 0 || log.Procs < 0 || log.Procs > largest {
			t.Errorf("accepted a log of %d jobs on %d processors", len(seen), log.Procs)
		}
	})
}

// A made-up log is a function of its seed, and every job fits the machine and ends when
// its user says, or before.
func TestGenerate(t *testing.T) {
	log := swf.Generate(5, 100)
	if !reflect.DeepEqual(log, swf.Generate(5, 100)) || reflect.DeepEqual(log, swf.Generate(6, 100)) {
		t.Error("it is not a function of the seed")
	}
	for i, j := range log.Jobs {
		if j.Requested < 1 || j.Requested > log.Procs || j.Run < 1 || j.Run > j.Estimate || i > 0 && j.Submit < log.Jobs[i-1].Submit {
			t.Errorf("made %+v", j)
		}
	}
}
