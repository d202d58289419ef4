package model_test

import (
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
)

func TestBindingValidate(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.FixedZone("", -5*3600-30*60))
	valid := &Binding{
		Workload: "w", Node: "n", Since: noon, Limit: time.Hour,
		Devices: []DeviceShare{{Device: 3, Share: 300}, {Device: 0, Share: WholeDevice}, {Device: 3, Share: 700}},
		Decided: Objects{&DeviceClaim{ID: "c"}},
	}
	checkProblems(t, valid)
	checkProblems(t, &Binding{},
		"workload: must not be empty",
		"node: must not be empty",
	)
	checkProblems(t, &Binding{
		Workload: "w", Node: "n", Since: time.Date(12000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 30)), Limit: -time.Hour,
		Devices: []DeviceShare{{Device: -1, Share: 0}, {Device: 1, Share: 600}, {Device: 1, Share: 1001}, {Device: 1, Share: 401}},
		Decided: Objects{nil, &Volume{Name: "v"}, &VolumeClaim{}},
	},
		"devices[0].device: -1 is less than 0",
		"devices[0].share: 0 is not between 1 and 1000",
		"devices[2].share: 1001 is not between 1 and 1000",
		"devices[3].share: with those before it of the same device it is 1001, more than all, 1000",
		"decided[0]: is no object with an identity",
		"decided[2]: is no object with an identity",
		"since: the year 12000 is not between 0 and 9999",
		"since: the offset of its zone, 30s, is not one of whole minutes within a day",
		"limit: -1h0m0s is negative; 0 is the workload's own",
	)
}
