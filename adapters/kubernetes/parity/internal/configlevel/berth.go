package configlevel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/berth-project/berth/adapters/extender"
	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/config"
	"github.com/berth-project/berth/adapters/kubernetes/config/configtest"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// devices is made once: it takes time.
var devices = cel.New()

// Mistake is one that Berth is made to make, by the tests: in what it reads from a
// file, or in what it makes of that for the engine. Nil: none.
type Mistake struct {
	Config   func(*config.Config)
	Profiles func([]extpoints.Profile)
}

// berth takes the file as far as Berth does.
func berth(file []byte, mistake Mistake) (*result, error) {
	c, err := config.Load(file, config.GatesOf(utilfeature.DefaultFeatureGate.Enabled))
	if err != nil {
		return stopped(loading, err.Error()), nil
	}
	if mistake.Config != nil {
		mistake.Config(c)
	}
	loaded, err := encode(&c.Effective)
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		r := stopped(validating, texts(err)...)
		r.loaded = loaded
		return r, nil
	}
	r, err := makeEngine(c, mistake)
	if err != nil {
		r = stopped(making, texts(err)...)
		r.loaded = loaded
		return r, nil
	}
	r.loaded = loaded
	q := c.Queue()
	r.numbers = numbers{c.Workers(), c.PercentageOfNodesToScore(), int64(q.InitialBackoff / time.Second), int64(q.MaxBackoff / time.Second)}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		return nil, err
	}
	r.written = written.String()
	return r, nil
}

func texts(err error) []string {
	var aggregate utilerrors.Aggregate
	if !errors.As(err, &aggregate) {
		return []string{err.Error()}
	}
	var list []string
	for _, e := range aggregate.Errors() {
		list = append(list, e.Error())
	}
	return list
}

// makeEngine makes an engine and says what it is made of.
func makeEngine(c *config.Config, mistake Mistake) (*result, error) {
	made := &plugins{byProfile: map[string]map[string]extpoints.Plugin{}}
	profiles, profilesErr := c.Profiles(devices, made.registry())
	list, extendersErr := c.Extenders(extender.Neutral{})
	if err := errors.Join(profilesErr, extendersErr); err != nil {
		return nil, err
	}
	if mistake.Profiles != nil {
		mistake.Profiles(profiles)
	}
	cfg := engine.Config{
		Profiles: profiles, Orchestrator: struct{ extpoints.Orchestrator }{},
		Queue: c.Queue(), Workers: 1, PercentageOfNodesToScore: c.PercentageOfNodesToScore(),
	}
	for i := range list {
		x, err := extender.New(list[i])
		if err != nil {
			return nil, err
		}
		defer x.Close()
		cfg.Extenders = append(cfg.Extenders, x.Extender)
	}
	if _, err := engine.NewRaw(cfg); err != nil {
		return nil, err
	}
	r := &result{stage: taken}
	for i := range profiles {
		p, err := made.describe(&profiles[i], cfg)
		if err != nil {
			return nil, err
		}
		r.profiles = append(r.profiles, p)
	}
	return r, nil
}

// plugins remembers the plugins that an engine makes.
type plugins struct {
	byProfile map[string]map[string]extpoints.Plugin
}

// registry has all plugins there are.
func (p *plugins) registry() config.Registry {
	r := configtest.Registry()
	for name, factory := range r {
		r[name] = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
			plugin, err := factory(args, h)
			if p.byProfile[h.Profile()] == nil {
				p.byProfile[h.Profile()] = map[string]extpoints.Plugin{}
			}
			p.byProfile[h.Profile()][name] = plugin
			return plugin, err
		}
	}
	return r
}

// argued lists the plugins that have arguments.
func argued(p *extpoints.Profile) (names []string) {
	for _, e := range p.Plugins {
		if e.Args != nil {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *plugins) describe(in *extpoints.Profile, cfg engine.Config) (profile, error) {
	out := profile{
		name: in.Name, percentage: percentage(in.PercentageOfNodesToScore),
		points: expand(in, p.byProfile[in.Name]),
		args:   argued(in),
	}
	filters, scores, err := ask(in, cfg)
	if err != nil {
		return out, err
	}
	if !slices.Equal(filters, out.points["filter"]) || !slices.Equal(scores, out.points["score"]) {
		return out, fmt.Errorf("profile %q: the engine has the filters %v and the scores %v, and not %v and %v",
			in.Name, filters, scores, out.points["filter"], out.points["score"])
	}
	return out, nil
}

// ask has the engine itself say which filters and scores it runs. There are no
// extenders in it: their points would be in the answer.
func ask(p *extpoints.Profile, cfg engine.Config) (filters, scores []string, err error) {
	cfg.Profiles, cfg.Extenders = []extpoints.Profile{*p}, nil
	r, err := engine.NewRaw(cfg)
	if err != nil {
		return nil, nil, err
	}
	now := time.Unix(0, 0)
	if err := r.Apply(now, engine.Submit(&model.Workload{ID: "w"})); err != nil {
		return nil, nil, err
	}
	e, err := r.Explain(now, "w", engine.ExplainOptions{})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range e.Scores {
		scores = append(scores, withWeight("score", s.Plugin, s.Weight))
	}
	return e.Filters, scores, nil
}
