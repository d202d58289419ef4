package devices

import (
	"cmp"
	"slices"

	"github.com/berth-project/berth/model"
)

// maxRetries bounds how often one search takes back a choice, for requests of
// many different shares that only just (do not) fit: packing them is a hard
// problem. It is about a tenth of a millisecond, and more than there are ways to
// put four requests on eight devices. A node for which it runs out counts as one
// that does not fit. A single request never needs to take back anything.
const maxRetries = 1 << 12

// solve looks for devices for all requests together. It returns them for each
// request, or nil where there is no way. Devices of one request differ from each
// other; several requests may get shares of the same device.
//
// It tries, device by device, hardest requests first, and takes back what leads
// nowhere. Two cuts keep it short, and neither loses an answer, because whatever
// they leave out is a mirror image of something that was tried:
//
//  1. of devices that are alike (class, model, what is left) only the first is
//     tried;
//  2. the devices of one request are taken in ascending order, and so are
//     those of requests for one device that are alike.
//
// The answer depends on its arguments only: Reserve finds what Filter found.
func solve(devices []model.Device, free []int64, requests []model.DeviceRequest) [][]int {
	s := search{devices: devices, free: slices.Clone(free), retries: maxRetries}
	for i := range requests {
		if requests[i].Count > int64(len(devices)) {
			return nil
		}
	}
	s.units = unitsOf(requests)
	s.chosen = make([]int, len(s.units))
	if !s.place(0) {
		return nil
	}
	answer := make([][]int, len(requests))
	for u, d := range s.chosen {
		i := s.units[u].index
		answer[i] = append(answer[i], d)
	}
	return answer
}

// unit is one device to be found.
type unit struct {
	request *model.DeviceRequest
	index   int // of the request
	// offset orders the unit after the one before it: its device's index is
	// at least the other's plus offset. Where it is negative they are
	// unrelated.
	offset int
}

const unrelated = -1

// unitsOf lists what is to be found, hardest first, requests that are alike
// next to each other.
func unitsOf(requests []model.DeviceRequest) []unit {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(&requests[a], &requests[b]) })
	var units []unit
	for at, i := range order {
		r := &requests[i]
		offset := unrelated
		if at > 0 && r.Count == 1 && compare(r, &requests[order[at-1]]) == 0 {
			offset = 0
		}
		for range r.Count {
			units = append(units, unit{request: r, index: i, offset: offset})
			offset = 1
		}
	}
	return units
}

// compare orders requests by difficulty: large shares, few models, many
// devices. It is 0 only for requests that are alike.
func compare(a, b *model.DeviceRequest) int {
	return cmp.Or(
		cmp.Compare(b.Share, a.Share),
		-cmp.Compare(min(len(a.Models), 1), min(len(b.Models), 1)),
		cmp.Compare(b.Count, a.Count),
		cmp.Compare(a.Class, b.Class),
		slices.Compare(a.Models, b.Models),
	)
}

// search is the state of one solve.
type search struct {
	devices []model.Device
	free    []int64 // thousandths left, less those of the units placed so far
	units   []unit
	chosen  []int // the device of each unit placed so far
	retries int   // left
}

// place finds devices for the units from u on.
func (s *search) place(u int) bool {
	if u == len(s.units) {
		return true
	}
	t := &s.units[u]
	first := 0
	if t.offset >= 0 {
		first = s.chosen[u-1] + t.offset
	}
	for d := first; d < len(s.devices); d++ {
		if s.free[d] < t.request.Share || !t.request.Admits(&s.devices[d]) || s.tried(first, d) {
			continue
		}
		s.free[d] -= t.request.Share
		s.chosen[u] = d
		if s.place(u + 1) {
			return true
		}
		s.free[d] += t.request.Share
		if s.retries == 0 {
			return false
		}
		s.retries--
	}
	return false
}

// tried reports whether a device just like d was tried from first on.
func (s *search) tried(first, d int) bool {
	for e := first; e < d; e++ {
		if s.free[e] == s.free[d] && s.devices[e] == s.devices[d] {
			return true
		}
	}
	return false
}
