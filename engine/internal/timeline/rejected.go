package timeline

import "github.com/berth-project/berth/extpoints"

// rejected is a lone workload that has found room and was rejected, and whom it would delay.
type rejected struct {
	*extpoints.WorkloadInfo
	delays Reservation
}

// likeOne returns whom one of the list that the workload is like would delay, nil where it is like none: it
// need not look for room to be rejected as well.
func likeOne(list []rejected, w *extpoints.WorkloadInfo) *Reservation {
	for i := range list {
		if r := &list[i]; r.ID != w.ID && alike(r.WorkloadInfo, w) {
			return &r.delays
		}
	}
	return nil
}
