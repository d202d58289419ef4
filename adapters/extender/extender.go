package extender

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Extender is an HTTP server with a say in decisions. The [extpoints.Extender] in it is
// for the configuration of an engine; it has those functions for which Config has a
// verb.
type Extender struct {
	extpoints.Extender

	cfg     Config
	client  *http.Client
	managed map[string]bool
}

// New makes an extender. The error lists every problem of the configuration. The
// server is not asked for anything yet.
func New(cfg Config) (*Extender, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.WithDefaults()
	t, err := transport(&cfg)
	if err != nil {
		return nil, fmt.Errorf("extender %q: %w", cfg.Name, err)
	}
	x := &Extender{cfg: cfg, client: &http.Client{Transport: t, Timeout: cfg.HTTPTimeout}, managed: map[string]bool{}}
	for _, r := range cfg.ManagedResources {
		x.managed[r.Name] = true
	}
	x.Extender = extpoints.Extender{Name: cfg.Name, Weight: cfg.Weight, Ignorable: cfg.Ignorable, Interested: x.interested}
	if cfg.FilterVerb != "" {
		x.Filter = x.filter
	}
	if cfg.PrioritizeVerb != "" {
		x.Prioritize = x.prioritize
	}
	if cfg.PreemptVerb != "" {
		x.Preempt = x.preempt
	}
	if cfg.BindVerb != "" {
		x.Bind = x.bind
	}
	return x, nil
}

// Close closes the connections that are not in use. The extender may be used
// afterwards.
func (x *Extender) Close() { x.client.CloseIdleConnections() }

// interested reports whether the workload asks for a resource that the extender
// looks after; of one that looks after none it is true.
func (x *Extender) interested(w *model.Workload) bool {
	if len(x.managed) == 0 {
		return true
	}
	for i := range w.Requests.Scalars {
		if x.managed[w.Requests.Scalars[i].Name] {
			return true
		}
	}
	for i := range w.Devices {
		if x.managed[w.Devices[i].Class] {
			return true
		}
	}
	return false
}

// filter asks which of the nodes will do.
func (x *Extender) filter(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extpoints.ExtenderFilterResult, error) {
	args, err := x.args(w, nodes)
	if err != nil {
		return nil, err
	}
	var answer filterResult
	if err := x.send(ctx, x.cfg.FilterVerb, args, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, errors.New(answer.Error)
	}
	r := &extpoints.ExtenderFilterResult{Failed: answer.FailedNodes, Unresolvable: answer.FailedAndUnresolvableNodes}
	switch {
	case x.cfg.NodeCacheCapable && answer.NodeNames != nil:
		r.Nodes = *answer.NodeNames
	case answer.Nodes != nil:
		r.Bare = true
		for i := range answer.Nodes.Items {
			r.Nodes = append(r.Nodes, answer.Nodes.Items[i].Metadata.Name)
		}
	}
	return r, nil
}

// prioritize asks for points. What it is told about a node twice counts twice.
func (x *Extender) prioritize(ctx context.Context, w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (map[string]int64, error) {
	args, err := x.args(w, nodes)
	if err != nil {
		return nil, err
	}
	var answer []hostPriority
	if err := x.send(ctx, x.cfg.PrioritizeVerb, args, &answer); err != nil {
		return nil, err
	}
	points := make(map[string]int64, len(answer))
	for _, p := range answer {
		points[p.Host] += p.Score
	}
	return points, nil
}

// args is the question of filter and prioritize.
func (x *Extender) args(w *extpoints.WorkloadInfo, nodes []*extpoints.NodeInfo) (*extenderArgs, error) {
	pod, err := x.cfg.Codec.Pod(w, "")
	if err != nil {
		return nil, fmt.Errorf("encode the pod: %w", err)
	}
	args := &extenderArgs{Pod: pod}
	if x.cfg.NodeCacheCapable {
		names := make([]string, len(nodes))
		for i, n := range nodes {
			names[i] = n.Node.Name
		}
		args.NodeNames = &names
		return args, nil
	}
	args.Nodes = &nodeList{Items: make([]json.RawMessage, len(nodes))}
	for i, n := range nodes {
		if args.Nodes.Items[i], err = x.cfg.Codec.Node(n.Node); err != nil {
			return nil, fmt.Errorf("encode node %q: %w", n.Node.Name, err)
		}
	}
	return args, nil
}

// preempt asks which of the candidates will do. The victims there are named
// by ID in the answer, and looked up among the workloads on the node.
func (x *Extender) preempt(ctx context.Context, w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims, nodes extpoints.Nodes) (map[string]*extpoints.Victims, error) {
	args, err := x.preemptionArgs(w, candidates)
	if err != nil {
		return nil, err
	}
	var answer preemptionResult
	if err := x.send(ctx, x.cfg.PreemptVerb, args, &answer); err != nil {
		return nil, err
	}
	chosen := make(map[string]*extpoints.Victims, len(answer.NodeNameToMetaVictims))
	for _, name := range slices.Sorted(maps.Keys(answer.NodeNameToMetaVictims)) { // so that of several errors it is always the same
		node := nodes.Get(name)
		if node == nil {
			return nil, fmt.Errorf("the extender claims to preempt on node %q, which does not exist", name)
		}
		if chosen[name], err = victims(answer.NodeNameToMetaVictims[name], node); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func (x *Extender) preemptionArgs(w *extpoints.WorkloadInfo, candidates map[string]*extpoints.Victims) (*preemptionArgs, error) {
	pod, err := x.cfg.Codec.Pod(w, "")
	if err != nil {
		return nil, fmt.Errorf("encode the pod: %w", err)
	}
	args := &preemptionArgs{Pod: pod}
	if x.cfg.NodeCacheCapable {
		args.NodeNameToMetaVictims = make(map[string]*metaVictims, len(candidates))
		for name, v := range candidates {
			meta := &metaVictims{Pods: make([]*metaPod, len(v.Workloads)), NumPDBViolations: int64(v.BudgetViolations)}
			for i, victim := range v.Workloads {
				meta.Pods[i] = &metaPod{UID: victim.ID}
			}
			args.NodeNameToMetaVictims[name] = meta
		}
		return args, nil
	}
	args.NodeNameToVictims = make(map[string]*podVictims, len(candidates))
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		v := candidates[name]
		pods := &podVictims{Pods: make([]json.RawMessage, len(v.Workloads)), NumPDBViolations: int64(v.BudgetViolations)}
		for i, victim := range v.Workloads {
			if pods.Pods[i], err = x.cfg.Codec.Pod(victim, name); err != nil {
				return nil, fmt.Errorf("encode pod %q: %w", victim.ID, err)
			}
		}
		args.NodeNameToVictims[name] = pods
	}
	return args, nil
}

// victims finds on the node those that the answer names.
func victims(meta *metaVictims, node *extpoints.NodeInfo) (*extpoints.Victims, error) {
	if meta == nil {
		return &extpoints.Victims{}, nil
	}
	v := &extpoints.Victims{BudgetViolations: int(meta.NumPDBViolations)}
	for _, pod := range meta.Pods {
		id := ""
		if pod != nil {
			id = pod.UID
		}
		w := node.Workload(id)
		if w == nil {
			return nil, fmt.Errorf("the extender claims to preempt pod (UID: %v) on node: %v, but the pod is not found on that node", id, node.Node.Name)
		}
		v.Workloads = append(v.Workloads, w)
	}
	return v, nil
}

// bind has the server bind the workload: it is the server's business to have it
// run there, and the orchestrator's to tell the engine that it does.
func (x *Extender) bind(ctx context.Context, w *model.Workload, b model.Binding) error {
	args := &bindingArgs{PodName: podName(w), PodNamespace: w.Namespace, PodUID: w.ID, Node: b.Node}
	var answer bindingResult
	if err := x.send(ctx, x.cfg.BindVerb, args, &answer); err != nil {
		return err
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	return nil
}

// send puts one question and decodes its answer.
func (x *Extender) send(ctx context.Context, verb string, question, answer any) error {
	url := strings.TrimRight(x.cfg.URLPrefix, "/") + "/" + verb
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("encode the question for %v: %w", url, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := x.client.Do(request)
	if err != nil {
		return err // net/http names the URL
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("failed %v with extender at URL %v, code %v", verb, url, response.StatusCode)
	}
	return x.decode(response.Body, verb, url, answer)
}

// decode reads the first JSON value of the body, up to the limit.
func (x *Extender) decode(body io.Reader, verb, url string, answer any) error {
	limited := &io.LimitedReader{R: body, N: x.cfg.MaxAnswer + 1}
	err := json.NewDecoder(limited).Decode(answer)
	switch {
	case limited.N <= 0:
		return fmt.Errorf("the answer to %v of the extender at URL %v is longer than %d bytes", verb, url, x.cfg.MaxAnswer)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the answer to %v of the extender at URL %v is empty", verb, url)
	case err != nil:
		return fmt.Errorf("decode the answer to %v of the extender at URL %v: %w", verb, url, err)
	}
	return nil
}
