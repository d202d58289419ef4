package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// ask puts the question to the scheduler and returns its answer.
func (o *options) ask(ctx context.Context, q *question) ([]byte, error) {
	kube, err := o.kube.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	if kube.Impersonate.UserName != "" || kube.Impersonate.UID != "" || len(kube.Impersonate.Groups) > 0 {
		return nil, errors.New("--as: the scheduler answers only for yourself: give the token of whom you want to be with --token")
	}
	if o.target.url != "" {
		config, err := o.target.direct(kube)
		if err != nil {
			return nil, err
		}
		return q.put(ctx, config, o.target.url)
	}
	pod, err := o.target.leader(ctx, kube)
	if err != nil {
		return nil, err
	}
	f, err := forwardTo(ctx, kube, pod, o.target.port)
	if err != nil {
		return nil, err
	}
	defer f.close()
	answer, err := q.put(ctx, tunnelled(kube, f.local), fmt.Sprintf("pod %s/%s, port %d", pod.Namespace, pod.Name, o.target.port))
	if err != nil {
		return nil, f.explain(err)
	}
	return answer, nil
}

// direct is how to connect with the scheduler's own address, with the credentials for
// the API server.
func (t *target) direct(kube *rest.Config) (*rest.Config, error) {
	u, err := url.Parse(t.url)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" {
		return nil, fmt.Errorf("--scheduler: %q is not of the form https://host:port", t.url)
	}
	config := rest.CopyConfig(kube)
	config.Host, config.APIPath = "https://"+u.Host, ""
	config.ServerName = ""
	if t.ca != "" {
		config.CAFile, config.CAData, config.Insecure = t.ca, nil, false
	}
	if t.insecure {
		trustAnything(config)
	}
	return config, nil
}

// tunnelled is how to connect with a scheduler to whose port the local one is forwarded.
// Its certificate proves nothing, for it may be one that it made for itself: it is the
// API server and the kubelet, which prove who they are, that lead to the pod.
func tunnelled(kube *rest.Config, local uint16) *rest.Config {
	config := rest.CopyConfig(kube)
	config.Host, config.APIPath = fmt.Sprintf("https://127.0.0.1:%d", local), ""
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	trustAnything(config)
	return config
}

func trustAnything(config *rest.Config) {
	config.Insecure, config.CAFile, config.CAData, config.ServerName = true, "", nil, ""
}
