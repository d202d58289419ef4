package podtopologyspread

import (
	"errors"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestArgs(t *testing.T) {
	good := model.SpreadConstraint{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1}
	alsoPreferred := good
	alsoPreferred.Mode = model.SpreadPreferred
	full := good
	full.MinDomains, full.NodeAffinityPolicy, full.NodeTaintsPolicy = 2, model.Ignore, model.Honor
	full.MatchLabelKeys = []string{"means nothing"}
	bad := model.SpreadConstraint{Mode: "DoNotSchedule", Selector: &model.Selector{}, MinDomains: -1, NodeAffinityPolicy: "honor", NodeTaintsPolicy: "no"}
	for _, c := range []struct {
		name string
		args any
		want string
	}{
		{"none", nil, ""},
		{"nothing set", Args{}, ""},
		{"by pointer", &Args{DefaultingType: System}, ""},
		{"an empty list", Args{DefaultingType: List}, ""},
		{"a list", Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{good, alsoPreferred}}, ""},
		{"all fields", Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{full}}, ""},
		{"an unknown type", Args{DefaultingType: "system"}, `arguments of plugin "PodTopologySpread": defaultingType: "system" is none of System, List`},
		{"a list where the type is System", Args{DefaultingType: System, DefaultConstraints: []model.SpreadConstraint{good}},
			`arguments of plugin "PodTopologySpread": defaultingType: must be List where there are defaultConstraints`},
		{"a list where no type is given", Args{DefaultConstraints: []model.SpreadConstraint{good}},
			`arguments of plugin "PodTopologySpread": defaultingType: must be List where there are defaultConstraints`},
		{"the same twice", Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{good, alsoPreferred, full}},
			`arguments of plugin "PodTopologySpread": defaultConstraints[2]: has the same topology key and mode as [0]`},
		{"everything wrong", Args{DefaultingType: "none", DefaultConstraints: []model.SpreadConstraint{good, bad}},
			`arguments of plugin "PodTopologySpread": defaultingType: "none" is none of System, List; ` +
				`defaultConstraints[1].maxSkew: 0 is less than 1; ` +
				`defaultConstraints[1].topologyKey: must not be empty; ` +
				`defaultConstraints[1].mode: "DoNotSchedule" is none of Required, Preferred; ` +
				`defaultConstraints[1].selector: must be nil; each workload's OwnerSelector takes its place; ` +
				`defaultConstraints[1].minDomains: -1 is less than 0; ` +
				`defaultConstraints[1].nodeAffinityPolicy: "honor" is none of Honor, Ignore; ` +
				`defaultConstraints[1].nodeTaintsPolicy: "no" is none of Honor, Ignore`},
	} {
		p, err := extpoints.FactoryOf(New)(c.args, extpointstest.NewHandle())
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (p == nil) != (err != nil) {
			t.Errorf("%s: %q\nwant %q", c.name, got, c.want)
		}
	}
	if _, err := New(Args{DefaultingType: "none"}, extpointstest.NewHandle()); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("%v is not model.ErrInvalid", err)
	}
}

// The arguments are the caller's: changing them later changes nothing.
func TestArgsAreCopied(t *testing.T) {
	args := Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1}}}
	p := newPlugin(t, args)
	args.DefaultConstraints[0].MaxSkew = 7
	w := web("w")
	w.OwnerSelector = model.SelectLabels(labelled("app=web"))
	if list := p.constraints(w, model.SpreadRequired); list[0].maxSkew != 1 {
		t.Errorf("%+v", list[0])
	}
}

func TestSign(t *testing.T) {
	list := Args{DefaultingType: List, DefaultConstraints: []model.SpreadConstraint{{TopologyKey: "zone", Mode: model.SpreadRequired, MaxSkew: 1}}}
	replica := web("w")
	replica.OwnerSelector = model.SelectLabels(labelled("app=web"))
	for _, c := range []struct {
		name     string
		args     any
		w        *model.Workload
		signable bool
	}{
		{"own constraints", Args{DefaultingType: List}, web("w", preferred("zone", 1)), false},
		{"default constraints", list, replica, false},
		{"those of System", nil, replica, false},
		{"no default constraints", Args{DefaultingType: List}, replica, true},
		{"default constraints that do not concern it", nil, web("w"), true},
	} {
		fragments, status := newPlugin(t, c.args).Sign(c.w)
		if status.IsSuccess() != c.signable || fragments != nil || !c.signable && !status.IsRejected() {
			t.Errorf("%s: %v, %v", c.name, fragments, status)
		}
	}
}
