package nodeports

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func port(protocol model.Protocol, ip string, number int32) model.HostPort {
	return model.HostPort{IP: ip, Protocol: protocol, Port: number}
}

func with(id string, ports ...model.HostPort) *model.Workload {
	return &model.Workload{ID: id, Ports: ports}
}

func TestFilter(t *testing.T) {
	type list = []model.HostPort
	for _, c := range []struct {
		name       string
		want, used list
		accepted   bool
	}{
		{"nothing wanted, nothing used", nil, nil, true},
		{"another number", list{port("UDP", "127.0.0.1", 8080)}, list{port("UDP", "127.0.0.1", 9090)}, true},
		{"the same UDP port", list{port("UDP", "127.0.0.1", 8080)}, list{port("UDP", "127.0.0.1", 8080)}, false},
		{"the same TCP port", list{port("TCP", "127.0.0.1", 8080)}, list{port("TCP", "127.0.0.1", 8080)}, false},
		{"another address", list{port("TCP", "127.0.0.1", 8080)}, list{port("TCP", "127.0.0.2", 8080)}, true},
		{"another protocol", list{port("UDP", "127.0.0.1", 8080)}, list{port("TCP", "127.0.0.1", 8080)}, true},
		{"the second wanted port", list{port("UDP", "127.0.0.1", 8000), port("UDP", "127.0.0.1", 8080)}, list{port("UDP", "127.0.0.1", 8080)}, false},
		{"the second used port", list{port("TCP", "127.0.0.1", 8001)}, list{port("UDP", "127.0.0.1", 8080), port("TCP", "127.0.0.1", 8001)}, false},
		{"wanted on all addresses", list{port("TCP", "0.0.0.0", 8001)}, list{port("TCP", "127.0.0.1", 8001)}, false},
		{"used on all addresses", list{port("TCP", "10.0.10.10", 8001), port("TCP", "0.0.0.0", 8003)}, list{port("TCP", "0.0.0.0", 8001)}, false},
		{"no address is all addresses", list{port("TCP", "", 8001)}, list{port("TCP", "127.0.0.1", 8001)}, false},
		{"no protocol is TCP", list{port("", "", 8001)}, list{port("TCP", "", 8001)}, false},
		{"all addresses, another protocol", list{port("UDP", "0.0.0.0", 8001)}, list{port("TCP", "127.0.0.1", 8001)}, true},
		{"port 0 is no port", list{port("TCP", "", 0)}, list{port("TCP", "", 0)}, true},
	} {
		want := "Success"
		if !c.accepted {
			want = "Unschedulable: node(s) didn't have free ports for the requested workload ports"
		}
		s := extpointstest.NewSituation(with("w", c.want...), extpointstest.NodeWith(&model.Node{Name: "n"}, with("other", c.used...)))
		if got := (&NodePorts{}).Filter(s.State(), s.Workload, s.View.NodeInfos[0]); got.String() != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}

func TestPreFilterSkips(t *testing.T) {
	for _, c := range []struct {
		w    *model.Workload
		want extpoints.Code
	}{
		{with("none"), extpoints.Skip},
		{with("zero", port("TCP", "", 0)), extpoints.Skip},
		{with("one", port("TCP", "", 80)), extpoints.Success},
	} {
		s := extpointstest.NewSituation(c.w)
		if result, status := (&NodePorts{}).PreFilter(s.State(), s.Workload); status.Code() != c.want || result != nil {
			t.Errorf("%s: %v, %v", c.w.ID, result, status)
		}
	}
}

func TestHint(t *testing.T) {
	for _, c := range []struct {
		name       string
		want, gone *model.Workload
		hint       extpoints.Hint
	}{
		{"no workload", with("w", port("TCP", "", 80)), nil, extpoints.HintQueue},
		{"it had no ports", with("w", port("TCP", "", 80)), with("gone"), extpoints.HintSkip},
		{"it had another port", with("w", port("TCP", "", 80)), with("gone", port("TCP", "", 81)), extpoints.HintSkip},
		{"it had the port on another address", with("w", port("TCP", "10.0.0.1", 80)), with("gone", port("TCP", "10.0.0.2", 80)), extpoints.HintSkip},
		{"it had the port", with("w", port("TCP", "", 80)), with("gone", port("TCP", "10.0.0.1", 80)), extpoints.HintQueue},
		{"it had one of the ports", with("w", port("TCP", "", 79), port("TCP", "", 80)), with("gone", port("TCP", "", 80)), extpoints.HintQueue},
	} {
		change := &extpoints.Event{}
		if c.gone != nil {
			change.OldWorkload = &extpoints.WorkloadInfo{Workload: c.gone}
		}
		got, err := afterWorkloadDeleted(c.want, change)
		if got != c.hint || (err != nil) != (c.gone == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestSign(t *testing.T) {
	sign := func(ports ...model.HostPort) string {
		fragments, status := (&NodePorts{}).Sign(with("w", ports...))
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("%v, %v", fragments, status)
		}
		return fragments[0].Value
	}
	if sign(port("", "", 80), port("UDP", "", 53)) != sign(port("UDP", "0.0.0.0", 53), port("TCP", "", 80)) {
		t.Error("the same ports in another order and spelling are signed differently")
	}
	if sign(port("TCP", "", 80)) == sign(port("UDP", "", 80)) {
		t.Error("ports of different protocols are signed alike")
	}
}

func BenchmarkFilter(b *testing.B) {
	p := &NodePorts{}
	for name, number := range map[string]int32{"accepted": 80, "rejected": 81} {
		s := extpointstest.NewSituation(with("w", port("", "", number)), extpointstest.NodeWith(&model.Node{Name: "n"}, with("other", port("", "", 81))))
		state := s.State()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}
