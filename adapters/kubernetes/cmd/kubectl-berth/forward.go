package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
	streamhttp "k8s.io/streaming/pkg/httpstream"
)

// forward is a local port whose connections go to a port of a pod, through the API
// server, until it is closed.
type forward struct {
	local uint16
	stop  context.CancelFunc
	ended chan error

	mu sync.Mutex
	// complaints are what went wrong with connections, as the library logs it.
	complaints []error
}

// forwardTo opens a forward to the port of the pod. Its goroutine ends with close.
func forwardTo(ctx context.Context, kube *rest.Config, pod *v1.Pod, port int) (*forward, error) {
	failed := func(err error) error {
		return fmt.Errorf("forward a port to the scheduler's pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	dialer, err := dialerTo(kube, pod)
	if err != nil {
		return nil, failed(err)
	}
	f := &forward{ended: make(chan error, 1)}
	open, stop := context.WithCancel(klog.NewContext(ctx, logr.New(complaints{forward: f})))
	f.stop = stop
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(open, dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, ready, io.Discard, io.Discard)
	if err != nil {
		stop()
		return nil, failed(err)
	}
	go func() { f.ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-f.ended:
		stop()
		return nil, failed(err)
	case <-ctx.Done():
		stop() // it ends when the API server has answered; the process does not wait for that
		return nil, failed(ctx.Err())
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		f.close()
		return nil, failed(err)
	}
	f.local = ports[0].Local
	return f, nil
}

// close ends the forward.
func (f *forward) close() {
	f.stop()
	<-f.ended
}

// explain adds to an error what went wrong on the way. The library says that before it
// closes the connection.
func (f *forward) explain(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(append([]error{err}, f.complaints...)...)
}

// complaints is where the library logs: only errors count.
type complaints struct{ *forward }

var _ logr.LogSink = complaints{}

// Init implements [logr.LogSink].
func (c complaints) Init(logr.RuntimeInfo) {}

// Enabled implements [logr.LogSink].
func (c complaints) Enabled(int) bool { return false }

// Info implements [logr.LogSink].
func (c complaints) Info(int, string, ...any) {}

// WithValues implements [logr.LogSink].
func (c complaints) WithValues(...any) logr.LogSink { return c }

// WithName implements [logr.LogSink].
func (c complaints) WithName(string) logr.LogSink { return c }

// Error implements [logr.LogSink].
func (c complaints) Error(err error, message string, _ ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.complaints = append(c.complaints, fmt.Errorf("%s: %w", message, err))
}

// dialerTo reaches the pod by websockets or, where the API server or something before
// it does not know that, by SPDY: as kubectl port-forward does.
func dialerTo(kube *rest.Config, pod *v1.Pod) (streamhttp.Dialer, error) {
	client, err := clientset.NewForConfig(kube)
	if err != nil {
		return nil, err
	}
	to := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(kube)
	if err != nil {
		return nil, err
	}
	bySPDY := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, to)
	byWebsocket, err := portforward.NewSPDYOverWebsocketDialerForStreaming(to, kube)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(byWebsocket, bySPDY, func(err error) bool {
		return streamhttp.IsUpgradeFailure(err) || streamhttp.IsHTTPSProxyError(err)
	}), nil
}
