package extender_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/model"
)

func TestValidateListsEveryProblem(t *testing.T) {
	cfg := extender.Config{
		URLPrefix: "ftp://x", PrioritizeVerb: "p", HTTPTimeout: -1, MaxAnswer: -1,
		ManagedResources: []extender.ManagedResource{{Name: "a"}, {}, {Name: "a"}},
		TLS:              &extender.TLSConfig{Insecure: true, CAFile: "ca", CertFile: "cert"},
	}
	_, err := extender.New(cfg)
	require.EqualError(t, err, strings.Join([]string{
		`extender "ftp://x": URLPrefix: "ftp://x" begins with neither http:// nor https://`,
		`extender "ftp://x": Weight: 0; must have a positive weight applied to it`,
		`extender "ftp://x": HTTPTimeout: -1ns is negative`,
		`extender "ftp://x": MaxAnswer: -1 is negative`,
		`extender "ftp://x": ManagedResources[1].Name: is empty`,
		`extender "ftp://x": ManagedResources[2].Name: "a" is listed twice`,
		`extender "ftp://x": TLS.Insecure: specifying a root certificates file with the insecure flag is not allowed`,
		`extender "ftp://x": TLS: a client certificate needs both a certificate and a key`,
	}, "\n"))
	for url, want := range map[string]string{
		"":               "URLPrefix: is empty",
		"http://":        "names no host",
		"/path":          "begins with neither",
		"http://a b":     "invalid character",
		"http://h:8/p/":  "",
		"https://h/x?y=": "",
	} {
		cfg := extender.Config{Name: "mine", URLPrefix: url}
		if err := cfg.Validate(); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, `extender "mine": `)
		}
	}
}

func TestDefaults(t *testing.T) {
	cfg := extender.Config{URLPrefix: "http://h/"}
	full := cfg.WithDefaults()
	require.Equal(t, "http://h/", full.Name)
	require.Equal(t, 5*time.Second, full.HTTPTimeout)
	require.EqualValues(t, 64<<20, full.MaxAnswer)
	require.Equal(t, extender.Neutral{}, full.Codec)
	require.Equal(t, extender.Config{URLPrefix: "http://h/"}, cfg, "it is a copy")
	require.Equal(t, full, full.WithDefaults())
}

func TestWhatItSaysOfItself(t *testing.T) {
	x, err := extender.New(extender.Config{Name: "n", URLPrefix: "http://h", FilterVerb: "f", BindVerb: "b", Ignorable: true})
	require.NoError(t, err)
	require.Equal(t, "n", x.Name)
	require.True(t, x.Ignorable)
	require.Equal(t, "filter bind", verbs(x))
	x, err = extender.New(extender.Config{URLPrefix: "http://h", PreemptVerb: "f", PrioritizeVerb: "b", Weight: 7})
	require.NoError(t, err)
	require.Equal(t, "http://h", x.Name)
	require.False(t, x.Ignorable)
	require.EqualValues(t, 7, x.Weight)
	require.Equal(t, "prioritize preempt", verbs(x))
}

// verbs lists what the extender is asked.
func verbs(x *extender.Extender) string {
	var list []string
	for _, v := range []struct {
		name  string
		asked bool
	}{{"filter", x.Filter != nil}, {"prioritize", x.Prioritize != nil}, {"preempt", x.Preempt != nil}, {"bind", x.Bind != nil}} {
		if v.asked {
			list = append(list, v.name)
		}
	}
	return strings.Join(list, " ")
}

func TestInterested(t *testing.T) {
	scalar := func(name string, amount int64) *model.Workload {
		return &model.Workload{Requests: model.Resources{CPU: 1, Scalars: []model.Scalar{{Name: name, Amount: amount}}}}
	}
	gpu := &model.Workload{Devices: []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 500}}}
	for _, test := range []struct {
		managed []string
		w       *model.Workload
		want    bool
	}{
		{nil, &model.Workload{}, true},
		{[]string{"licences"}, &model.Workload{}, false},
		{[]string{"licences"}, scalar("licences", 3), true},
		{[]string{"licences"}, scalar("licences", 0), true},
		{[]string{"licences"}, scalar("other", 3), false},
		{[]string{"licences", "gpu"}, gpu, true},
		{[]string{"licences"}, gpu, false},
	} {
		x := newExtender(t, "http://h", func(c *extender.Config) {
			for _, name := range test.managed {
				c.ManagedResources = append(c.ManagedResources, extender.ManagedResource{Name: name})
			}
		})
		require.Equal(t, test.want, x.Interested(test.w), "%v %+v", test.managed, test.w)
	}
}

func TestIgnoredResources(t *testing.T) {
	require.Equal(t, []string{"b", "c"}, extender.IgnoredResources(
		extender.Config{ManagedResources: []extender.ManagedResource{{Name: "a"}, {Name: "b", IgnoredByScheduler: true}}},
		extender.Config{},
		extender.Config{ManagedResources: []extender.ManagedResource{{Name: "c", IgnoredByScheduler: true}}},
	))
	require.Nil(t, extender.IgnoredResources(extender.Config{ManagedResources: []extender.ManagedResource{{Name: "a"}}}))
}
