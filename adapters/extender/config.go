package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// The defaults of [Config].
const (
	DefaultHTTPTimeout       = 5 * time.Second
	DefaultMaxAnswer   int64 = 64 << 20
)

// Codec makes the JSON of pods and nodes that extenders are sent. It is called
// on several goroutines at once.
type Codec interface {
	// Pod returns the JSON of a v1.Pod for the workload. Node is the one that
	// it is on, empty for one that waits. The UID in it is the workload's ID.
	Pod(w *extpoints.WorkloadInfo, node string) (json.RawMessage, error)
	// Node returns the JSON of a v1.Node for the node, of the same name.
	Node(n *model.Node) (json.RawMessage, error)
}

// Config says where an extender is and what it has a say in. Its fields are those
// of kube-scheduler's configuration (k8s.io/kube-scheduler config/v1 Extender,
// 0.37.1), Name, MaxAnswer and Codec apart.
type Config struct {
	// Name identifies the extender in messages. Unique in an engine. Default:
	// URLPrefix, as in kube-scheduler.
	Name string
	// URLPrefix is where the server is, for example "http://host:8888/path".
	// The verb is appended to it after a slash. Required.
	URLPrefix string

	// The verbs are what is appended to URLPrefix for each question. Default
	// for each: empty, the extender has no say in that.
	FilterVerb     string
	PreemptVerb    string // asked on which nodes, and by which victims, room may be made
	PrioritizeVerb string // gives nodes points, times Weight
	BindVerb       string // binds in place of the orchestrator; one extender of an engine at most
	// Weight multiplies the points that prioritize gives. Above 0 where there
	// is a PrioritizeVerb. No default.
	Weight int64

	// EnableHTTPS together with no CA in TLS means that the server's
	// certificate is not verified. Whether TLS is used is up to URLPrefix.
	// Default false.
	EnableHTTPS bool
	// TLS is for URLs with https. Default: the system's roots, and no client
	// certificate.
	TLS *TLSConfig

	// HTTPTimeout is how long an answer may take, its body included. Default
	// DefaultHTTPTimeout.
	HTTPTimeout time.Duration
	// MaxAnswer is how many bytes an answer may have. An answer with whole
	// nodes has some kilobytes for each. Default DefaultMaxAnswer.
	MaxAnswer int64

	// NodeCacheCapable: the server knows the nodes and what is on them, and is
	// asked by name. Default false: it is sent everything.
	NodeCacheCapable bool
	// ManagedResources are the resources that the extender looks after: it is
	// asked about workloads that ask for one of them, as a scalar or as a class
	// of devices. Default: none, it is asked about all workloads.
	ManagedResources []ManagedResource
	// Ignorable: a workload is placed without the extender where it fails.
	// Default false.
	Ignorable bool

	// Codec makes the JSON of pods and nodes. Default [Neutral].
	Codec Codec
}

// ManagedResource is a resource that an extender looks after.
type ManagedResource struct {
	// Name is that of a scalar or of a class of devices. Required.
	Name string
	// IgnoredByScheduler: the plugin NodeResourcesFit is not to look at it. The
	// engine does not do that by itself; see [IgnoredResources].
	IgnoredByScheduler bool
}

// TLSConfig says how to speak TLS with an extender. Data are PEM and take
// precedence over the files of the same name.
type TLSConfig struct {
	// Insecure: the server's certificate is not verified. For tests only, and
	// not together with a CA. Default false.
	Insecure bool
	// ServerName is what the server's certificate must be for. Default: the
	// host of the URL.
	ServerName string
	// CertFile and KeyFile are the client's certificate; both or none. Files
	// are read again for every new connection. Default: none.
	CertFile, KeyFile string
	// CAFile has the roots that the server's certificate must lead to. It is
	// read once. Default: the system's.
	CAFile string

	// CertData, KeyData and CAData are what CertFile, KeyFile and CAFile would have. Default: none.
	CertData, KeyData, CAData []byte
}

// WithDefaults returns a copy in which every field that has a default has a
// value.
func (c Config) WithDefaults() Config {
	if c.Name == "" {
		c.Name = c.URLPrefix
	}
	if c.HTTPTimeout == 0 {
		c.HTTPTimeout = DefaultHTTPTimeout
	}
	if c.MaxAnswer == 0 {
		c.MaxAnswer = DefaultMaxAnswer
	}
	if c.Codec == nil {
		c.Codec = Neutral{}
	}
	return c
}

// Validate lists every problem of the configuration, files apart. That an engine
// has one extender that binds at most is for the engine to say.
func (c *Config) Validate() error {
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("extender %q: "+format, append([]any{c.WithDefaults().Name}, args...)...))
	}
	switch u, err := url.Parse(c.URLPrefix); {
	case c.URLPrefix == "":
		problem("URLPrefix: is empty")
	case err != nil:
		problem("URLPrefix: %w", err)
	case u.Scheme != "http" && u.Scheme != "https":
		problem("URLPrefix: %q begins with neither http:// nor https://", c.URLPrefix)
	case u.Host == "":
		problem("URLPrefix: %q names no host", c.URLPrefix)
	}
	if c.PrioritizeVerb != "" && c.Weight <= 0 {
		problem("Weight: %d; must have a positive weight applied to it", c.Weight)
	}
	if c.HTTPTimeout < 0 {
		problem("HTTPTimeout: %v is negative", c.HTTPTimeout)
	}
	if c.MaxAnswer < 0 {
		problem("MaxAnswer: %d is negative", c.MaxAnswer)
	}
	seen := map[string]bool{}
	for i, r := range c.ManagedResources {
		switch {
		case r.Name == "":
			problem("ManagedResources[%d].Name: is empty", i)
		case seen[r.Name]:
			problem("ManagedResources[%d].Name: %q is listed twice", i, r.Name)
		}
		seen[r.Name] = true
	}
	if c.TLS != nil {
		c.TLS.validate(problem)
	}
	return errors.Join(problems...)
}

func (t *TLSConfig) validate(problem func(format string, args ...any)) {
	if t.Insecure && t.hasCA() {
		problem("TLS.Insecure: specifying a root certificates file with the insecure flag is not allowed")
	}
	if cert, key := t.CertFile != "" || len(t.CertData) > 0, t.KeyFile != "" || len(t.KeyData) > 0; cert != key {
		problem("TLS: a client certificate needs both a certificate and a key")
	}
}

func (t *TLSConfig) hasCA() bool   { return t.CAFile != "" || len(t.CAData) > 0 }
func (t *TLSConfig) hasCert() bool { return t.CertFile != "" || len(t.CertData) > 0 }

// IgnoredResources lists the resources that extenders look after and that the
// plugin NodeResourcesFit is to ignore: its argument of the same name. In
// kube-scheduler they replace what the configuration of the plugin has there
// (pkg/scheduler/scheduler.go buildExtenders, 1.37.1); where there are none that
// stays as it is.
func IgnoredResources(list ...Config) []string {
	var names []string
	for i := range list {
		for _, r := range list[i].ManagedResources {
			if r.IgnoredByScheduler {
				names = append(names, r.Name)
			}
		}
	}
	return names
}
