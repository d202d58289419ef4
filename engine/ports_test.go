package engine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// onPort is a workload that wants the port 80, or several times.
func onPort(id string, ips ...string) *model.Workload {
	w := &model.Workload{ID: id}
	for _, ip := range ips {
		w.Ports = append(w.Ports, model.HostPort{Port: 80, IP: ip})
	}
	return w
}

// However a port came to be held by two on a node, it is free when both have gone, and not before.
func TestAPortIsHeldByEach(t *testing.T) {
	const everywhere = ""
	adopted := func(w *model.Workload) engine.Change { return engine.Adopt(w, model.Binding{Node: "n"}) }
	both := map[string][]engine.Change{
		"found on it":            {node("n", 1000), adopted(onPort("a", everywhere)), adopted(onPort("b", everywhere))},
		"found before the node":  {adopted(onPort("a", everywhere)), adopted(onPort("b", everywhere)), node("n", 1000)},
		"changed there":          {node("n", 1000), adopted(onPort("a", everywhere)), adopted(onPort("b")), engine.Update(onPort("b", everywhere))},
		"reported there":         {node("n", 1000), adopted(onPort("a", everywhere)), engine.Submit(onPort("b", everywhere)), engine.Confirm(model.Binding{Workload: "b", Node: "n"})},
		"on addresses of it":     {node("n", 1000), adopted(onPort("a", "10.0.0.1")), adopted(onPort("b", "10.0.0.1"))},
		"and the node is anew":   {node("n", 1000), adopted(onPort("a", everywhere)), adopted(onPort("b", everywhere)), node("n", 2000)},
		"and the node came back": {node("n", 1000), adopted(onPort("a", everywhere)), adopted(onPort("b", everywhere)), engine.RemoveNode("n"), node("n", 1000)},
	}
	ends := map[string]func(id string) engine.Change{
		"removed": engine.Remove, "finished": engine.Finish,
		"without it": func(id string) engine.Change { return engine.Update(onPort(id)) },
	}
	for how, changes := range both {
		for end, ended := range ends {
			for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
				for _, compat := range []extpoints.Compat{extpoints.Improved, extpoints.KubeScheduler137} {
					cfg := config(&reluctant{})
					cfg.Compat = compat
					r, err := engine.NewRaw(cfg)
					require.NoError(t, err)
					require.NoError(t, r.Apply(epoch, append(slices.Clip(changes), engine.Submit(onPort("probe", everywhere)))...))
					free := func(when string, want bool) {
						d, err := r.Branch().Schedule(epoch, "probe")
						require.NoError(t, err)
						require.Equal(t, want, d.Placed(), "%s, %s %s, %v: with %v", how, order[0], end, compat, when)
					}
					free("both on it", false)
					require.NoError(t, r.Apply(epoch, ended(order[0])))
					free("one on it", compat == extpoints.KubeScheduler137)
					require.NoError(t, r.Apply(epoch, ended(order[1])))
					free("nobody on it", true)
				}
			}
		}
	}
}
