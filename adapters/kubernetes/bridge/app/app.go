// Package app is package k8s.io/kubernetes/cmd/kube-scheduler/app with Berth in it: a main
// function that makes kube-scheduler with plugins of its own makes berth-scheduler with them
// when it imports this package in place of that one.
//
//   - "k8s.io/kubernetes/cmd/kube-scheduler/app"
//   - "github.com/berth-project/berth/adapters/kubernetes/bridge/app"
//
// Package bridge says what such plugins can do here, and what they cannot.
package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	berth "github.com/berth-project/berth/adapters/kubernetes/app"
	"github.com/berth-project/berth/adapters/kubernetes/bridge"
	"github.com/berth-project/berth/extpoints"
)

// Option changes what [NewSchedulerCommand] returns.
type Option func(*command) error

// command collects what the options say.
type command struct {
	factories map[string]bridge.PluginFactory
	names     []string // in the order of the options
	more      []berth.Option
}

// WithPlugin adds a plugin of kube-scheduler's kind, which profiles of the configuration file can
// enable by the name. A name that is taken is an error when the command runs.
func WithPlugin(name string, factory bridge.PluginFactory) Option {
	return func(c *command) error {
		if c.factories[name] != nil {
			return fmt.Errorf("a plugin named %v already exists", name)
		}
		c.factories[name] = factory
		c.names = append(c.names, name)
		return nil
	}
}

// WithBerth adds options of Berth's own command, such as plugins of Berth's kind.
func WithBerth(options ...berth.Option) Option {
	return func(c *command) error {
		c.more = append(c.more, options...)
		return nil
	}
}

// NewSchedulerCommand returns the command; see [berth.NewSchedulerCommand].
func NewSchedulerCommand(options ...Option) *cobra.Command {
	c := &command{factories: map[string]bridge.PluginFactory{}}
	var problems []error
	for _, option := range options {
		if err := option(c); err != nil {
			problems = append(problems, err)
		}
	}
	cmd := berth.NewSchedulerCommand(c.options()...)
	if err := errors.Join(problems...); err != nil {
		cmd.RunE = func(*cobra.Command, []string) error { return err }
	}
	return cmd
}

// options are those of Berth's command.
func (c *command) options() []berth.Option {
	if len(c.names) == 0 {
		return c.more
	}
	host := &host{objects: bridge.NewObjects()}
	options := append([]berth.Option{berth.WithAttachment(berth.Attachment{
		Translated: host.objects.Put, Connected: host.connected,
	})}, c.more...)
	for _, name := range c.names {
		factory := c.factories[name]
		options = append(options, berth.WithPlugin(name, func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
			return host.bridge.Factory(name, factory)(args, h)
		}))
	}
	return options
}

// host makes the bridge when the scheduler has its connection, which is before it makes plugins.
type host struct {
	objects *bridge.Objects
	bridge  *bridge.Host
}

func (h *host) connected(c berth.Connection) (err error) {
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.Client.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(c.Context); err != nil {
		return fmt.Errorf("events of kube-scheduler's plugins: %w", err)
	}
	context.AfterFunc(c.Context, broadcaster.Shutdown)
	client, err := dynamic.NewForConfig(c.Config)
	if err != nil {
		return fmt.Errorf("client for the objects that kube-scheduler's plugins listen to: %w", err)
	}
	w := &watcher{ctx: c.Context, factory: dynamicinformer.NewDynamicSharedInformerFactory(client, 0)}
	h.bridge, err = bridge.New(bridge.Options{
		Objects: h.objects, Client: c.Client, KubeConfig: c.Config, Informers: c.Adapter.Informers(),
		Recorder: broadcaster.NewRecorder(clientscheme.Scheme, "berth-scheduler"), Context: c.Context, Gates: c.Gates,
		Watch: w.watch,
	})
	return err
}

// watcher watches kinds of objects that are none of kube-scheduler's.
type watcher struct {
	ctx     context.Context
	factory dynamicinformer.DynamicSharedInformerFactory

	mu sync.Mutex
}

// watch implements [bridge.Options].Watch. As in kube-scheduler (pkg/scheduler/eventhandlers.go
// addAllEventHandlers, 1.37.1) the resource is plural.version.group, and a plugin is told of what
// there is at the beginning too.
func (w *watcher) watch(resource fwk.EventResource, changed func(old, now any)) error {
	gvr, _ := schema.ParseResourceArg(string(resource))
	if gvr == nil {
		return fmt.Errorf("%q is not of the form resource.version.group", resource)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	informer := w.factory.ForResource(*gvr).Informer()
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(now any) { changed(nil, now) },
		UpdateFunc: changed,
		DeleteFunc: func(old any) {
			if last, unknown := old.(cache.DeletedFinalStateUnknown); unknown {
				old = last.Obj
			}
			changed(old, nil)
		},
	})
	if err != nil {
		return err
	}
	klog.FromContext(w.ctx).V(2).Info("Watching objects for kube-scheduler's plugins", "resource", gvr.String())
	w.factory.Start(w.ctx.Done())
	return nil
}
