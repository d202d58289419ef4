package loadwatcher

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/dynamic"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Provider says who has measured.
type Provider string

// The providers; the empty value means a load-watcher service.
const (
	Service       Provider = "load-watcher"
	MetricsServer Provider = "KubernetesMetricsServer" // the API metrics.k8s.io
	Prometheus    Provider = "Prometheus"
)

// Options are what a [Source] is made of.
type Options struct {
	Provider Provider // default: Service
	// Address is the URL of the service, to which "/watcher" is added, or of Prometheus. It must be empty
	// with MetricsServer.
	Address string
	// Metrics lists NodeMetrics, and Capacity is what a node has in all, false where it is not known. Both are
	// for MetricsServer, which needs them.
	Metrics  dynamic.Interface
	Capacity func(node string) (model.Resources, bool) // called by the goroutine of Run
	// Apply takes what was measured; that of an engine.
	Apply func(...engine.Change) error
	// Client asks the service or Prometheus. Default: one of its own.
	Client *http.Client
	// Interval is the time between two questions. Default: 30 seconds.
	Interval time.Duration
	// Failed is told, by the goroutine of Run, why a question was in vain, or what of an answer
	// was left out. Default: nobody is.
	Failed func(error)
}

// Source asks for what was measured again and again. It is made with [New].
type Source struct {
	o    Options
	name string // for people
	// read asks once. The error is also about what is left out.
	read func(ctx context.Context, now time.Time) ([]*model.NodeLoad, error)
	last map[string]time.Time // when the last report that was passed on ends, of each node in it
}

// Defaults of the options; how long an answer may take; the largest that is read, in bytes; how far ahead of this
// machine's clock the service's may be; and the percentage from which on a load is not believed.
const (
	defaultInterval = 30 * time.Second
	timeout         = 55 * time.Second
	largest         = 64 << 20
	tolerance       = time.Minute
	absurd          = 10_000
)

// New makes a source, and says what is wrong with the options.
func New(o Options) (*Source, error) {
	if o.Provider == "" {
		o.Provider = Service
	}
	s := &Source{name: string(o.Provider), last: map[string]time.Time{}}
	var err error
	switch o.Provider {
	case Service:
		s.read, err = readService(&o)
	case Prometheus:
		s.read, err = readPrometheus(&o)
	case MetricsServer:
		s.read, err = readMetrics(&o)
	default:
		err = fmt.Errorf("provider: %q is not one of %s, %s, %s", o.Provider, Service, MetricsServer, Prometheus)
	}
	switch {
	case err != nil:
	case o.Apply == nil:
		err = errors.New("apply: must be set")
	case o.Interval < 0:
		err = fmt.Errorf("interval: %v is negative", o.Interval)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Address != "" {
		s.name += " at " + o.Address
	}
	s.o = o
	return s, nil
}

// Run asks at once and then at every interval, until ctx ends. It is called once.
func (s *Source) Run(ctx context.Context) {
	tick := time.NewTicker(s.o.Interval)
	defer tick.Stop()
	for {
		if err := s.poll(ctx); err != nil && ctx.Err() == nil && s.o.Failed != nil {
			s.o.Failed(fmt.Errorf("%s: %w", s.name, err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// poll asks once, and passes on what is new. The error is also about what was left out.
func (s *Source) poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	loads, problems := s.read(ctx, time.Now())
	var changes []engine.Change
	last := map[string]time.Time{} // no more than the answer has: nodes come and go
	for _, l := range loads {
		last[l.Node] = s.last[l.Node]
		if l.At.After(last[l.Node]) {
			changes = append(changes, engine.PutObject(l))
			last[l.Node] = l.At
		}
	}
	if len(changes) == 0 {
		return problems
	}
	if err := s.o.Apply(changes...); err != nil {
		return errors.Join(err, problems)
	}
	s.last = last
	return problems
}

// baseURL is the address, which must be one of a service.
func baseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("address: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("address: %q is no URL of a service", address)
	}
	return u, nil
}

// readService asks a load-watcher service.
func readService(o *Options) (func(context.Context, time.Time) ([]*model.NodeLoad, error), error) {
	u, err := baseURL(o.Address)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, now time.Time) ([]*model.NodeLoad, error) {
		var a answer
		if err := ask(ctx, o.Client, u.JoinPath("watcher").String(), &a); err != nil {
			return nil, err
		}
		at, err := a.ends(now)
		if err != nil {
			return nil, err
		}
		return a.loads(at)
	}, nil
}

// ask fetches an answer.
func ask(ctx context.Context, client *http.Client, from string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, largest+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the answer has status %s%s", response.Status, reason(text))
	case err != nil:
		return err
	case len(text) > largest:
		return fmt.Errorf("the answer has more than %d bytes", largest)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return nil
}

// reason is what Prometheus says of a failure.
func reason(text []byte) string {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(text, &said) != nil || said.Error == "" {
		return ""
	}
	return ": " + said.Error
}
