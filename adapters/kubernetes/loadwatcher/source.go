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

	"github.com/berth-project/berth/engine"
)

// Options are what a [Source] is made of.
type Options struct {
	// Address is the URL of the service, to which "/watcher" is added.
	Address string
	// Apply takes what was measured; that of an engine.
	Apply func(...engine.Change) error
	// Client asks the service. Default: one that waits for 55 seconds at most.
	Client *http.Client
	// Interval is the time between two questions. Default: 30 seconds.
	Interval time.Duration
	// Failed is told, by the goroutine of Run, why a question was in vain, or what of an answer
	// was left out. Default: nobody is.
	Failed func(error)
}

// Source asks a service again and again. It is made with [New].
type Source struct {
	o    Options
	url  string
	last time.Time // when the last report that was passed on ends
}

// Defaults of the options; the largest answer that is read, in bytes; how far ahead of this
// machine's clock the service's may be.
const (
	defaultTimeout  = 55 * time.Second
	defaultInterval = 30 * time.Second
	largest         = 64 << 20
	tolerance       = time.Minute
)

// New makes a source, and says what is wrong with the options.
func New(o Options) (*Source, error) {
	u, err := url.Parse(o.Address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("load-watcher: address: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("load-watcher: address: %q is no URL of a service", o.Address)
	case o.Apply == nil:
		return nil, errors.New("load-watcher: apply: must be set")
	case o.Interval < 0:
		return nil, fmt.Errorf("load-watcher: interval: %v is negative", o.Interval)
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: defaultTimeout}
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	return &Source{o: o, url: u.JoinPath("watcher").String()}, nil
}

// Run asks at once and then at every interval, until ctx ends. It is called once.
func (s *Source) Run(ctx context.Context) {
	tick := time.NewTicker(s.o.Interval)
	defer tick.Stop()
	for {
		if err := s.poll(ctx); err != nil && ctx.Err() == nil && s.o.Failed != nil {
			s.o.Failed(fmt.Errorf("load-watcher at %s: %w", s.o.Address, err))
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
	a, err := s.ask(ctx)
	if err != nil {
		return err
	}
	at, err := a.ends(time.Now())
	if err != nil || !at.After(s.last) {
		return err
	}
	loads, problems := a.loads(at)
	changes := make([]engine.Change, len(loads))
	for i, l := range loads {
		changes[i] = engine.PutObject(l)
	}
	if err := s.o.Apply(changes...); err != nil {
		return errors.Join(err, problems)
	}
	s.last = at
	return problems
}

// ask fetches the service's answer.
func (s *Source) ask(ctx context.Context) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := s.o.Client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer has status %s", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, largest+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > largest:
		return nil, fmt.Errorf("the answer has more than %d bytes", largest)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, fmt.Errorf("the answer: %w", err)
	}
	return &a, nil
}
