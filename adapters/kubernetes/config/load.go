package config

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
)

// Config is a configuration and the feature gates under which it is read.
type Config struct {
	// Effective is the configuration with every default in its place: no pointer
	// is nil that has one, and each profile has the default plugins merged with its
	// own. Arguments of a plugin of kube-scheduler's that takes some are in
	// Args.Object, in the type of k8s.io/kube-scheduler config/v1; those of any
	// other plugin are in Args.Raw, as JSON.
	//
	// LeaderElection, ClientConnection, EnableProfiling, EnableContentionProfiling
	// and DelayCacheUntilActive are for the command to follow. It may change
	// anything here before it calls the methods, as kube-scheduler lets the
	// flags of leader election take precedence over the file.
	Effective configv1.KubeSchedulerConfiguration
	// Queueing is the file's second document, nil where there is none.
	Queueing *queueing.Configuration

	gates Gates
	unfit []*strict.Problem // values that are not of their field's type, and are left out
}

// scheme has the types of the file. It is made here and not by the library's
// AddToScheme, which is also kube-scheduler's: in a process that has both, it
// would bring kube-scheduler's own defaults along.
var scheme = newScheme()

// codecs refuse unknown and duplicate fields.
var codecs = serializer.NewCodecFactory(scheme, serializer.EnableStrict)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(configv1.SchemeGroupVersion,
		&configv1.KubeSchedulerConfiguration{},
		&configv1.DefaultPreemptionArgs{},
		&configv1.DynamicResourcesArgs{},
		&configv1.InterPodAffinityArgs{},
		&configv1.NodeAffinityArgs{},
		&configv1.NodeResourcesBalancedAllocationArgs{},
		&configv1.NodeResourcesFitArgs{},
		&configv1.PodTopologySpreadArgs{},
		&configv1.VolumeBindingArgs{},
	)
	utilruntime.Must(s.SetVersionPriority(configv1.SchemeGroupVersion))
	return s
}

// LoadFile reads the file of that name; see [Load].
func LoadFile(name string, g Gates) (*Config, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("load configuration: %w", err) // it names the file
	}
	c, err := Load(text, g)
	if err != nil {
		return c, fmt.Errorf("load configuration file %q: %w", name, err)
	}
	return c, nil
}

// Load decodes a configuration, JSON or YAML, and fills in the defaults. Unknown
// and duplicate fields are errors, all of which are listed, and so is a file of
// another kind or version. Whether the values make sense is for [Config.Validate].
// A second document of the file may be a [queueing.Configuration].
//
// Where only some fields or values are wrong there is a configuration beside the error, of what could
// be read: it is not to be used, but to be asked what else is wrong.
//
// Rules: cmd/kube-scheduler/app/options/configfile.go loadConfig, 1.37.1.
func Load(text []byte, g Gates) (*Config, error) {
	own, rest, err := split(text)
	if err != nil {
		return nil, err
	}
	var p problems
	if queueing.Is(own) {
		p.add(ErrOrder)
		own, rest = rest, own
	}
	var c *Config
	if own != nil {
		c, err = load(own, g)
	}
	if rest == nil {
		return c, err // in kube-scheduler's words
	}
	p.add(err)
	second := p.loadSecond(rest)
	switch {
	case c != nil:
		c.Queueing = second
	case second != nil: // there is nothing else to ask what is wrong with it
		p.addEach(queueing.Kind, second.Validate())
	}
	return c, p.err()
}

// loadSecond loads the second document; nil where anything is wrong with it.
func (p *problems) loadSecond(text []byte) *queueing.Configuration {
	c, err := queueing.Load(text)
	if errors.Is(err, queueing.ErrOtherKind) {
		p.add(fmt.Errorf("second document: %w", err))
	} else {
		p.addEach(queueing.Kind, err)
	}
	return c
}

// ErrDocuments says that a file has more than two documents.
var ErrDocuments = errors.New("there are more than two documents")

// ErrOrder says that a [queueing.Configuration] is the first document.
var ErrOrder = errors.New("a " + queueing.Kind + " comes first: the first document must be the KubeSchedulerConfiguration, which is all that kube-scheduler reads")

// split takes the file's documents apart; rest is nil where there is one. In front of rest are as
// many empty lines as there are lines in the file, for the lines that errors name.
func split(text []byte) (own, rest []byte, err error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var list [][]byte
	for {
		d, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if len(bytes.TrimSpace(d)) > 0 {
			list = append(list, d)
		}
	}
	switch len(list) {
	case 0, 1:
		return text, nil, nil
	case 2:
		before := max(bytes.LastIndex(text, bytes.TrimSpace(list[1])), 0)
		return list[0], append(bytes.Repeat([]byte("\n"), bytes.Count(text[:before], []byte("\n"))), bytes.TrimLeft(list[1], "\n")...), nil
	}
	return nil, nil, fmt.Errorf("%w: %d", ErrDocuments, len(list))
}

// load is Load for kube-scheduler's document.
func load(text []byte, g Gates) (*Config, error) {
	object, kind, err := codecs.UniversalDecoder(configv1.SchemeGroupVersion).Decode(text, nil, nil)
	if err != nil && !runtime.IsStrictDecodingError(err) {
		return loadFitting(text, g), err
	}
	file, ok := object.(*configv1.KubeSchedulerConfiguration)
	if !ok {
		return nil, cmp.Or(err, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s", kind))
	}
	return newConfig(*file, g), err
}

// Default is the configuration without a file.
func Default(g Gates) *Config { return newConfig(configv1.KubeSchedulerConfiguration{}, g) }

func newConfig(file configv1.KubeSchedulerConfiguration, g Gates) *Config {
	c := &Config{Effective: file, gates: g}
	setDefaults(&c.Effective, g)
	c.Effective.SetGroupVersionKind(configv1.SchemeGroupVersion.WithKind("KubeSchedulerConfiguration"))
	return c
}
