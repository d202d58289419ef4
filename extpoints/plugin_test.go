package extpoints

import (
	"errors"
	"testing"
)

type plain struct{ n int }

func (*plain) Name() string { return "Plain" }

func (*plain) PreEnqueue() *Status { return nil } // not the point's

func TestFactoryOf(t *testing.T) {
	type args struct{ N int }
	refused := errors.New("N: 13 is not allowed")
	factory := FactoryOf(func(a args, _ Handle) (*plain, error) {
		if a.N == 13 {
			return nil, refused
		}
		return &plain{a.N}, nil
	})
	for _, c := range []struct {
		given any
		want  int
		err   string
	}{
		{nil, 0, ""},
		{args{1}, 1, ""},
		{&args{2}, 2, ""},
		{(*args)(nil), 0, ""},
		{args{13}, 0, "N: 13 is not allowed"},
		{"x", 0, "arguments of type string, want extpoints.args"},
		{map[string]any{"n": 1}, 0, "arguments of type map[string]interface {}, want extpoints.args"},
	} {
		got, err := factory(c.given, nil)
		switch {
		case c.err != "" && (err == nil || err.Error() != c.err || got != nil):
			t.Errorf("%v: %v, %v, want the error %q", c.given, got, err, c.err)
		case c.err == "" && (err != nil || got.(*plain).n != c.want):
			t.Errorf("%v: %v, %v", c.given, got, err)
		}
	}
}
